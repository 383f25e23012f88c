"""The plan on paper for ogbn-papers100M and the papers of MAG240M: bytes, and hours from a measured throughput.

    python benchmarks/plan.py [--quick] [--json]

Neither graph is here. What a batch costs is measured on block models of 100,000 nodes with the mean degree and the
features of each (SGCL-T of width 512, random-walk batches of 2,000 nodes, one thread a process), by one process and by
two ranks; all else follows by arithmetic that is shown. Pages of a graph that does not fit in memory are not in the
measured times: they are counted. The figures join results/plan.jsonl. Quick: the arithmetic alone, with the last
measured figures.
"""

import sys
from pathlib import Path
from typing import Any

from distributed import BATCHES, SIZES, trained
from measure import finish, options, table

from sgcl import runs

RESULTS = Path(__file__).parent.parent / "results" / "plan.jsonl"
GRAPHS = {  # nodes, edges as published (one direction), features, bytes of one
    "papers100M": (111_059_956, 1_615_685_872, 128, 4), "MAG240M": (121_751_666, 1_297_748_926, 768, 2)}
WIDTH, BATCH, PAGE = 512, 2000, 4096
FLEETS = (2, 16, 64)       # ranks of one core


def measured() -> dict[str, Any]:
    """Batches a second of one process and of two ranks, for each graph."""
    rate = {}
    for name in GRAPHS:
        rate[name] = {ranks: BATCHES / min(trained(name, ranks, 3)["seconds"]) for ranks in (1, 2)}
    return {"batches_a_second": rate, "models": {name: SIZES[name] for name in GRAPHS}, **runs.environment()}


def plan(name: str, rate: dict[str, float]) -> dict[str, Any]:
    nodes, edges, features, wide = GRAPHS[name]
    one, two = rate["1"], rate["2"]
    weights = features * WIDTH + WIDTH * WIDTH + 2 * WIDTH + 2         # two layers, biases, slopes
    row = 2 * edges / nodes * 4                                        # bytes of the neighbours of a node
    pages = BATCH * (-(-features * wide // PAGE) + 1 + -(-row // PAGE))  # features, where its row starts, the row
    kept = two / (2 * one)                                             # the share of a core that a rank keeps
    return {
        "adjacency": (nodes + 1) * 8 + 2 * edges * 4, "features": nodes * features * wide,
        "embedding": nodes * WIDTH * 4, "gradients": 4 * weights, "grams": 2 * (WIDTH * WIDTH + WIDTH) * 8,
        "batches": -(-nodes // BATCH), "pages": int(pages), "efficiency": kept,
        "hours": {"1": nodes / BATCH / one / 3600,
                  **{str(ranks): nodes / BATCH / (ranks * one * kept) / 3600 for ranks in FLEETS}}}


def shown(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def rows(last: dict[str, Any]) -> list[list[str]]:
    """The table of the plan by what was measured last, its header first."""
    plans = {name: plan(name, last["batches_a_second"][name]) for name in GRAPHS}
    lines = [["", *plans], ["nodes", *(f"{GRAPHS[name][0]:,}" for name in plans)],
             ["edges", *(f"{GRAPHS[name][1]:,}" for name in plans)],
             ["features", *(f"{GRAPHS[name][2]}, {GRAPHS[name][3]} bytes each" for name in plans)]]
    for key, what in (("adjacency", "disk: both directions of the edges"), ("features", "disk: features"),
                      ("embedding", f"disk: embedding, width {WIDTH}"), ("gradients", "network: gradients of a step"),
                      ("grams", "network: Gram sums of a step, if asked for")):
        lines.append([what, *(shown(found[key]) for found in plans.values())])
    lines.append([f"batches of {BATCH} nodes that make N", *(f"{found['batches']:,}" for found in plans.values())])
    lines.append(["pages of 4 KB that a batch touches", *(f"{found['pages']:,}" for found in plans.values())])
    for ranks in ("1", "2"):
        lines.append([f"measured: batches a second, {ranks} core{'s' * (ranks != '1')}",
                      *(f"{last['batches_a_second'][name][ranks]:.2f}" for name in plans)])
    for ranks in ("1", *map(str, FLEETS)):
        lines.append([f"hours for N nodes, {ranks} core{'s' * (ranks != '1')}",
                      *(f"{found['hours'][ranks]:.2f}" for found in plans.values())])
    return lines


def main() -> int:
    given = options(__doc__)
    if not given.quick:
        runs.append(RESULTS, measured())
    last = runs.read_lines(RESULTS)[-1]
    header, *lines = rows(last)
    plans = {name: plan(name, last["batches_a_second"][name]) for name in GRAPHS}
    return finish(given, {"plans": plans, **last}, [], table(header, lines))


if __name__ == "__main__":
    sys.exit(main())
