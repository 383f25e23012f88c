"""Time of an epoch on a collection: SGCL beside GraphCL and InfoGraph, the same encoder and batches.

    python benchmarks/graph_level.py [--quick] [--json] [--check]

PROTEINS, a GIN of three layers of width 32, batches of 128 graphs. The methods take turns, epoch by epoch, so that the
machine's moods fall on all of them; the fastest of the epochs of each counts. The bar: SGCL, with each smoothing, at
most 1.2 times the other two. The figures join results/graph-epoch.jsonl. Quick: fewer epochs, nothing written.
"""

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from measure import Bar, finish, options, table

from sgcl import datasets, ram, runs
from sgcl.chance import step_generator
from sgcl.estimator import estimator_for
from sgcl.graph import Graph
from sgcl.loader import Loader
from sgcl.samplers import WholeGraphs

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "SGCL-T": ("sgcl-graphs", {"smoothing": "taubin"}), "SGCL-B": ("sgcl-graphs", {"smoothing": "bilateral"}),
    "SGCL-D": ("sgcl-graphs", {"smoothing": "diffusion"}), "GraphCL": ("graphcl", {}), "InfoGraph": ("infograph", {})}
RESULTS = Path(__file__).parent.parent / "results" / "graph-epoch.jsonl"
OTHERS = ("GraphCL", "InfoGraph")
MOST = 1.2


class Training:
    """A method that takes an epoch when asked to."""

    def __init__(self, name: str, graph: Graph, epochs: int) -> None:
        method, chosen = ROWS[name]
        made = estimator_for(method)(**chosen, hidden_channels=32, num_layers=3, epochs=epochs)
        self.method = made.untrained(graph.num_features)
        self.method.start(graph)
        self.optimizer = torch.optim.Adam(self.method.parameter_groups(1e-3, 0.0), lr=1e-3, fused=True)
        self.sampler, self.graph, self.epochs = WholeGraphs(128).on(graph), graph, epochs
        self.seconds: list[float] = []

    def epoch(self, number: int) -> None:
        self.method.eval().before_epoch(self.graph, number, self.epochs, step_generator(0, number, 10**6))
        self.method.train()
        with Loader(self.method, self.graph, self.sampler, seed=0, epochs=self.epochs, workers=0) as load:
            start = time.perf_counter()
            for batch in range(self.sampler.batches):
                loss = self.method.loss(load(number, batch).views)
                loss.backward()
                self.optimizer.step()
                self.method.zero_grad(set_to_none=True)
            self.seconds.append(time.perf_counter() - start)


def main() -> int:
    given = options(__doc__)
    if not datasets.available("proteins"):
        print("PROTEINS is not on this machine: set SGCL_DATA to the folder that has it", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    graph = Graph.from_data(datasets.load_collection("proteins"))
    epochs = 3 if given.quick else 30
    rows = {name: Training(name, graph, epochs) for name in ROWS}
    with ram.kept():  # as in a training
        for number in range(1, epochs + 1):
            for training in rows.values():
                training.epoch(number)
    best = {name: min(training.seconds) for name, training in rows.items()}
    figures = {f"{name} / {other}": best[name] / best[other] for name in best if name.startswith("SGCL")
               for other in OTHERS}
    bars = [] if given.quick else [Bar(name, value, "<=", MOST) for name, value in figures.items()]
    text = table(["", "ms an epoch", "/ GraphCL", "/ InfoGraph"],
                 [[name, f"{1000 * best[name]:.0f}", *(f"{best[name] / best[other]:.2f}" for other in OTHERS)]
                  for name in best])
    if not given.quick:
        runs.append(RESULTS, {"milliseconds": {name: round(1000 * took, 1) for name, took in best.items()},
                              **runs.environment(), "threads": torch.get_num_threads()})
    return finish(given, {**figures, **{f"{name} seconds": seconds for name, seconds in best.items()}}, bars, text)


if __name__ == "__main__":
    sys.exit(main())
