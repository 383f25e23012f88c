"""Peak memory and time of a training step of every method, on block-model graphs of growing size.

    python benchmarks/methods_memory.py [--quick] [--json] [--check]

Mean degree 10, 128 dense features, every method with its defaults, the whole graph at once. A cell has a process of its
own. Its peak is the rise of the resident size over that just before, over all that a first step needs: what a method
prepares from the graph, what it does before the epoch, views, loss, gradients, optimiser. What begins in a later epoch
is made to begin in the first: ProGCL's mixture, AUGCL's classifier (until then it takes GRACE's step); GREET takes two
steps, one of its encoders and one of its discriminator. Seconds are those of one core, once a training and each step.

The bars: GRACE, ProGCL and AUGCL at 50,000 nodes within 4 GB, and memory that grows no faster than the graph, to an
exponent of 1.1, the tenth for noise. Methods that compare all pairs take minutes at that size. Each cell is added to
results/methods-memory.jsonl. Quick: 1,000 nodes, some methods, nothing written.
"""

import math
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch
from claims import ROWS
from measure import Bar, finish, in_child, options, peak_increase, table

from sgcl import datasets, runs, settings
from sgcl.estimator import Estimator, estimator_for
from sgcl.graph import Graph

RESULTS = Path(__file__).parent.parent / "results" / "methods-memory.jsonl"
SIZES = (5_000, 20_000, 50_000)
AT_ONCE: dict[str, dict[str, Any]] = {"progcl": {"start_epoch": 1}, "augcl": {"pretrain": 0.0},
                                      "greet": {"encoder_steps": 1}}
EPOCHS = {"greet": 2}
WITHIN_4_GB = ("GRACE", "ProGCL-weight", "ProGCL-mix", "AUGCL")
QUICK = ("SGCL-T", "GRACE", "ProGCL-mix", "GREET")


def cell(name: str, nodes: int) -> dict[str, Any]:
    """In a child: one method at one size."""
    torch.set_num_threads(1)
    row = next(row for row in ROWS if row.name == name)
    made = estimator_for(row.method)(**{**AT_ONCE.get(row.method, {}), **row.settings})
    epochs = EPOCHS.get(row.method, 1)
    step(made, made.graph(datasets.load("grid")), epochs)  # what is loaded at first use is not the step's
    graph = made.graph(datasets.sbm(nodes, mean_degree=10, features=128))
    took: list[tuple[float, float]] = []
    peak = peak_increase(lambda: took.append(step(made, graph, epochs)))
    return {"name": name, "method": row.method, "nodes": nodes, "edges": graph.num_edges, "peak": peak,
            "seconds_once": round(took[0][0], 2), "seconds_step": round(took[0][1], 2),
            "settings": settings.encode(made.settings), **runs.environment()}


def step(made: Estimator, graph: Graph, epochs: int) -> tuple[float, float]:
    """CPU seconds of what is done once, and of the longest step, one an epoch."""
    method, generator = made.untrained(graph.num_features), torch.Generator().manual_seed(0)
    began = time.process_time()
    method.start(graph)
    optimiser = torch.optim.Adam(method.parameter_groups(1e-3, 0.0), lr=1e-3)
    once, steps = time.process_time() - began, []
    for epoch in range(1, epochs + 1):
        began = time.process_time()
        method.eval()
        with torch.no_grad():
            method.before_epoch(graph, epoch, epochs, generator)
        method.train()
        once += time.process_time() - began
        began = time.process_time()
        method.loss(method.augment(graph, generator)).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        method.after_step(epoch / epochs)
        steps.append(time.process_time() - began)
    return once, max(steps)


def main() -> int:
    given = options(__doc__)
    names = [row.name for row in ROWS if not given.quick or row.name in QUICK]
    cells = []
    for nodes in (1000,) if given.quick else SIZES:
        for name in names:
            found = in_child(__file__, "cell", name, nodes)
            print(f"{name}, {nodes} nodes: {found['peak'] / 1e9:.2f} GB, {found['seconds_once']} s once, "
                  f"{found['seconds_step']} s a step", file=sys.stderr, flush=True)
            if not given.quick:
                runs.append(RESULTS, found)
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


def exponent(cells: list[dict[str, Any]]) -> float:
    """Of memory as a power of the number of nodes, fitted to all sizes."""
    return statistics.linear_regression([math.log(found["nodes"]) for found in cells],
                                        [math.log(found["peak"]) for found in cells]).slope


if __name__ == "__main__":
    sys.exit(main())
