"""Result rows of `sgcl evaluate` as tables for a terminal: one a question, a line for each name."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sgcl.report.table import mean_and_deviation, print_table

Values = Sequence[float | None]


def print_scores(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows that :func:`sgcl.workflow.evaluate_runs` gave; those of one question and name share a line."""
    for asked in dict.fromkeys(map(question, rows)):
        mine = [row for row in rows if question(row) == asked]
        title, columns = _TABLES["folds" if "folds" in mine[0] else mine[0]["task"]]
        table = []
        for name in dict.fromkeys(row["name"] for row in mine):
            own = [row for row in mine if row["name"] == name]
            table.append([name, *(shown([row.get(key) for row in own]) for _, key, shown in columns)])
        first = mine[0]
        column = f" ({first['label_column']})" if "label_column" in first else ""
        labels = f", labels {Path(first['labels']).name}{column}" if "labels" in first else ""
        print_table(f"{first['dataset']}{labels}, protocol {first['protocol']}, {title.format(**first)}",
                    ["", *(header.format(**first) for header, _, _ in columns)], table)
        for reason in dict.fromkeys(row.get("disparity_reason") for row in mine):
            if reason is not None:
                print(f"disparity is undefined: {reason}")


def question(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a row answers: values of rows that differ in this are not to be averaged, nor set side by side."""
    return tuple(row.get(name) for name in ("task", "protocol", "probe", "metric", "labels", "label_column"))


def _count(values: Values) -> str:
    return str(len(values))


def _mean(pattern: str, values: Values) -> str:
    found = [value for value in values if value is not None]
    return format(statistics.mean(found), pattern) if found else "undefined"


def _percent(values: Values) -> str:
    found = [100 * value for value in values if value is not None]
    return f"{statistics.mean(found):.2f}" if found else "-"


_TABLES: Mapping[str, tuple[str, Sequence[tuple[str, str, Callable[[Values], str]]]]] = {  # title; header, key, form
    "probe": ("probe {probe}", (
        ("test {metric} %", "test", mean_and_deviation), ("validation %", "val", mean_and_deviation),
        ("runs x splits", "test", _count), ("disparity", "disparity", partial(_mean, "+.3f")))),
    "folds": ("a support vector machine, nested folds", (
        ("test {metric} %, ± over seeds", "test", mean_and_deviation),
        ("± over folds", "fold_deviation", _percent), ("runs x seeds", "test", _count))),
    "knn": ("nearest neighbours", (
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
