"""Statistics of the datasets (Tables 4, 5 and 7 of the paper), and what a smoothing does (its figure)."""

from __future__ import annotations

from sgcl.bench import published
from sgcl.bench.bench import Bench, unscored
from sgcl.bench.cells import Cell, Row
from sgcl.bench.lines import Lines
from sgcl.bench.pages import absent, number, text_of
from sgcl.report.page import Page, Plot, Series, Table, Value

_FIELDS = {"homophily %": ("homophily", 100), "homophily": ("homophily", 1)}     # a column's field, and its scale
_TABLES = ("datasets", "datasets-heterophily", "datasets-graphs")
_FILTERS = ("identity", "taubin", "bilateral", "diffusion", "heat", "pagerank")


def datasets_page(bench: Bench, lines: Lines) -> Page:
    """Ours in the paper's form, with the paper's beside where it differs."""
    parts = []
    for name in _TABLES:
        about, rows = published.tables()[name], []
        for dataset in about["rows"]:
            (cell,) = bench.of(bench.rows[0], dataset, (None, None))
            line = lines.get(cell)
            if line is None:
                missing = absent(bench, lines, bench.rows[0], dataset, [cell])
                cells = [Value(None, f"paper {_paper(name, dataset, column)}") for column in about["columns"]]
                cells[0] = Value(None, f"{missing.text}; {cells[0].text}")
            else:
                cells = [_statistic(line["measured"], name, dataset, column) for column in about["columns"]]
            rows.append((dataset, *cells))
        parts.append(Table(("", *about["columns"]), tuple(rows), f"{about['table']}: {about['what']}"))
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


def _statistic(measured: dict[str, float | None], table: str, dataset: str, column: str) -> Value:
    field, scale = _FIELDS.get(column, (column.replace(" ", "_"), 1))
    value = measured[field]
    if value is None:
        return Value(None, f"undefined (paper {_paper(table, dataset, column)})")
    ours, theirs = scale * value, published.figure(table, dataset, column)
    shown = f"{ours:,.0f}" if isinstance(value, int) else f"{ours:.2f}"
    same = theirs is not None and (abs(ours - theirs.value) <= 0.01 * theirs.value or shown == f"{theirs.value:.2f}")
    return Value(ours, shown if same else f"{shown} (paper {_paper(table, dataset, column)})")


def _paper(table: str, dataset: str, column: str) -> str:
    figure = published.figure(table, dataset, column)
    return "" if figure is None else f"{figure.value:,.10g}"


def figure_page(bench: Bench, lines: Lines) -> Page:
    """Weights by distance, and the grid as a heat map for each smoothing."""
    rows, plots, series = list[tuple[Value | str, ...]](), list[Plot](), []
    for row in bench.rows:
        (cell,) = _filters(bench, row)
        line = lines.get(cell)
        if line is None:
            rows.append((row.name, absent(bench, lines, row, "grid", [cell]), *[""] * 4))
            continue
        rows.append((row.name, *(number(weight, ".4f") for weight in line["by_distance"])))
        series.append(Series(row.name, tuple(map(float, range(5))), tuple(line["by_distance"])))
        side = len(line["values"])
        labels = tuple(str(place) for place in range(side))
        plots.append(Plot("heat", row.name, "", "", columns=labels, rows=labels,
                          values=tuple(tuple(values) for values in line["values"])))
    if series:
        plots.insert(0, Plot("lines", "Weight by distance", "hops", "weight", tuple(series)))
    table = Table(("", *(f"{hops} hops" for hops in range(5))), tuple(rows), "Mean weight at a distance from the delta")
    return Page(bench.name, bench.title, text_of(bench), (table, *plots))


def _filters(bench: Bench, row: Row) -> tuple[Cell]:
    (cell,) = bench.of(row, "grid", (None, None))
    return (cell,)


DATASETS_BENCH = Bench(
    "datasets", "Statistics of the datasets", """
Measured on the graphs as they are trained on, undirected and without self-loops; in brackets what the paper has where
it differs by more than a hundredth. The paper counts edges of some graphs as their files list them, and of some
collections in both directions; of Computers and Photo it has the nodes of the largest component and the components of
the whole graph. Diameters are the longest shortest path from 1,000 nodes drawn at random.
""", (Row("statistics", "sgcl"),), dict.fromkeys(
        [dataset for name in _TABLES for dataset in published.tables()[name]["rows"]], 1),
    datasets_page, measure="statistics", ways=unscored)

SMOOTHING_FIGURE = Bench(
    "smoothing-figure", "What a smoothing does to a delta", """
A node in the middle of a grid of 15 × 15 nodes has the value 1 and all others 0, before (*identity*) and after each
smoothing with its default settings. The paper shows the three of its own as a picture, without numbers.
""", tuple(Row(name, "sgcl", {"smoothing": name}) for name in _FILTERS), {"grid": 1}, figure_page, measure="filter",
    ways=lambda row, dataset: unscored(row, dataset) if dataset == "grid" else [])
