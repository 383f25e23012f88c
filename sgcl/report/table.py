"""Tables for a terminal, drawn by rich."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of text to standard output; the first column to the left, the others to the right."""
    table = Table(title=title, title_justify="left")
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(soft_wrap=True).print(table)


def mean_and_deviation(values: Sequence[float]) -> str:
    """Shares as per cent: ``84.31 ± 0.52``, the sample deviation; without it for a single value."""
    percent = [100 * value for value in values]
    mean = f"{statistics.mean(percent):.2f}"
    return f"{mean} ± {statistics.stdev(percent):.2f}" if len(percent) > 1 else mean
