"""Tables on disk, whatever their form: id columns and number columns, filled block by block into room made once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.ids import Ids, blocks


@dataclass
class Columns:
    """What was read of a table with n rows.

    Args:
        ids: the id columns asked for, in that order; then the label column, if one was asked for.
        numbers: (n, k) the number columns asked for, float32.
    """

    ids: list[Ids]
    numbers: np.ndarray


class Table(Protocol):
    """A file with named columns."""

    name: str
    columns: list[str]
    notes: list[str]

    def read(self, ids: Sequence[str], numbers: Sequence[str] = (), *, label: str | None = None,
             room: RoomFor | None = None) -> Columns:
        """The columns of these names. Text ids share one list of texts; a label may be empty, an id may not.

        ``room`` makes the room that they are put in, perhaps more than once; in memory unless given.
        """

    def where(self, row: int) -> str:
        """How a message calls the row (from 0): ``line 7`` or ``row 6``."""


class Room:
    """Columns under construction: room for ``bound`` rows; pages that stay unused cost nothing."""

    def __init__(self, num_ids: int, num_numbers: int, bound: int) -> None:
        self._ids = [np.empty(bound, np.int64) for _ in range(num_ids)]
        self._numbers = np.empty((bound, num_numbers), np.float32)
        self.length = 0

    def add(self, ids: Sequence[np.ndarray], numbers: Sequence[np.ndarray]) -> None:
        count = len(ids[0])
        rows = slice(self.length, self.length + count)
        for room, column in zip(self._ids, ids, strict=True):
            room[rows] = column
        with np.errstate(over="ignore"):  # what float32 cannot hold is found as infinite later
            for place, column in enumerate(numbers):
                self._numbers[rows, place] = column
        self.length += count

    def columns(self, labels: list[str] | None, texts: list[str] | None) -> Columns:
        """What was added; ids are codes of ``texts`` and the last column of ``labels``, where these are given."""
        columns, numbers = self._filled()
        ids = [Ids(column, texts) for column in columns]
        if labels is not None:
            ids[-1].texts = labels
        return Columns(ids, numbers)

    def _filled(self) -> tuple[list[np.ndarray], np.ndarray]:
        return [column[:self.length] for column in self._ids], self._numbers[:self.length]


RoomFor = Callable[[int, int, int], Room]  # id columns, number columns, rows at the most


def readable(path: Path) -> Path:
    """The path, if a file can be read there."""
    try:
        with path.open("rb") as file:
            start = file.read(1)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: give the file in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None
    if not start:
        raise InputError(f"{path} is empty")
    return path


def first_line(error: BaseException) -> str:
    """What an exception of another package says, as one line."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def require(table: Table, column: str, option: str) -> None:
    """Raise unless the table has the column; ``option`` is the argument that names another."""
    if column not in table.columns:
        shown = ", ".join(map(repr, table.columns[:8])) + (", ..." if len(table.columns) > 8 else "")
        flag = "edge-weight" if option == "weight" else option.replace("_", "-")
        raise InputError(f"{table.name} has no column {column!r} (it has {shown}): name it with {option}= (--{flag})")


def not_used(name: str, kind: str, unused: Sequence[str]) -> list[str]:
    """A note on what a source holds besides, if it does."""
    shown = ", ".join(map(repr, unused[:4])) + (", ..." if len(unused) > 4 else "")
    return [f"{name}: {kind}{'' if len(unused) == 1 else 's'} {shown} not used"] if unused else []


def check_names(table: Table, names: Sequence[str]) -> None:
    """Raise if a wanted column is asked for twice or is there twice."""
    there, asked = Counter(table.columns), Counter(names)
    for name in names:
        if there[name] > 1:
            raise InputError(f"{table.name}: {there[name]} columns are called {name!r}; give each a name of its own")
        if asked[name] > 1:
            raise InputError(f"{table.name}: column {name!r} is named for two things; name two columns")


def check_finite(table: Table, numbers: np.ndarray, names: Sequence[str]) -> None:
    """Raise at the first NaN, infinite or too large number."""
    for rows in blocks(len(numbers)):
        finite = np.isfinite(numbers[rows])
        if not finite.all():
            row, column = np.unravel_index(int(finite.argmin()), finite.shape)
            raise InputError(f"{table.name}, {table.where(rows.start + int(row))}: column {names[int(column)]!r} holds "
                             "a NaN, infinite or too large number; replace it or leave the row out")
