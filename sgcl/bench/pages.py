"""Lines and published figures to the tables and plots of a page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sgcl.bench import published
from sgcl.bench.bench import Bench, Way
from sgcl.bench.cells import Cell, Row
from sgcl.bench.lines import Line, Lines
from sgcl.bench.published import Figure
from sgcl.report.page import Page, Plot, Series, Table, Value

NEAR = 1.0      # points
NOISE = (f"A difference is *within noise* if it is at most {NEAR} points or two standard errors: of ours, the sample "
         "deviation over the root of the number of seeds, and of the paper's, its deviation, for how many runs it is "
         "over is not known.")


def accuracy_page(bench: Bench, lines: Lines) -> Page:
    """A table for each dataset and way to score it, and bars beside the paper's."""
    parts: list[Table | Plot] = []
    for dataset in bench.seeds:
        for way in ways_of(bench, dataset):
            parts += [accuracy_table(bench, lines, dataset, way), *bars(bench, lines, dataset, way)]
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


def accuracy_table(bench: Bench, lines: Lines, dataset: str, way: Way,
                   more: Sequence[tuple[str, Callable[[Row, list[Line]], Value | str]]] = ()) -> Table:
    """Ours beside the paper's; ``more`` are columns made of the lines of a row."""
    columns = ["", "test %", "validation %", "seeds", "paper", "difference", "within noise", "disparity", "training s"]
    table = []
    for row in bench.rows:
        if way in bench.ways(row, dataset):
            mine = lines.of(bench.of(row, dataset, way))
            figure = published.figure(bench.name, row.name, dataset)
            table.append((row.name, shown(bench, lines, row, dataset, way), mean(mine, "val", 100),
                          seeds_of(bench, row, dataset, mine), *compared(mine, figure),
                          mean(mine, "disparity", 1, "+.3f"), trained(mine),
                          *(column(row, mine) for _, column in more)))
    return without_empty(Table((*columns, *(name for name, _ in more)), tuple(table), titled(dataset, way)))


def shown(bench: Bench, lines: Lines, row: Row, dataset: str, way: Way, field: str = "test", scale: float = 100,
          form: str = ".2f") -> Value:
    """Mean and deviation over seeds; where there is none, why, or how to get it."""
    cells = list(bench.of(row, dataset, way))
    mine = lines.of(cells)
    return mean(mine, field, scale, form) if mine else absent(bench, lines, row, dataset, cells)


def absent(bench: Bench, lines: Lines, row: Row, dataset: str, cells: Iterable[Cell]) -> Value:
    """What stands where no figure is."""
    for cell in cells:
        line = lines.get(cell)
        if line is not None and "failed" in line:
            return Value(None, f"failed: {line['failed']}")
    if dataset in lines.absent:
        return Value(None, f"its data was not on the machine: `{bench.command(dataset, row.name)}`")
    return Value(None, f"not run here{_duration(lines, row, dataset)}: `{bench.command(dataset, row.name)}`")


def cost_cell(row: Row, dataset: str) -> Cell:
    """What says how long an epoch of a row's training takes."""
    return Cell(row.name, row.method, dataset, 0, None, None, "cost", row.chosen(dataset))


def minutes_of(line: Line) -> float:
    """How many of one core a training takes, by the line of its cost."""
    return float(line["cpu_epoch"] * line["settings"]["epochs"] / 60)


def _duration(lines: Lines, row: Row, dataset: str) -> str:
    """How long one training would take on one core, where that is known."""
    line = lines.get(cost_cell(row, dataset))
    if line is None or "failed" in line:
        return ""
    minutes, most = minutes_of(line), "at most " if line["settings"]["patience"] is not None else ""
    return f", {most}{minutes:.0f} minutes" if minutes < 100 else f", {most}{minutes / 60:.0f} hours"


def mean(lines: Sequence[Line], field: str, scale: float, form: str = ".2f") -> Value:
    """Mean and sample deviation of a field over the lines that have it."""
    values = [scale * line[field] for line in lines if line.get(field) is not None]
    if not values:
        return Value(None, "")
    middle = statistics.mean(values)
    if len(values) == 1:
        return Value(middle, format(middle, form))
    deviation = statistics.stdev(values)
    return Value(middle, f"{middle:{form}} ± {deviation:{form.removeprefix('+')}}", deviation)


def compared(mine: Sequence[Line], figure: Figure | None) -> tuple[Value | str, Value | str, str]:
    """The paper's figure, the difference of ours in points, and whether that is within noise."""
    if figure is None:
        return "", "", ""
    quoted = Value(figure.value, str(figure), figure.deviation)
    values = [100 * line["test"] for line in mine if line.get("test") is not None]
    if not values:
        return quoted, "", ""
    difference = statistics.mean(values) - figure.value
    return quoted, Value(difference, f"{difference:+.2f}"), "yes" if abs(difference) <= noise(values, figure) else "no"


def noise(values: Sequence[float], figure: Figure) -> float:
    """What a difference between the mean of values and a published figure may be by chance, in points."""
    own = statistics.variance(values) / len(values) if len(values) > 1 else 0.0
    return max(NEAR, 2 * math.sqrt(own + (figure.deviation or 0.0) ** 2))


def seeds_of(bench: Bench, row: Row, dataset: str, mine: Sequence[Line]) -> str:
    wanted = bench.seeds_of(row, dataset)
    return "" if not mine else str(len(mine)) if len(mine) >= wanted else f"{len(mine)} of {wanted}"


def trained(mine: Sequence[Line]) -> Value | str:
    took = [line.get("seconds_cpu", line.get("seconds_training")) for line in mine]
    found = [seconds for seconds in took if seconds is not None]
    return Value(statistics.median(found), f"{statistics.median(found):.0f}") if found else ""


def bars(bench: Bench, lines: Lines, dataset: str, way: Way) -> list[Plot]:
    """Accuracies with their deviations beside the paper's, where there are any."""
    ours, papers = [], []
    for row in bench.rows:
        if way in bench.ways(row, dataset):
            value = mean(lines.of(bench.of(row, dataset, way)), "test", 100)
            if value.number is not None:
                ours.append((row.name, value.number, value.deviation or 0.0))
            figure = published.figure(bench.name, row.name, dataset)
            if figure is not None:
                papers.append((row.name, figure.value, figure.deviation or 0.0))
    if not ours:
        return []
    series = [_series("ours", ours)] + ([_series("paper", papers, paper=True)] if papers else [])
    return [Plot("bars", titled(dataset, way), "", "test accuracy, %", tuple(series))]


def ways_of(bench: Bench, dataset: str) -> list[Way]:
    """All ways in which some row is scored on a dataset."""
    return list(dict.fromkeys(way for row in bench.rows for way in bench.ways(row, dataset)))


def titled(dataset: str, way: Way) -> str:
    protocol, probe = way
    return dataset if protocol is None else f"{dataset}, {protocol} split, {probe} probe"


def text_of(bench: Bench) -> str:
    """The text of a page, with what is known of the published figures and how differences are judged."""
    parts = [bench.text.strip()]
    if bench.name in published.tables():
        about = published.tables()[bench.name]
        parts.append(f"Published: {about['table']} of the paper, {about['what']}. "
                     + (f"Its protocol as far as known: {about['protocol']}. " if "protocol" in about else "")
                     + (NOISE if "accuracy" in about["what"] else ""))
    parts.append(f"All of it: `{bench.command()}`; lines go to `results/{bench.lines_file}`, and `sgcl bench render` "
                 "makes this page. A cell that was not run has the command that runs it.")
    return "\n\n".join(part.strip() for part in parts)


def number(value: float | None, form: str = ".4g") -> Value:
    return Value(value, "" if value is None else format(value, form))


def _series(name: str, points: Sequence[tuple[str, float, float]], *, paper: bool = False) -> Series:
    x, y, error = zip(*points, strict=True)
    return Series(name, x, y, error, paper)


def without_empty(table: Table) -> Table:
    """The table without columns that say nothing."""
    kept = [number for number, name in enumerate(table.columns)
            if number == 0 or any(_text(row[number]) for row in table.rows)]
    return Table(tuple(table.columns[n] for n in kept), tuple(tuple(row[n] for n in kept) for row in table.rows),
                 table.caption)


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else cell.text
