"""The bars of memory: peak of a training step of every method, on block-model graphs of growing size.

    python benchmarks/methods_memory.py [--quick] [--json] [--check] [--recorded]

The cells of `sgcl bench memory` on block models, measured anew, each in a process of its own: mean degree 10, 128 dense
features, every method with its defaults, the whole graph at once. With --recorded those that have a line already are
taken as they are; one that was cut short goes on so.

The bars: GRACE, ProGCL and AUGCL at 50,000 nodes within 4 GB, and memory that grows no faster than the graph, to an
exponent of 1.1, the tenth for noise. Methods that compare all pairs take minutes at that size. Each cell is added to
results/methods-memory.jsonl. Quick: 1,000 nodes, some methods, nothing written.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from measure import Bar, finish, in_child, options, table

from sgcl.bench.catalogue import read_lines
from sgcl.bench.cells import Cell
from sgcl.bench.measures import BLOCKS, measure
from sgcl.bench.tables.costs import MEMORY, SIZES, exponent
from sgcl.runs import append

RESULTS = Path(__file__).parent.parent / "results" / "methods-memory.jsonl"
WITHIN_4_GB = ("GRACE", "ProGCL-weight", "ProGCL-mix", "AUGCL")
QUICK = ("SGCL-T", "GRACE", "ProGCL-mix", "GREET")


def cell(name: str, nodes: int) -> dict[str, Any]:
    """In a child: one method at one size."""
    torch.set_num_threads(1)
    (found,) = measure([asked(name, nodes)])
    return found


def asked(name: str, nodes: int) -> Cell:
    row = next(row for row in MEMORY.rows if row.name == name)
    (wanted,) = MEMORY.of(row, f"{BLOCKS}{nodes}", (None, None))
    return wanted


def main() -> int:
    given = options(__doc__, recorded="take cells from results/methods-memory.jsonl that are there")
    lines = read_lines(RESULTS.parent)
    names = [row.name for row in MEMORY.rows if "/" not in row.name and (not given.quick or row.name in QUICK)]
    cells = []
    for nodes in (1000,) if given.quick else SIZES:
        for name in names:
            found = lines.get(asked(name, nodes)) if given.recorded else None
            if found is not None:
                cells.append(found)
                continue
            found = in_child(__file__, "cell", name, nodes)
            print(f"{name}, {nodes} nodes: {found['peak'] / 1e9:.2f} GB, {found['seconds_once']} s once, "
                  f"{found['seconds_step']} s a step", file=sys.stderr, flush=True)
            if not given.quick:
                append(RESULTS, found)
            cells.append(found)
    bars = []
    if not given.quick:
        bars = [Bar(f"{name}, GB at {found['nodes']:,} nodes", found["peak"] / 1e9, "<=", 4.0) for name in WITHIN_4_GB
                for found in cells if (found["name"], found["nodes"]) == (name, SIZES[-1])]
        bars += [Bar(f"{name}, growth exponent of memory", exponent([
            found for found in cells if found["name"] == name]), "<=", 1.1) for name in names]
    rows = [[found["name"], f"{found['nodes']:,}", f"{found['peak'] / 1e6:.0f}", f"{found['seconds_once']:.1f}",
             f"{found['seconds_step']:.2f}"] for found in sorted(cells, key=lambda found: names.index(found["name"]))]
    return finish(given, {"cells": cells}, bars, table(["method", "nodes", "peak MB", "once s", "step s"], rows))


if __name__ == "__main__":
    sys.exit(main())
