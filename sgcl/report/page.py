"""A page of results in neutral form, tables and plots of plain values, and its Markdown."""

from __future__ import annotations

from collections.abc import Sequence
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


def markdown(page: Page) -> str:
    """The page as Markdown: its text and its tables. Plots show nothing that the tables do not."""
    blocks = [f"# {page.title}", page.text.strip()]
    blocks += [block for part in page.parts if isinstance(part, Table) for block in _table(part)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _table(table: Table) -> list[str]:
    lines = [_row(table.columns), "|" + " --- |" * len(table.columns)]
    lines += [_row([cell if isinstance(cell, str) else cell.text for cell in row]) for row in table.rows]
    return [f"## {table.caption}" if table.caption else "", "\n".join(lines)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
