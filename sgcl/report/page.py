"""A page of results in neutral form, tables and plots of plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Value:
    """A cell of a table: ``text`` is what is shown, ``number`` is what is sorted by."""

    number: float | None
    text: str
    deviation: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value | str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Series:
    """Points of a plot that belong together; ``paper`` marks those that were published."""

    name: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]
    error: tuple[float, ...] | None = None
    paper: bool = False


@dataclass(frozen=True)
class Plot:
    """Bars, lines or points of ``series``; or a heat map of ``values``, its ``rows`` by its ``columns``."""

    kind: Literal["bars", "lines", "heat", "scatter"]
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...] = ()
    log_x: bool = False
    log_y: bool = False
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    values: tuple[tuple[float | None, ...], ...] = ()


@dataclass(frozen=True)
class Page:
    """One page: ``text`` is Markdown paragraphs, ``parts`` follow it in order."""

    name: str
    title: str
    text: str
    parts: tuple[Table | Plot, ...]
