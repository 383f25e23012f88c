"""A page of results in a neutral form: text, tables and plots, for whatever renders them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Value:
    """A cell of a table: ``text`` is what is shown, ``number`` what is sorted by."""

    number: float | None
    text: str
    deviation: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells under the names of their columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value | str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Series:
    """Points of one name, with their errors; ``paper`` for figures published, not measured here."""

    name: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]
    error: tuple[float, ...] | None = None
    paper: bool = False


@dataclass(frozen=True)
class Plot:
    """Series on two axes; or, for a heat map, ``values`` by ``rows`` and ``columns``."""

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
    """One table or figure of the paper: what it shows, in Markdown paragraphs, and its parts."""

    name: str
    title: str
    text: str
    parts: tuple[Table | Plot, ...]
