"""Does smoothing help? Identity against every smoothing, by strength, and by similarity; paired over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import scipy.stats

from sgcl.bench.bench import Bench
from sgcl.bench.cells import Row, default_way
from sgcl.bench.lines import Line, Lines
from sgcl.bench.pages import mean, seeds_of, shown, text_of, titled
from sgcl.bench.rows import GCL, OUTPUT
from sgcl.bench.tables.homophily import HETEROPHILIC, SERIES
from sgcl.report.page import Page, Plot, Series, Table, Value

SEEDS = {**dict.fromkeys(("cora", "citeseer", "photo", "chameleon", "cornell", "texas", "wisconsin"), 10),
         **dict.fromkeys(("pubmed", "actor", "computers", "coauthor-cs"), 3)}
TIMES = (0.1, 0.3, 1.0, 3.0)
_IDENTITY = OUTPUT[-1]
_SMOOTHED = (*OUTPUT[:3], Row("SGCL-heat", "sgcl", {"smoothing": "heat", "embedding": "first"}),
             Row("SGCL-pagerank", "sgcl", {"smoothing": "pagerank", "embedding": "first"}))


def study_page(bench: Bench, lines: Lines) -> Page:
    """A table a dataset with differences to Identity, then all differences side by side."""
    parts: list[Table | Plot] = []
    found: dict[tuple[str, str], Value] = {}
    told: dict[str, dict[tuple[str, str], Value]] = {"accuracy, Identity": found, "disparity, Identity": {},
                                                     "disparity, GCL": {}}
    for dataset in bench.seeds:
        way = default_way(dataset)
        rows: list[tuple[Value | str, ...]] = []
        plain, conventional = (_by_seed(bench, lines, row, dataset) for row in (_IDENTITY, GCL))
        for row in bench.rows:
            mine = _by_seed(bench, lines, row, dataset)
            gain = paired(mine, plain, "test", 100, ".2f") if row is not _IDENTITY else Value(None, "")
            found[row.name, dataset] = gain
            nearer = [Value(None, "") if row is own else paired(mine, other, "disparity", 1, ".4f")
                      for own, other in ((_IDENTITY, plain), (GCL, conventional))]
            told["disparity, Identity"][row.name, dataset], told["disparity, GCL"][row.name, dataset] = nearer
            rows.append((row.name, shown(bench, lines, row, dataset, way), gain,
                         mean(list(mine.values()), "disparity", 1, "+.4f"), *nearer,
                         seeds_of(bench, row, dataset, list(mine.values()))))
        parts.append(Table(("", "test %", "difference to Identity, points", "disparity", "to Identity's", "to GCL's",
                            "seeds"), tuple(rows), titled(dataset, way)))
    summary = Table(("", *(row.name for row in _SMOOTHED)), tuple(
        (dataset, *(found[row.name, dataset] for row in _SMOOTHED)) for dataset in bench.seeds),
        "Differences to Identity in test accuracy, points, with 95 % confidence intervals")
    series = []
    for row in _SMOOTHED:
        points = [(dataset, value) for dataset in bench.seeds if (value := found[row.name, dataset]).number is not None]
        if points:
            series.append(Series(row.name, tuple(dataset for dataset, _ in points),
                                 tuple(value.number or 0.0 for _, value in points),
                                 tuple(value.deviation or 0.0 for _, value in points)))
    plots = [Plot("bars", "Difference to Identity", "", "points, 95 % interval", tuple(series))] if series else []
    verdicts = Table(("", "beside", "higher on", "lower on", "not told apart on"), tuple(
        (row.name, what, *_sides({dataset: differences[row.name, dataset] for dataset in bench.seeds}))
        for what, differences in told.items() for row in _SMOOTHED),
        "What the intervals say")
    return Page(bench.name, bench.title, text_of(bench), (verdicts, summary, *plots, *parts))


def _sides(differences: dict[str, Value]) -> tuple[str, str, str]:
    """The datasets on which a difference is above 0, below it, and neither with its interval around it."""
    told: tuple[list[str], list[str], list[str]] = ([], [], [])
    for dataset, value in differences.items():
        if value.number is not None and value.deviation is not None:
            told[2 if abs(value.number) <= value.deviation else 0 if value.number > 0 else 1].append(dataset)
    return tuple(", ".join(names) for names in told)  # type: ignore[return-value]


def strength_page(bench: Bench, lines: Lines) -> Page:
    """Differences to Identity by the time of the heat kernel, and which time validation nodes would choose."""
    rows, heat = [], []
    smoothed = [row for row in bench.rows if row is not _IDENTITY]
    for dataset in bench.seeds:
        by_row = {row.name: _by_seed(bench, lines, row, dataset) for row in bench.rows}
        gains = [paired(by_row[row.name], by_row[_IDENTITY.name], "test", 100, ".2f") for row in smoothed]
        validation = {name: mean(list(mine.values()), "val", 100) for name, mine in by_row.items() if mine}
        best = max(validation, key=lambda name: validation[name].number or 0.0) if validation else ""
        plain = shown(bench, lines, _IDENTITY, dataset, default_way(dataset))
        seeds = seeds_of(bench, _IDENTITY, dataset, list(by_row[_IDENTITY.name].values()))
        rows.append((dataset, plain, *gains, best, validation.get(best, ""), seeds))
        heat.append(tuple(gain.number for gain in gains))
    table = Table(("", "Identity, test %", *(row.name for row in smoothed), "best on validation nodes",
                   "its validation %", "seeds"), tuple(rows), "Difference to Identity in test accuracy, points")
    plots = [Plot("heat", "Difference to Identity", "time of the heat kernel", "", columns=tuple(map(str, TIMES)),
                  rows=tuple(bench.seeds), values=tuple(heat))] if any(any(row) for row in heat) else []
    return Page(bench.name, bench.title, text_of(bench), (table, *plots))


def similarity_page(bench: Bench, lines: Lines) -> Page:
    """A table a dataset, rows in pairs."""
    parts = []
    for dataset in bench.seeds:
        way, rows = default_way(dataset), []
        by_row = {row.name: _by_seed(bench, lines, row, dataset) for row in bench.rows}
        for row in bench.rows:
            other = by_row[row.name.replace(*_SWAP)] if row.name.endswith(_SWAP[0]) else {}
            mine = by_row[row.name]
            rows.append((row.name, shown(bench, lines, row, dataset, way), paired(mine, other, "test", 100, ".2f"),
                         mean(list(mine.values()), "disparity", 1, "+.4f"), paired(mine, other, "disparity", 1, ".4f"),
                         seeds_of(bench, row, dataset, list(mine.values()))))
        parts.append(Table(("", "test %", "difference to cosine, points", "disparity", "to cosine's", "seeds"),
                           tuple(rows), titled(dataset, way)))
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


def paired(mine: dict[int, Line], other: dict[int, Line], field: str, scale: float, form: str) -> Value:
    """The mean difference over common seeds and half of its 95 % confidence interval, by Student's t."""
    values = [scale * (line[field] - other[seed][field]) for seed, line in mine.items()
              if seed in other and line.get(field) is not None and other[seed].get(field) is not None]
    if not values:
        return Value(None, "")
    middle = statistics.mean(values)
    if len(values) == 1:
        return Value(middle, f"{middle:+{form}}")
    half = half_interval(values)
    return Value(middle, f"{middle:+{form}} ± {half:{form}}", half)


def half_interval(values: Sequence[float]) -> float:
    """Half of the 95 % confidence interval of a mean."""
    quantile = float(scipy.stats.t.ppf(0.975, len(values) - 1))
    return quantile * statistics.stdev(values) / math.sqrt(len(values))


def _fewer(row: Row, dataset: str) -> int | None:
    """GRACE's loss, whose time grows with N², has three seeds but for the small heterophilic graphs."""
    return 3 if row is GCL and dataset not in HETEROPHILIC else None


def _by_seed(bench: Bench, lines: Lines, row: Row, dataset: str) -> dict[int, Line]:
    return {line["seed"]: line for line in lines.of(bench.of(row, dataset, default_way(dataset)))}


SMOOTHING = Bench(
    "smoothing", "Does smoothing help?", """
Every smoothing beside Identity, the conventional target, with the same encoder, views, epochs, seeds and splits: rows
differ in who counts as a positive and in nothing else. Differences are paired over seeds, with 95 % confidence
intervals by Student's t; one that holds 0 shows no effect. Disparity is that of the [paper's
proposition](disparity.md), which says that it is lower than with the conventional loss: beside Identity's, and beside
that of GRACE's loss on the same encoder.
""", (_IDENTITY, *_SMOOTHED, GCL), SEEDS, study_page, _fewer)

STRENGTH = Bench(
    "strength", "Strength of a smoothing by homophily", """
The heat kernel exp(-t (I - D^-1 A)) in place of the conventional target, t = 0, which is Identity. A node keeps about
e^-t of its own weight, the rest lies on nodes that a random walk of t hops in the mean ends at: the larger t, the
stronger the smoothing. If neighbours share a class, they are good positives, and strength should pay the more the
higher the homophily; the graphs of MixHop differ in it and in little else. Differences are paired over seeds, with
95 % confidence intervals by Student's t.
""", (_IDENTITY, *(Row(f"t={time:g}", "sgcl", {"smoothing": {"name": "heat", "time": time}}) for time in TIMES)),
    {**dict.fromkeys(list(SERIES)[1::2], 3), "cora": 3, "citeseer": 3, "chameleon": 3, "wisconsin": 10}, strength_page)

_SWAP = (", correlation", ", cosine")
SIMILARITY = Bench(
    "similarity", "Cosine and correlation", """
The paper's text compares two embeddings by their cosine. Its published code standardises every column over the nodes
instead and takes the mean product of two rows, so that most pairs lie near 0. Both are here, `--similarity`. Each has
the weight of the negative pairs that this library gives it unless told otherwise, 1 / (2N) and 1 / N; all else is the
recipe's. Differences are paired over seeds, with 95 % confidence intervals by Student's t.
""", tuple(Row(f"{row.name}, {similarity}", "sgcl", {**row.settings, "similarity": similarity, "negative_weight": None})
           for row in (OUTPUT[0], _IDENTITY) for similarity in ("cosine", "correlation")),
    {"cora": 3, "citeseer": 3, "chameleon": 5, "wisconsin": 5}, similarity_page)
