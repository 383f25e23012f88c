"""docs/graph-level.md from the lines in results/graphs.jsonl: methods for collections beside the paper's table."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from claims import COLLECTIONS, GRAPH_ROWS, Row

from sgcl.recipes import recipe
from sgcl.report import mean_and_deviation
from sgcl.runs import read_lines
from sgcl.workflow import FLOORS

RESULTS = Path(__file__).parent.parent / "results"
SEEDS = 5
NEAR = 1.5      # points, or seed deviations where those are more


def render() -> str:
    lines = read_lines(RESULTS / "graphs.jsonl")
    page = [_INTRODUCTION]
    for dataset in COLLECTIONS:
        page += [f"## {dataset}\n", *table([line for line in lines if line["dataset"] == dataset], dataset)]
    return "\n".join([*page, _SPEED, *speed()]) + "\n"


def speed() -> list[str]:
    """The last run of benchmarks/graph_level.py on two threads, and how far such runs differ."""
    lines = [line["milliseconds"] for line in read_lines(RESULTS / "graph-epoch.jsonl") if line["threads"] == 2]
    took, others = lines[-1], ("GraphCL", "InfoGraph")
    ratios = [line[name] / line["GraphCL"] for line in lines for name in line if name.startswith("SGCL")]
    return ["| | ms an epoch | / GraphCL | / InfoGraph |", "|" + " --- |" * 4, *(
        f"| {name} | {ms:.0f} | " + " | ".join(f"{ms / took[other]:.2f}" for other in others) + " |"
        for name, ms in took.items()), "",
        f"Over {len(lines)} runs the ratios to GraphCL were between {min(ratios):.2f} and {max(ratios):.2f}."]


def table(lines: Sequence[dict], dataset: str) -> list[str]:
    found = {name: list({line["seed"]: line for line in lines if line["name"] == name}.values())
             for name in [*FLOORS, *(row.name for row in GRAPH_ROWS)]}
    rows = ["| | test % | deviation over folds | seeds | published | difference | training s |", "|" + " --- |" * 7]
    far = []
    published = {row.name: row.claims[0].figures[dataset] for row in GRAPH_ROWS if row.claims}
    for name, mine in found.items():
        test, figure = [100 * line["test"] for line in mine], published.get(name)
        difference = statistics.mean(test) - figure.mean if test and figure else None
        if difference is not None and abs(difference) > NEAR * max(1, statistics.stdev(test) if len(test) > 1 else 0):
            far.append(f"{name} ({difference:+.1f})")
        rows.append("| " + " | ".join([
            name, mean_and_deviation([line["test"] for line in mine]) if mine else "not run here",
            f"{100 * statistics.mean(line['fold_deviation'] for line in mine):.1f}" if mine else "",
            str(len(mine) or ""),
            f"{figure.mean:.1f} ± {figure.deviation:.1f}" if figure else "",
            "" if difference is None else f"{difference:+.1f}", _seconds(mine)]) + " |")
    notes = [f"More than {NEAR} points, and {NEAR} of our deviations, from the published figure: {', '.join(far)}.",
             ""] if far else []
    usual = [row.name for row in GRAPH_ROWS if not recipe(row.method, dataset)]
    if usual:
        notes += [f"With a method's defaults, as there is no recipe for this collection: {', '.join(usual)}.", ""]
    return [*rows, "", *notes, *_command([row for row in GRAPH_ROWS if len(found[row.name]) < SEEDS], dataset)]


def _seconds(mine: Sequence[dict]) -> str:
    took = [line["seconds_cpu"] for line in mine if "seconds_cpu" in line]
    return f"{statistics.median(took):.0f}" if took else ""


def _command(absent: Sequence[Row], dataset: str) -> list[str]:
    if not absent:
        return []
    names = " ".join(dict.fromkeys(row.method for row in absent))
    return [f"Not run here, or with fewer seeds: `python benchmarks/graph_accuracy.py {dataset} --method {names}`.", ""]


_INTRODUCTION = """# Graph classification

The paper's table of graph classification, with all of its rows. No figure of ours is typed: `python
benchmarks/graph_accuracy.py mutag ptc-mr imdb-binary proteins enzymes` writes lines to `results/graphs.jsonl`, with
settings, seed, every fold, times, versions and commit, and `python benchmarks/render.py` makes the tables.

A method is trained on all graphs without labels. Its last epoch is scored: nested cross-validation, ten outer folds
and, in the training part of each, five that choose C of a support vector machine with a radial kernel. Folds depend on
the labels and the seed alone, so all methods share them; seed s trains the encoder and draws the folds. The deviation
beside a mean is over the seeds; that over the ten folds of a run, far larger, has a column of its own. Published
figures are those of the SGCL paper's table, most of which it took from the papers of the methods.

What to know of the difference:

- Node features are the same for all methods here: one-hot node labels, or one-hot degrees up to 64 where a collection
  has none (IMDB-BINARY). GraphCL, AD-GCL, BGRL and AUGCL were published with constant features where there are no
  labels, AD-GCL with constant features everywhere; MVGRL with continuous attributes and degrees.
- Many published figures are of the epoch, or the settings, that did best on test folds: LaGraph's epoch, MVGRL's grid,
  CGRA's 200 trials, InfoGraph's epochs. Here the last epoch counts and settings are those of the papers. AD-GCL's and
  MVGRL's are of a linear machine.
- A random encoder does well on these collections: the row *untrained encoder* is the GIN of three layers of width 32
  that InfoGraph, GraphCL, LaGraph, ProGCL, AUGCL and SGCL have, before its training.
- ProGCL has no official settings for graphs, BGRL, AUGCL and LaGraph have none for some of the collections. SGCL's are
  its defaults; two others (more epochs, a larger learning rate) were looked at on MUTAG and PTC-MR and not taken.
"""

_SPEED = """## Time of an epoch

`python benchmarks/graph_level.py`: PROTEINS, batches of 128 graphs, a GIN of three layers of width 32 for all, in turns
in one process, the best of 30 epochs. The bar is 1.2. A view of GraphCL that keeps a fifth of the nodes is cheaper to
encode than one of SGCL, which keeps all.
"""
