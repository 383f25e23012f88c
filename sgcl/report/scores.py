"""Result rows of `sgcl evaluate` as tables for a terminal: one a task, a line for each name."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sgcl.report.table import mean_and_deviation, print_table

Values = Sequence[float | None]


def print_scores(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows that :func:`sgcl.workflow.evaluate_runs` gave; those of one task and name share a line."""
    for task in dict.fromkeys(row["task"] for row in rows):
        mine = [row for row in rows if row["task"] == task]
        title, columns = _TABLES[task]
        table = []
        for name in dict.fromkeys(row["name"] for row in mine):
            own = [row for row in mine if row["name"] == name]
            table.append([name, *(shown([row.get(key) for row in own]) for _, key, shown in columns)])
        first = mine[0]
        labels = f", labels {Path(first['labels']).name}" if "labels" in first else ""
        print_table(f"{first['dataset']}{labels}, {title.format(**first)}",
                    ["", *(header.format(**first) for header, _, _ in columns)], table)


def _count(values: Values) -> str:
    return str(len(values))


def _mean(pattern: str, values: Values) -> str:
    found = [value for value in values if value is not None]
    return format(statistics.mean(found), pattern) if found else "undefined"


_TABLES: Mapping[str, tuple[str, Sequence[tuple[str, str, Callable[[Values], str]]]]] = {  # title; header, key, form
    "probe": ("protocol {protocol}, probe {probe}", (
        ("test {metric} %", "test", mean_and_deviation), ("validation %", "val", mean_and_deviation),
        ("runs x splits", "test", _count), ("disparity", "disparity", partial(_mean, "+.3f")))),
    "knn": ("protocol {protocol}, nearest neighbours", (
        ("test {metric} %", "test", mean_and_deviation), ("validation %", "val", mean_and_deviation),
        ("runs x splits", "test", _count), ("mean k", "k", partial(_mean, ".1f")))),
    "clustering": ("{clusters} clusters beside the classes", (
        ("NMI %", "nmi", mean_and_deviation), ("ARI %", "ari", mean_and_deviation), ("runs x seeds", "nmi", _count))),
    "links": ("{hidden_edges} links hidden, trained anew without them", (
        ("ROC-AUC %", "test", mean_and_deviation), ("runs x splits", "test", _count))),
    "collapse": ("signs of collapse", (
        ("effective rank", "effective_rank", partial(_mean, ".1f")), ("width", "width", partial(_mean, ".0f")),
        ("mean cosine", "mean_cosine", partial(_mean, "+.3f")), ("runs", "width", _count))),
}
