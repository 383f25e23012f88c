"""How the loss grows: time and peak memory of loss + backward from 2,000 to 1,000,000 nodes, beside the dense formula.

    python benchmarks/loss_scaling.py [--quick] [--json] [--check]

Random graphs of mean degree 10, width 128, Taubin positives made beforehand. Each cell is a process of its own; its
memory is the peak resident size of the step less that just before it. Times are the best of several steps. The bars:
growth exponent of time and memory (least squares through all sizes, in logarithms) at most 1.1, one million nodes
within 8 GB, and at 10,000 nodes at least 10 times faster than the dense form in at most 1/20 of its memory.
"""

import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from measure import Bar, finish, in_child, options, peak_increase, table

from sgcl import ram
from sgcl.losses import smoothed_contrastive_loss
from sgcl.smoothing import Taubin
from sgcl.sparse import CSR

WIDTH, DEGREE = 128, 10


def random_adjacency(num_nodes: int, degree: int) -> CSR:
    generator = torch.Generator().manual_seed(0)
    pairs = torch.randint(num_nodes, (2, num_nodes * degree // 2), generator=generator)
    pairs = pairs[:, pairs[0] != pairs[1]]
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    return CSR.from_coo(both[0], both[1], shape=(num_nodes, num_nodes), symmetric=True)


def dense_loss(h1, h2, p12, p21, weight):
    """The formula as written, vectorised, with P and C as (N, N) matrices."""
    c = (F.normalize(h1) @ F.normalize(h2).T + 1) / 2
    forth = (p12 * (1 - c)).square().sum() + weight * ((1 - p12) * c).square().sum()
    back = (p21 * (1 - c.T)).square().sum() + weight * ((1 - p21) * c.T).square().sum()
    return (forth + back) / 2


def step(form: str, num_nodes: int) -> dict[str, float]:
    """Seconds, bytes and value of one loss + backward."""
    adj = random_adjacency(num_nodes, DEGREE)
    positives = Taubin()(adj)
    generator = torch.Generator().manual_seed(1)
    h1, h2 = (torch.randn(num_nodes, WIDTH, generator=generator).requires_grad_() for _ in range(2))
    weight = 1 / (2 * num_nodes)
    if form == "dense":
        p = positives.to_dense()
        run = lambda: dense_loss(h1, h2, p, p, weight)  # noqa: E731
    else:
        def run():
            fresh = positives.with_values(positives.value)  # the transpose belongs to the step
            fresh._row = fresh._turned = None
            return smoothed_contrastive_loss(h1, h2, fresh, fresh, negative_weight=weight)

    def once() -> float:
        h1.grad = h2.grad = None
        start = time.perf_counter()
        value = run()
        value.backward()
        seconds = time.perf_counter() - start
        once.value = float(value.detach())
        return seconds

    repeats = 5 if num_nodes > 300_000 else 9
    with ram.kept():  # as in a training
        memory = peak_increase(once)
        seconds = min(once() for _ in range(repeats))
    return {"seconds": seconds, "memory": memory, "loss": once.value, "nnz": positives.nnz}


def main() -> int:
    given = options(__doc__)
    ours = (2_000, 20_000) if given.quick else (2_000, 20_000, 200_000, 1_000_000)
    dense = (2_000,) if given.quick else (2_000, 5_000, 10_000)
    cells = [{"form": form, "nodes": n, **in_child(__file__, "step", form, n)}
             for form, sizes in (("linear", sorted({*ours, *dense})), ("dense", dense)) for n in sizes]
    of = {(cell["form"], cell["nodes"]): cell for cell in cells}
    figures = {"cells": cells}
    for n in dense:
        figures[f"times_faster_{n}"] = of["dense", n]["seconds"] / of["linear", n]["seconds"]
        figures[f"memory_share_{n}"] = of["linear", n]["memory"] / of["dense", n]["memory"]
        figures[f"relative_difference_{n}"] = abs(of["linear", n]["loss"] / of["dense", n]["loss"] - 1)
    for what in ("seconds", "memory"):
        fit = statistics.linear_regression([math.log(n) for n in ours], [math.log(of["linear", n][what]) for n in ours])
        figures[f"exponent_{what}"] = fit.slope
    bars = [] if given.quick else [
        Bar("growth exponent of time, 2k to 1M nodes", figures["exponent_seconds"], "<=", 1.1),
        Bar("growth exponent of memory, 2k to 1M nodes", figures["exponent_memory"], "<=", 1.1),
        Bar("memory of one million nodes, GB", of["linear", 1_000_000]["memory"] / 1e9, "<=", 8),
        Bar("times faster than dense at 10k", figures["times_faster_10000"], ">=", 10),
        Bar("share of the dense memory at 10k", figures["memory_share_10000"], "<=", 1 / 20)]
    rows = [[cell["form"], f"{cell['nodes']:,}", f"{cell['nnz']:,}", f"{cell['seconds'] * 1e3:.1f}",
             f"{cell['memory'] / 2**20:.1f}", f"{cell['loss']:.6g}"] for cell in cells]
    return finish(given, figures, bars, table(["form", "nodes", "positives", "ms", "peak MB", "loss"], rows))


if __name__ == "__main__":
    sys.exit(main())
