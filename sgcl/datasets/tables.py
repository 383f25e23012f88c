"""Text tables of numbers, plain or gzipped, parsed block by block: beside the result, one block is in memory."""

import gzip
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sgcl.errors import InputError

Array = np.ndarray[Any, Any]

_BLOCK = 1 << 24  # bytes of text parsed at a time


def read_table(path: Path, dtype: Any, rows: int) -> Array:
    """All of a table that has so many rows: (rows, columns), or (rows,) where there is one column."""
    table, done = None, 0
    for block in blocks(path, dtype):
        if table is None:
            table = np.empty((rows, block.shape[1]), dtype)
        table[done:done + len(block)] = block[:max(rows - done, 0)]
        done += len(block)
    if table is None or done != rows:
        raise InputError(f"{path} has {done} rows, expected {rows}")
    return table[:, 0] if table.shape[1] == 1 else table


def read_columns(path: Path, dtype: Any, rows: int, *, skip: int = 0) -> Array:
    """The transpose of a table with two columns and so many rows: (2, rows), as edge lists are kept."""
    columns, done = np.empty((2, rows), dtype), 0
    for block in blocks(path, dtype, columns=2, skip=skip):
        columns[:, done:done + len(block)] = block[:max(rows - done, 0)].T
        done += len(block)
    if done != rows:
        raise InputError(f"{path} has {done} rows, expected {rows}")
    return columns


def blocks(path: Path, dtype: Any, *, columns: int | None = None, skip: int = 0) -> Iterator[Array]:
    """The rows of a table of numbers between commas, (n, columns) at a time; ``skip`` lines come before them.

    The first row tells how many columns there are, unless it is known.
    """
    done, rest = skip, b""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for _ in range(skip):
                file.readline()
            while chunk := file.read(_BLOCK):
                text, _, rest = (rest + chunk).rpartition(b"\n")
                if text:
                    block = _numbers(path, text, dtype, columns, done)
                    columns, done = block.shape[1], done + len(block)
                    yield block
            if rest.strip():
                yield _numbers(path, rest, dtype, columns, done)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}; get the file again") from error


def count_rows(path: Path, *, skip: int = 0) -> int:
    """Rows of a text file, without parsing them."""
    count, last = 0, b"\n"
    try:
        with path.open("rb") as file:
            while chunk := file.read(_BLOCK):
                count += chunk.count(b"\n")
                last = chunk[-1:]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return count + (last != b"\n") - skip


def check_nodes(path: Path, numbers: Array, nodes: int) -> None:
    """Raise when a table names nodes that there are not."""
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < nodes:
        raise InputError(f"{path} names nodes {numbers.min()} to {numbers.max()}, but there are {nodes}, counted "
                         "from 0")


def _numbers(path: Path, text: bytes, dtype: Any, columns: int | None, done: int) -> Array:
    """(n, columns) from n whole lines."""
    if b"\r" in text:
        text = text.replace(b"\r", b"")
    lines = text.count(b"\n") + 1
    columns = columns or text.partition(b"\n")[0].count(b",") + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy stops at what is not a number, with a warning or, later, an error
        try:
            values: Array = np.fromstring(text.replace(b"\n", b","), dtype, sep=",")
        except ValueError:
            values = np.empty(0, dtype)
    if values.size != lines * columns:
        kind = "whole numbers" if np.issubdtype(dtype, np.integer) else "numbers"
        bad = done + _first_bad(text, columns, dtype)
        raise InputError(f"{path}: row {bad} is not {columns} {kind} between commas")
    return values.reshape(lines, columns)


def _first_bad(text: bytes, columns: int, dtype: Any) -> int:
    parse = int if np.issubdtype(dtype, np.integer) else float
    lines = text.split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            if len([parse(word) for word in line.split(b",")]) != columns:
                return number
        except ValueError:
            return number
    return len(lines)
