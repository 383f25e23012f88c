"""Tables for a terminal, drawn by rich."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_WIDEST = 1000


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of text to standard output; the first column and those of words to the left, others to the right.

    A table wider than the terminal, or than the 80 columns of a pipe, is not cut.
    """
    table = Table()
    for number, name in enumerate(header):
        words = number == 0 or all(row[number][0].isalpha() for row in rows if row[number])
        table.add_column(Text(name), justify="left" if words else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    wanted = Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum
    console.width = max(console.width, wanted)
    console.print(Text(title), soft_wrap=True)
    console.print(table)


def mean_and_deviation(values: Sequence[float | None]) -> str:
    """Shares as per cent: ``84.31 ± 0.52``, the sample deviation; without it for a single value, a dash for none."""
    percent = [100 * value for value in values if value is not None]
    if not percent:
        return "-"
    mean = f"{statistics.mean(percent):.2f}"
    return f"{mean} ± {statistics.stdev(percent):.2f}" if len(percent) > 1 else mean
