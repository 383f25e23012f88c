"""The memory estimate beside what trainings take: sizes, widths, features, smoothings, samplers, layers, methods.

    python benchmarks/memory_guard.py

Every training runs in a process of its own, on random graphs of degree 10, with memory handed back as near a limit. The
peak is the rise of the resident size while it is trained and the graph is embedded. The bar is the guard's: no peak is
above 1.2 times its estimate.
"""

import sys
from typing import Any

import torch
from measure import Bar, finish, in_child, options, peak_increase, table
from torch_geometric.data import Data

from sgcl import ram
from sgcl.estimator import estimator_for
from sgcl.graph import Graph
from sgcl.memory import estimate

FULL = [({"hidden_channels": width}, nodes, kind) for nodes in (5000, 20000, 50000) for width in (128, 512)
        for kind in ("sparse", "dense")]
SMOOTHINGS = [({"hidden_channels": 128, "smoothing": name}, 20000, "sparse")
              for name in ("bilateral", "diffusion", "identity", "heat", "pagerank")]
LAYERS = [({"hidden_channels": 128, "layer": name}, 20000, "sparse") for name in ("sage", "gat", "gin")]
WALKS = [({"hidden_channels": width, "sampler": {"name": "walk", "batch_size": 5000}}, 50000, kind)
         for width, kind in ((128, "sparse"), (512, "dense"))]
METHODS = [({"method": name, "hidden_channels": 64}, 8000, "dense") for name in ("grace", "bgrl", "dgi", "mvgrl")]


def cell(chosen: dict[str, Any], nodes: int, kind: str) -> dict[str, Any]:
    """One training, in MB."""
    torch.set_num_threads(1)
    chance = torch.Generator().manual_seed(0)
    x = torch.randn(nodes, 500, generator=chance) if kind == "dense" else (
        torch.rand(nodes, 500, generator=chance) < 0.02).float()
    graph = Graph.from_data(Data(x=x, edge_index=torch.randint(nodes, (2, 5 * nodes), generator=chance)))
    method = chosen.pop("method", "sgcl")
    made = estimator_for(method)(**chosen, epochs=2)
    ram.hand_back()
    need = estimate(made, graph)
    peak = peak_increase(lambda: made.fit_transform(graph))
    return {"method": method, **chosen, "nodes": nodes, "features": kind, "estimate": need.total / 2**20,
            "peak": peak / 2**20}


def main() -> int:
    given = options(__doc__)
    asked = FULL[:2] if given.quick else [*FULL, *SMOOTHINGS, *LAYERS, *WALKS, *METHODS]
    cells = [in_child(__file__, "cell", *args) for args in asked]
    bars = [] if given.quick else [Bar("largest peak over its estimate", max(
        found["peak"] / found["estimate"] for found in cells), "<=", 1.2)]
    rows = [[found["method"], ", ".join(f"{name} {value}" for name, value in found.items() if name not in (
        "method", "nodes", "features", "estimate", "peak")), str(found["nodes"]), found["features"],
        f"{found['estimate']:.0f}", f"{found['peak']:.0f}"] for found in cells]
    return finish(given, {"cells": cells}, bars, table(["method", "settings", "nodes", "features", "estimate MB",
                                                        "peak MB"], rows))


if __name__ == "__main__":
    sys.exit(main())
