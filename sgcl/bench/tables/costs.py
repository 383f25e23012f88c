"""Run time and memory: Tables 9 and 10 of the paper."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from sgcl.bench import published
from sgcl.bench.bench import Bench, Way, unscored
from sgcl.bench.cells import Row
from sgcl.bench.lines import Line, Lines
from sgcl.bench.measures import BLOCKS
from sgcl.bench.pages import mean, minutes_of, number, shown, text_of
from sgcl.bench.rows import BASELINES, SGCL, SMOOTHED, named
from sgcl.datasets import DATASETS
from sgcl.report.page import Page, Plot, Series, Table, Value

SCALES = {"cora": 1, "coauthor-cs": 1, "ogbn-arxiv": 1}
SAMPLERS = ("walk", "ego", "node", "edge")
FITS = 30       # minutes on two cores
SIZES = (5_000, 20_000, 50_000)
_AT_ONCE: dict[str, dict[str, Any]] = {  # what begins in a later epoch begins in the first
    "progcl": {"start_epoch": 1}, "augcl": {"pretrain": 0.0}, "greet": {"encoder_steps": 1}}
_MEASURED = named("DGI", "GRACE", "MVGRL", "BGRL", "G-BT", "GRLC", "ProGCL-weight", "ProGCL-mix", "GREET")


def runtime_page(bench: Bench, lines: Lines) -> Page:
    """Seconds of an epoch and of a step of the probe."""
    parts: list[Table | Plot] = []
    for dataset in bench.seeds:
        way, rows = _timed(bench.rows[0], dataset)[0], []
        for row in bench.rows:
            mine = lines.of(bench.of(row, dataset, way))
            rows.append((row.name, shown(bench, lines, row, dataset, way, "seconds_epoch", 1, ".4f"),
                         _paper(bench, f"{row.name}/pre-training", dataset),
                         mean(mine, "seconds_downstream", 1, ".4f"), _paper(bench, f"{row.name}/downstream", dataset)))
        parts.append(Table(("", "pre-training, s an epoch", "paper, A100", "downstream, s a step", "paper, A100"),
                           tuple(rows), dataset))
        parts += _plots(dataset, "seconds of an epoch", [(str(row[0]), row[1], row[2]) for row in rows])
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


def memory_page(bench: Bench, lines: Lines) -> Page:
    """Megabytes of a step by sampler and method, and how they grow with the graph."""
    parts: list[Table | Plot] = []
    for dataset in SCALES:
        rows = [(row.name, shown(bench, lines, row, dataset, (None, None), "peak", 1e-6, ",.0f"),
                 _paper(bench, row.name, dataset)) for row in bench.rows if bench.ways(row, dataset)]
        parts.append(Table(("", "MB", "paper, MB of a GPU"), tuple(rows), dataset))
        parts += _plots(dataset, "MB", rows)
    return Page(bench.name, bench.title, text_of(bench), (*parts, *_growth(bench, lines)))


def cost_page(bench: Bench, lines: Lines) -> Page:
    """Seconds of an epoch and minutes of a training, and whether that fits in what a cell is given."""
    parts = []
    for dataset in bench.seeds:
        rows = list[tuple[Value | str, ...]]()
        for row in bench.rows:
            found = lines.of(bench.of(row, dataset, (None, None)))
            minutes = minutes_of(found[0]) if found else None
            rows.append((row.name, shown(bench, lines, row, dataset, (None, None), "cpu_epoch", 1, ".2f"),
                         f"{found[0]['settings']['epochs']:,}" if found else "", number(minutes, ",.0f"),
                         "" if minutes is None else "yes" if minutes <= 2 * FITS else "no", row.origin(dataset)))
        parts.append(Table(("", "s an epoch", "epochs", "minutes of a core", f"within {FITS} on two", "settings"),
                           tuple(rows), dataset))
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


def _growth(bench: Bench, lines: Lines) -> list[Table | Plot]:
    rows, series = list[tuple[Value | str, ...]](), []
    for row in bench.rows:
        if not bench.ways(row, _block(SIZES[0])):
            continue
        found = {line["nodes"]: line for nodes in SIZES
                 for line in lines.of(bench.of(row, _block(nodes), (None, None)))}
        sizes = [shown(bench, lines, row, _block(nodes), (None, None), "peak", 1e-6, ",.0f") for nodes in SIZES]
        largest = found.get(SIZES[-1], {})
        rows.append((row.name, *sizes, number(exponent(list(found.values())), ".2f"),
                     number(largest.get("seconds_once"), ".0f"), number(largest.get("seconds_step"), ".1f")))
        if found:
            peaks = tuple(line["peak"] / 1e6 for line in found.values())
            series.append(Series(row.name, tuple(map(float, found)), peaks))
    table = Table(("", *(f"{nodes:,} nodes, MB" for nodes in SIZES), "exponent", "once s", "step s"), tuple(rows),
                  "Growth, on block-model graphs of mean degree 10 with 128 features")
    plot = Plot("lines", "Memory of a step", "nodes", "MB", tuple(series), log_x=True, log_y=True)
    return [table, plot] if series else [table]


def exponent(cells: Sequence[Line]) -> float | None:
    """Of memory as a power of the number of nodes, fitted to all sizes."""
    if len(cells) < 2:
        return None
    return statistics.linear_regression([math.log(found["nodes"]) for found in cells],
                                        [math.log(found["peak"]) for found in cells]).slope


def _plots(title: str, label: str, rows: Sequence[tuple[str, Value, Value | str]]) -> list[Plot]:
    """Bars on a logarithmic axis."""
    ours = [(name, value.number) for name, value, _ in rows if value.number]
    papers = [(name, value.number) for name, _, value in rows if isinstance(value, Value) and value.number]
    if not ours:
        return []
    series = [Series(who, tuple(name for name, _ in points), tuple(value for _, value in points), paper=who == "paper")
              for who, points in (("ours", ours), ("paper", papers)) if points]
    return [Plot("bars", title, "", label, tuple(series), log_y=True)]


def _paper(bench: Bench, row: str, dataset: str) -> Value | str:
    figure = published.figure(bench.name, row, dataset)
    return "" if figure is None else number(figure.value, ",.0f" if bench.measure == "memory" else ".4f")


def _timed(row: Row, dataset: str) -> Sequence[Way]:
    return [(DATASETS[dataset].protocol, None)]


def _block(nodes: int) -> str:
    return f"{BLOCKS}{nodes}"


def _memory_ways(row: Row, dataset: str) -> Sequence[Way]:
    """Block models for each method on the whole graph; samplers, and the paper's baselines, on the paper's graphs."""
    if dataset.startswith(BLOCKS):
        return [] if "/" in row.name else unscored(row, dataset)
    return unscored(row, dataset) if "/" in row.name or (row.method != "sgcl" and row.name in _PAPERS) else []


_PAPERS = {row.name for row in _MEASURED}

RUNTIME = Bench(
    "runtime", "Run time", """
Seconds of an epoch of pre-training, the median of the later half of six, with the recipe of each method where there is
one, and of a step of the paper's probe on its embedding. One CPU thread and nothing beside it, where the paper has a
GPU: only ratios can be compared. The paper's SGCL trains in random-walk batches of 2,000 nodes, the recipes here on the
whole graph.
""", (*_MEASURED, *SGCL), SCALES, runtime_page, measure="epoch", ways=_timed)

COST = Bench(
    "cost", "What a training of a baseline costs", f"""
CPU seconds of an epoch on the medium graphs, the mean of the second and third, and what all epochs of the recipe, or of
the defaults where there is none, take then. DGI and MVGRL stop where their loss no longer falls, so that theirs is the
most it may be; AUGCL fits its classifier once, in one of the two epochs, so that its trainings take less than is said;
GREET's two are one of the encoders and, where they have two to each of the discriminator's, one of that, which is
cheaper: on PubMed and Coauthor CS it takes more than is said. `sgcl bench` gives a training one core; two would at best
halve the time. Cells of [the baselines](baselines.md) that could so be done in {FITS} minutes are run; the others have
their command there. Most are seconds of cores that were busy with other trainings too.
""", BASELINES, {"pubmed": 1, "photo": 1, "computers": 1, "coauthor-cs": 1}, cost_page, measure="cost", ways=unscored)

MEMORY = Bench(
    "memory", "Memory", """
The rise of the resident size over a first step, with all that a method prepares for the graph and with what usually
begins in a later epoch (ProGCL's mixture, AUGCL's classifier, GREET's discriminator). What is N × N in the originals is
streamed, sampled or kept as top-k, and never held. Samplers draw about 2,000 nodes a batch. The paper's are megabytes
of a GPU, which holds more than what is in use: **not comparable**, but for the order.

Growth: every method with its defaults, the whole graph at once. Seconds are those of one core at the largest size, once
a training and each step. The exponent says how memory grows with the nodes.
""", (*(Row(row.name, row.method, {**row.settings, **_AT_ONCE.get(row.method, {})}) for row in BASELINES),
      *SGCL, *(Row(f"{row.name}/{sampler}", row.method, {**row.settings, "sampler": {"name": sampler}})
               for row in SMOOTHED for sampler in SAMPLERS)),
    {**SCALES, **{_block(nodes): 1 for nodes in SIZES}}, memory_page, measure="memory", ways=_memory_ways,
    file="methods-memory.jsonl")
