"""Batches a second of two ranks on two cores beside one process on one core, and what a step sends.

    python benchmarks/distributed.py [--quick] [--json] [--check]

A block model at the size of ogbn-arxiv (169,343 nodes, 1,166,243 edges, 128 features), SGCL-T of width 512, random-walk
batches of 2,000 nodes, two batches a step, one thread a process. Both trainings draw the same batches and end with the
same loss. They take turns; the fastest epoch of each counts. The bar: two ranks at least 1.5 times one. Figures join
results/distributed.jsonl. Quick: a smaller graph, nothing written, no bars.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import Bar, finish, options, table

RESULTS = Path(__file__).parent.parent / "results" / "distributed.jsonl"
LEAST, ROUNDS, BATCHES = 1.5, 2, 16
SIZES = {"arxiv": (169_343, 1_166_243, 128, 512, 2000), "quick": (5_000, 30_000, 64, 128, 500),
         "papers100M": (100_000, 1_454_800, 128, 512, 2000),  # for plan.py: its mean degree and features
         "MAG240M": (100_000, 1_065_900, 768, 512, 2000)}


def child(size: str, epochs: int, out: str) -> None:
    """One rank, or one process that is alone: the seconds of each epoch and its loss, by rank 0."""
    import torch

    from sgcl import distributed, runs
    from sgcl.datasets import sbm
    from sgcl.estimator import estimator_for
    from sgcl.graph import Graph

    torch.set_num_threads(1)
    nodes, edges, features, width, batch = SIZES[size]
    data = sbm(nodes, edges=edges, classes=40, features=features, seed=0)
    seconds: list[float] = []
    with distributed.joined() as group:
        estimator = estimator_for("sgcl")(
            hidden_channels=width, epochs=epochs, accumulate=2,
            sampler={"name": "walk", "batch_size": batch, "batches": BATCHES})
        graph = Graph.from_data(data)
        began = [time.perf_counter()]

        def note(epoch: Any) -> None:
            seconds.append(time.perf_counter() - began[0])
            began[0] = time.perf_counter()

        estimator.fit(graph, callbacks=[note])
        if group.rank == 0:
            weights = sum(parameter.numel() for parameter in estimator.method.parameters())
            Path(out).write_text(json.dumps({
                "seconds": seconds[1:], "losses": [epoch.loss for epoch in estimator.history], "weights": weights,
                "ranks": group.size, "memory": estimator.history[-1].peak_memory, **runs.environment()}))


def trained(size: str, ranks: int, epochs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "WORLD_SIZE": str(ranks)}
        started = [subprocess.Popen([sys.executable, __file__, "--child", size, str(epochs), str(out)],
                                    env={**os.environ, **where, "RANK": str(rank)}) for rank in range(ranks)]
        if sum(process.wait() for process in started):
            raise SystemExit(f"a process of {ranks} failed")
        return json.loads(out.read_text())


def main() -> int:
    given = options(__doc__)
    size = "quick" if given.quick else "arxiv"
    found: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for _ in range(1 if given.quick else ROUNDS):
        for ranks in found:
            found[ranks].append(trained(size, ranks, 3))
    rate = {ranks: BATCHES / min(min(run["seconds"]) for run in runs) for ranks, runs in found.items()}
    apart = max(abs(a / b - 1) for a, b in zip(found[1][0]["losses"], found[2][0]["losses"], strict=True))
    nodes, edges, features, width, batch = SIZES[size]
    figures = {"nodes": nodes, "edges": edges, "features": features, "width": width, "batch": batch,
               "batches_a_second": rate, "ratio": rate[2] / rate[1], "loss_difference": apart,
               "sent_a_step": 4 * found[2][0]["weights"], "memory": {ranks: runs[0]["memory"] for ranks, runs in
                                                                     found.items()},
               **{key: found[2][0][key] for key in ("versions", "machine", "threads", "commit") if key in found[2][0]}}
    if not given.quick:
        with RESULTS.open("a") as file:
            file.write(json.dumps(figures) + "\n")
    text = table(["ranks", "batches a second", "peak MB a rank"],
                 [[str(ranks), f"{rate[ranks]:.2f}", f"{found[ranks][0]['memory'] / 1e6:,.0f}"] for ranks in found])
    text += (f"\nlosses differ by {apart:.1e} at most; a step sums {figures['sent_a_step'] / 1e6:.2f} MB of gradients")
    bars = [] if given.quick else [Bar("batches a second, two ranks over one", figures["ratio"], ">=", LEAST),
                                   Bar("difference of the losses", apart, "<=", 1e-6)]
    return finish(given, figures, bars, text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        sys.exit(main())
