"""How well and how fast a graph is cut: METIS and the streaming partitioner.

    python benchmarks/partition.py [--quick] [--json]

A block model at the size of ogbn-arxiv (169,343 nodes, 1,166,243 edges, 40 classes, 80 % of the edges inside one), cut
into 2, 4 and 16 parts. Random parts would cut 1 - 1 / parts of the edges. The figures join results/partition.jsonl.
Quick: a smaller graph, nothing written.
"""

import json
import sys
import time
from pathlib import Path

from measure import finish, options, table

from sgcl import runs
from sgcl.datasets import sbm
from sgcl.graph import Graph
from sgcl.partition import partition

RESULTS = Path(__file__).parent.parent / "results" / "partition.jsonl"


def main() -> int:
    given = options(__doc__)
    nodes, edges = (5_000, 30_000) if given.quick else (169_343, 1_166_243)
    adj = Graph.from_data(sbm(nodes, edges=edges, classes=40, homophily=0.8, seed=0)).adj
    partition(adj, 2, how="streaming")  # compiled
    rows = []
    for how in ("metis", "streaming"):
        for parts in (2, 4, 16):
            start = time.perf_counter()
            found = partition(adj, parts, how=how)
            rows.append({"how": how, "parts": parts, "cut": found.cut, "balance": found.balance,
                         "seconds": time.perf_counter() - start})
    figures = {"nodes": nodes, "edges": edges, "rows": rows, **runs.environment()}
    if not given.quick:
        with RESULTS.open("a") as file:
            file.write(json.dumps(figures) + "\n")
    text = table(["how", "parts", "edges cut", "at random", "largest part", "seconds"],
                 [[row["how"], str(row["parts"]), f"{row['cut']:.1%}", f"{1 - 1 / row['parts']:.1%}",
                   f"{row['balance']:.2f}", f"{row['seconds']:.2f}"] for row in rows])
    return finish(given, figures, [], text)


if __name__ == "__main__":
    sys.exit(main())
