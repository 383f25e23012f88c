"""The published figures: every table of the SGCL paper, and what the papers of the baselines say themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One published number.

    Args:
        value: as printed; accuracies are per cent.
        deviation: where one was printed.
        source: whose it is.
    """

    value: float
    deviation: float | None = None
    source: str = "the SGCL paper"

    def __str__(self) -> str:
        return f"{self.value:g}" if self.deviation is None else f"{self.value:.2f} ± {self.deviation:.2f}"


@dataclass(frozen=True)
class Claim:
    """Figures of one method outside the SGCL paper, under one protocol with one probe; ``None`` where there is none."""

    row: str
    protocol: str
    probe: str
    figures: Mapping[str, Figure | None]


def figure(table: str, row: str, column: str) -> Figure | None:
    """A cell of a table, by the names that rows and datasets have here; ``None`` where it is empty or not there."""
    known = tables().get(table)
    if known is None or row not in known["rows"] or column not in known["columns"]:
        return None
    text = known["rows"][row][known["columns"].index(column)]
    return None if text is None else _read(text)


def best(table: str, column: str, begins: str = "") -> tuple[str, Figure] | None:
    """The row with the highest value of a column, and that value; of all rows whose names begin so."""
    if table not in tables():
        return None
    found = {row: cell for row in tables()[table]["rows"]
             if row.startswith(begins) and (cell := figure(table, row, column)) is not None}
    return max(found.items(), key=lambda item: item[1].value) if found else None


def protocol(table: str, row: str | None = None) -> str:
    """How the figures of a table, or of one of its rows, came about, as far as is known."""
    known = tables()[table]
    text: str = known.get("known", {}).get(row, "") if row is not None else known.get("protocol", "")
    return text


@cache
def tables() -> dict[str, dict[str, Any]]:
    """Name of a table to ``table`` (its number), ``what``, ``protocol``, ``columns`` and ``rows`` of texts."""
    return {name: table for name, table in _contents().items() if name != "own"}


@cache
def claims() -> tuple[Claim, ...]:
    """What is published of the baselines outside the SGCL paper."""
    return tuple(Claim(claim["row"], claim["protocol"], claim["probe"], {
        dataset: None if given is None else _read(*given) for dataset, given in claim["figures"].items()})
        for claim in _contents()["own"])


def _read(text: str, source: str = "the SGCL paper") -> Figure:
    value, _, deviation = text.partition("±")
    return Figure(float(value), float(deviation) if deviation else None, source)


@cache
def _contents() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("sgcl.bench").joinpath("published.json").read_text(encoding="utf-8"))
    return found
