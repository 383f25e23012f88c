"""Nodes a model has not seen: SGCL-T trained on 80 % of a graph, scored on the other 20 %, beside training on all.

    python benchmarks/inductive.py [--quick] [--json] [--check]

A seed draws the encoder and the nodes: 80 % are seen, the sub-graph they induce is all that the inductive encoder is
trained on; it then embeds the whole graph. A tenth of all nodes train the probe and another tenth choose its C, all
among the seen; only unseen nodes are scored. The transductive row is trained on the whole graph without labels and
scored in the same way. Cora has the settings of its recipe, PubMed the same with width 256 and 60 epochs; none was
chosen on these splits. A line of results/inductive.jsonl is one embedding under one split; what is there already is
not run again. Quick: digits, one seed, 5 epochs, nothing written.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import finish, options, table

from sgcl import datasets, estimator, runs, workflow
from sgcl.evaluation import Split, linear_probe
from sgcl.graph import Graph
from sgcl.recipes import recipe
from sgcl.report import mean_and_deviation

RESULTS = Path(__file__).parent.parent / "results" / "inductive.jsonl"
SEEDS = 3
OWN: dict[str, dict[str, Any]] = {"cora": {}, "pubmed": {"hidden_channels": 256, "epochs": 60}}  # over Cora's recipe
QUICK: dict[str, dict[str, Any]] = {"digits": {"hidden_channels": 64, "epochs": 5}}
ROWS = ("raw features", "untrained encoder", "SGCL-T inductive", "SGCL-T transductive")


def drawn(num_nodes: int, seed: int) -> tuple[torch.Tensor, Split]:
    """The seen nodes, ascending, and the split: probe on the seen, test on the unseen."""
    order = torch.from_numpy(np.random.RandomState(seed).permutation(num_nodes))
    tenth, unseen = num_nodes // 10, num_nodes // 5
    sets = (order[unseen:unseen + tenth], order[unseen + tenth:unseen + 2 * tenth], order[:unseen])
    return order[unseen:].sort().values, Split(*(nodes.sort().values for nodes in sets))


def run(dataset: str, chosen: dict[str, Any], seed: int, results: Path) -> None:
    known = {(line["dataset"], line["seed"]) for line in runs.read_lines(results)}
    if (dataset, seed) in known:
        return
    data = datasets.load(dataset)
    graph = Graph.from_data(data)
    seen, split = drawn(graph.num_nodes, seed)
    model = estimator.SGCL(**chosen, seed=seed)
    rows = {name: (matrix, 0.0) for name, matrix in workflow.floor_rows(model, graph).items()}
    for name, fitted_to in (("SGCL-T inductive", graph.subgraph(seen).replace(n_id=None)),
                            ("SGCL-T transductive", graph)):
        start = time.perf_counter()
        model.fit(fitted_to)
        rows[name] = model.transform(graph), time.perf_counter() - start
    scored = {name: linear_probe(matrix, data.y, split) for name, (matrix, _) in rows.items()}
    for name in ROWS:
        runs.append(results, {"dataset": dataset, "name": name, "seed": seed, "seen": len(seen),
                              "split": split.sizes, "test": scored[name].test, "val": scored[name].val,
                              "C": scored[name].C, "seconds_training": round(rows[name][1], 1), "settings": chosen,
                              **runs.environment()})


def main() -> int:
    given = options(__doc__)
    torch.set_num_threads(1)
    wanted, seeds = (QUICK, 1) if given.quick else (OWN, SEEDS)
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch, "lines") if given.quick else RESULTS
        for dataset, own in wanted.items():
            for seed in range(seeds):
                run(dataset, {**recipe("sgcl", "cora", "taubin"), "smoothing": "taubin", **own}, seed, results)
        lines = runs.read_lines(results)
    rows = []
    for dataset in wanted:
        for name in ROWS:
            mine = [line for line in lines if (line["dataset"], line["name"]) == (dataset, name)]
            seconds = [line["seconds_training"] for line in mine]
            rows.append([dataset, name, mean_and_deviation([line["test"] for line in mine]),
                         mean_and_deviation([line["val"] for line in mine]), f"{sum(seconds) / len(seconds):.0f}"])
    return finish(given, {"lines": lines}, [], table(["dataset", "", "unseen nodes %", "validation %", "s"], rows))


if __name__ == "__main__":
    sys.exit(main())
