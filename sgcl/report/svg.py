"""Plots as inline SVG: bars, lines and points on their axes, for a page that brings the colours.

A series is told by its colour and by the shape of its marks. What a paper says is hatched or hollow, and has the colour
of our series of the same name, or of the only one. Colours are classes (``c0`` …), so that a page may be light or dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from itertools import groupby

from sgcl.report.elements import element, points
from sgcl.report.frame import Frame, room
from sgcl.report.heat import draw_heat
from sgcl.report.page import Plot, Series
from sgcl.report.scales import Names, Numbers, decimals_of, number

COLOURS = 8
HATCHES = element("svg", *(
    element("pattern", element("path", d="M-1,1l2,-2M0,6l6,-6M5,7l2,-2", class_=f"stroke c{colour}"),
            id=f"hatch-{colour}", width=6, height=6, patternUnits="userSpaceOnUse") for colour in range(COLOURS)),
    width=0, height=0, class_="hatches", aria_hidden="true")    # once on a page, for all plots

_Point = tuple[float | str, float, float]                       # x, y, error
_SHAPES = (                                                     # of marks, around their middle; the first is a circle
    (), ((-4, -4), (4, -4), (4, 4), (-4, 4)), ((0, -5.5), (5, 4), (-5, 4)), ((0, -5.8), (5.8, 0), (0, 5.8), (-5.8, 0)),
    ((0, 5.5), (5, -4), (-5, -4)))


def draw(plot: Plot) -> str:
    """The legend and the drawing of a plot; a value that is no number, or has no logarithm, leaves a gap."""
    if plot.kind == "heat":
        return draw_heat(plot)
    if not any(point for series in plot.series for point in _points(plot, series)):
        return element("p", "No values yet.", class_="none")
    names = list(dict.fromkeys(series.name for series in plot.series))
    pair = sorted(series.paper for series in plot.series) == [False, True]
    slots = [0 if pair else names.index(series.name) for series in plot.series]
    return _legend(plot, slots) + (_bars(plot, slots) if plot.kind == "bars" else _curves(plot, slots))


def _points(plot: Plot, series: Series) -> Iterator[_Point | None]:
    """The points of a series, None where there is nothing to draw."""
    for x, y, error in zip(series.x, series.y, series.error or (0.0,) * len(series.y), strict=True):
        there = _drawable(y, plot.log_y) and (isinstance(x, str) or plot.kind == "bars" or _drawable(x, plot.log_x))
        yield (x, y, error if _drawable(error, False) else 0.0) if there else None


def _drawable(value: float | None, log: bool) -> bool:
    return value is not None and math.isfinite(value) and (value > 0 or not log)


def _legend(plot: Plot, slots: list[int]) -> str:
    """The name of each series beside its mark; none for a single series of our own."""
    if len(plot.series) == 1 and not plot.series[0].paper:
        return ""
    entries = []
    for series, slot in zip(plot.series, slots, strict=True):
        if plot.kind == "bars":
            mark = _bar(series, slot, 1, 1, 14, 12)
        else:
            mark = _line(series, slot, [(0, 7), (22, 7)]) * (plot.kind == "lines") + _mark(series, slot, 11, 7)
        said = series.name + (", paper" if series.paper and "paper" not in series.name.lower() else "")
        entries.append(element("li", element("svg", mark, width=16 if plot.kind == "bars" else 22, height=14,
                                                   aria_hidden="true"), escape(said)))
    return element("ul", *entries, class_="legend")


def _bars(plot: Plot, slots: list[int]) -> str:
    """Groups of bars; an axis that does not begin at zero says so."""
    names = Names(tuple(dict.fromkeys(str(x) for series in plot.series for x in series.x)))
    count = len(names.names) * (len(plot.series) + 1)           # of bars and gaps
    wide = max(min(max(640 / count, 9), 34), 200 / count)
    ends = _ends(plot)
    near, far = sorted((min(ends), max(ends)), key=abs)
    if not plot.log_y and near * far > 0 and abs(near) > abs(far) / 2:
        ends.append(near - (far - near) / 4)                    # the shortest bar shall have a length
    axis = Numbers.around(ends, plot.log_y)
    start = axis.low if axis.low > 0 else min(axis.high, 0.0)
    cut = f" (axis from {number(start)})" if start and not plot.log_y else ""
    frame = Frame(names, axis, plot.x_label, f"{plot.y_label}{cut}".strip(), max(wide * count, min(room(names), 640)))
    decimals = decimals_of(ends)
    marks = []
    for place, (series, slot) in enumerate(zip(plot.series, slots, strict=True)):
        for x, y, error in filter(None, _points(plot, series)):
            middle = frame.x(str(x)) + (place + 0.5 - len(plot.series) / 2) * wide
            top, bottom = sorted((frame.y(y), frame.y(0)))
            marks.append(element("g", _tooltip(series, x, y, error),
                                 _bar(series, slot, middle - 0.44 * wide, top, 0.88 * wide, bottom - top),
                                 _whisker(frame, middle, y, error)))
            if wide >= 30:
                over = frame.y(y + error) - 6 if y >= 0 else frame.y(y - error) + 15
                marks.append(element("text", number(y, decimals), x=middle, y=over, class_="value"))
    return frame.svg(plot.title, marks)


def _curves(plot: Plot, slots: list[int]) -> str:
    """Lines with marks, or marks alone."""
    xs = [point[0] for series in plot.series for point in _points(plot, series) if point]
    names = tuple(dict.fromkeys(str(x) for x in xs))
    named = any(isinstance(x, str) for x in xs)
    axis = Names(names) if named else Numbers.around(map(float, xs), plot.log_x, zero=False)
    frame = Frame(axis, Numbers.around(_ends(plot), plot.log_y), plot.x_label, plot.y_label, 400)
    marks = []
    for series, slot in zip(plot.series, slots, strict=True):
        for there, run in groupby(_points(plot, series), bool):
            known = [point for point in run if point]
            if there and plot.kind == "lines":
                marks.append(_line(series, slot, [(frame.x(x), frame.y(y)) for x, y, _ in known]))
            marks += [element("g", _tooltip(series, x, y, error), _whisker(frame, frame.x(x), y, error),
                              _mark(series, slot, frame.x(x), frame.y(y))) for x, y, error in known]
    return frame.svg(plot.title, marks)


def _ends(plot: Plot) -> list[float]:
    """All values with the ends of their error bars."""
    known = [point for series in plot.series for point in _points(plot, series) if point]
    return [end for _, y, error in known for end in (y, y - error, y + error)]


def _look(series: Series, slot: int) -> str:
    return f"{'theirs' if series.paper else 'ours'} c{slot % COLOURS}"


def _bar(series: Series, slot: int, x: float, y: float, width: float, height: float) -> str:
    return element("rect", x=x, y=y, width=width, height=height, class_=f"bar {_look(series, slot)}",
                   fill=f"url(#hatch-{slot % COLOURS})" if series.paper else None)


def _line(series: Series, slot: int, places: list[tuple[float, float]]) -> str:
    return element("polyline", points=points(*places), class_=f"line {_look(series, slot)}")


def _mark(series: Series, slot: int, x: float, y: float) -> str:
    shape = _SHAPES[slot % len(_SHAPES)]
    if not shape:
        return element("circle", cx=x, cy=y, r=4.5, class_=f"mark {_look(series, slot)}")
    return element("polygon", points=points(*((x + across, y + down) for across, down in shape)),
                   class_=f"mark {_look(series, slot)}")


def _whisker(frame: Frame, x: float, y: float, error: float) -> str:
    """An error bar from y - error to y + error, with caps."""
    if error <= 0:
        return ""
    top, bottom = frame.y(y + error), frame.y(y - error)
    return element("path", d=f"M{x - 3:.1f},{top:.1f}h6m-3,0V{bottom:.1f}m-3,0h6", class_="whisker")


def _tooltip(series: Series, x: float | str, y: float, error: float) -> str:
    said = f"{series.name}{' (paper)' if series.paper else ''}, {x if isinstance(x, str) else number(x)}: {number(y)}"
    return element("title", escape(said + (f" ± {number(error)}" if error > 0 else "")))
