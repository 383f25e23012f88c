"""Heat maps as inline SVG: nine steps of colour from the lowest value to the highest, and each value in its cell."""

from __future__ import annotations

import math
from html import escape

from sgcl.report.elements import element
from sgcl.report.frame import Frame, room
from sgcl.report.page import Plot
from sgcl.report.scales import Names, decimals_of, number

STEPS = 9
_HIGH = 34.0                                # of a cell, in pixels


def draw_heat(plot: Plot) -> str:
    """The scale and the drawing; a cell is of class ``h0`` (lowest) to ``h8``, or ``hnone`` without a value."""
    known = [value for row in plot.values for value in row if value is not None and math.isfinite(value)]
    if not known:
        return element("p", "No values yet.", class_="none")
    low, high, decimals = min(known), max(known), decimals_of(known)
    columns = Names(plot.columns)
    beside = room(columns) / len(plot.columns)                  # what a name takes; too much for a cell, it is slanted
    wide = max(46, 18 + 7.2 * max(len(number(value, decimals)) for value in known), beside if beside < 92 else 0)
    frame = Frame(columns, Names(plot.rows[::-1]), plot.x_label, plot.y_label,
                  wide * len(plot.columns), _HIGH * len(plot.rows))
    cells = []
    for down, (row, values) in enumerate(zip(plot.rows, plot.values, strict=True)):
        for across, (column, value) in enumerate(zip(plot.columns, values, strict=True)):
            if value is None or not math.isfinite(value):
                text, look, said = "–", "hnone", "no value"
            else:
                text, look = number(value, decimals), f"h{step(value, low, high)}"
                said = text
            cells.append(_cell(frame.left + across * wide, frame.bottom + (down - len(plot.rows)) * _HIGH, wide,
                               text, look, f"{plot.y_label} {row}, {plot.x_label} {column}: {said}".strip()))
    scale = _scale(number(low, decimals), number(high, decimals)) if high > low else ""
    return scale + frame.svg(plot.title, cells)


def step(value: float, low: float, high: float) -> int:
    """Which of the nine equal steps from ``low`` to ``high`` holds a value; the middle one when they are equal."""
    return min(int(STEPS * (value - low) / (high - low)), STEPS - 1) if high > low else STEPS // 2


def _cell(x: float, y: float, wide: float, text: str, look: str, tooltip: str) -> str:
    return element("g", element("title", escape(tooltip)),
                   element("rect", x=x + 1, y=y + 1, width=wide - 2, height=_HIGH - 2, rx=2),
                   element("text", text, x=x + wide / 2, y=y + _HIGH / 2 + 4.5), class_=f"cell {look}")


def _scale(low: str, high: str) -> str:
    """A strip of the nine colours between the values they stand for."""
    strip = element("svg", *(element("g", element("rect", x=16 * place, y=0, width=16, height=12), class_=f"h{place}")
                             for place in range(STEPS)), width=16 * STEPS, height=12, aria_hidden="true")
    return element("p", element("span", low), strip, element("span", high), class_="legend scale")
