"""Node ids as files hold them, 64-bit integers or text, and the numbers 0 to N - 1 that stand for them in a graph."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

BLOCK = 1 << 18  # rows at a time where a whole column of temporaries would weigh
_SORTED = 1 << 24  # rows sorted at a time
LONGEST = 1000  # characters of an id: ids are kept at the width of the longest

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # written the one way that gives the same text back
_DECIMAL = re.compile(r"-?([0-9]+\.[0-9]*|\.[0-9]+)")


@dataclass
class Ids:
    """A column of ids.

    Args:
        values: (n,) the integers themselves, or for text the place of each id in ``texts``.
        texts: the distinct texts, in any order; ``None`` where the ids are integers.
    """

    values: np.ndarray
    texts: list[str] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def quoted(self, row: int) -> str:
        """The id of a row, for a message."""
        value = int(self.values[row])
        return str(value) if self.texts is None else repr(self.texts[value])

    def distinct(self) -> np.ndarray:
        """The ids that occur, ascending: int64, or text by code point."""
        if self.texts is not None:
            return np.array(sorted(self.texts), dtype=np.str_)
        return _distinct_integers(self.values)

    def to_text(self) -> None:
        """Turn integers into their decimal digits."""
        if self.texts is None:
            found = _distinct_integers(self.values)
            locate(found, self)
            self.texts = [str(value) for value in found.tolist()]


class Texts:
    """Distinct texts, numbered in the order of their first appearance."""

    def __init__(self) -> None:
        self._code: defaultdict[str, int] = defaultdict()
        self._code.default_factory = self._code.__len__

    def encode(self, texts: Iterable[str]) -> np.ndarray:
        """(n,) the number of each text; new ones get the next."""
        return np.fromiter(map(self._code.__getitem__, texts), dtype=np.int64)

    def list(self) -> list[str]:
        return list(self._code)


class UnknownId(Exception):
    """An id that is not among those looked up; the caller knows which file to blame."""

    def __init__(self, row: int, quoted: str) -> None:
        super().__init__(quoted)
        self.row, self.quoted = row, quoted


def locate(ids: np.ndarray, column: Ids) -> np.ndarray:
    """(n,) the place of each id of ``column`` in the ascending ``ids`` of the same kind.

    The values of the column are overwritten, so that no second column is held. Raises :class:`UnknownId`.
    """
    values = column.values
    place = _text_places(ids, column.texts) if column.texts is not None else None
    table = _integer_table(ids, len(values)) if place is None else None
    for rows in blocks(len(values)):
        part = values[rows]
        if place is not None:
            found = place[part]
        elif len(ids) == 0:
            found = np.full(len(part), -1)
        else:
            found = _integer_places(ids, table, part)
        if len(found) and int(found.min()) < 0:
            row = rows.start + int((found < 0).argmax())
            raise UnknownId(row, column.quoted(row))
        values[rows] = found
    return values


def first_repeat(values: np.ndarray) -> int | None:
    """The first row whose value was there before."""
    _, first = np.unique(values, return_index=True)
    if len(first) == len(values):
        return None
    again = np.ones(len(values), dtype=bool)
    again[first] = False
    return int(again.argmax())


def as_integers(texts: Iterable[str]) -> np.ndarray | None:
    """The texts as int64, if each is an integer in its plain form (no sign +, no leading zeros)."""
    texts = list(texts)
    if not texts or not all(map(_INTEGER.fullmatch, texts)):
        return None
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except OverflowError:
        return None


def decimal_among(texts: Iterable[str]) -> str | None:
    """A text with a decimal point, if all texts are numbers: ids that were stored as floats by mistake."""
    decimal = None
    for text in texts:
        if _DECIMAL.fullmatch(text):
            decimal = text
        elif not _INTEGER.fullmatch(text):
            return None
    return decimal


def integer_among(texts: Iterable[str]) -> bool:
    return any(map(_INTEGER.fullmatch, texts))


def blocks(length: int, size: int = BLOCK) -> Iterator[slice]:
    """0 to ``length`` in slices of at most ``size``."""
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def _distinct_integers(values: np.ndarray) -> np.ndarray:
    if len(values) == 0:
        return np.empty(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if not _narrow(low, high, len(values)):
        known = np.empty(0, np.int64)
        for rows in blocks(len(values), _SORTED):
            ascending = np.sort(values[rows])  # np.unique hashes, and is several times slower
            ascending = np.sort(np.concatenate([known, ascending[_changes(ascending)]]), kind="stable")
            known = ascending[_changes(ascending)]
        return known
    present = np.zeros(high - low + 1, dtype=bool)
    for rows in blocks(len(values)):
        present[values[rows] - low] = True
    found = np.flatnonzero(present).astype(np.int64, copy=False)
    found += low
    return found


def _changes(ascending: np.ndarray) -> np.ndarray:
    """(n,) whether a value differs from the one before."""
    first: np.ndarray = np.append(True, ascending[1:] != ascending[:-1])
    return first


def _narrow(low: int, high: int, length: int) -> bool:
    """Whether a table over the whole range of the ids is no larger than the column itself."""
    return high - low < 2 * length + 1024


def _text_places(ids: np.ndarray, texts: list[str]) -> np.ndarray:
    place = {text: number for number, text in enumerate(ids.tolist())}
    return np.fromiter((place.get(text, -1) for text in texts), dtype=np.int64, count=len(texts))


def _integer_table(ids: np.ndarray, length: int) -> np.ndarray | None:
    """Id less the lowest id to place, where that is small; not needed where the ids leave no gaps."""
    if len(ids) == 0 or int(ids[-1]) - int(ids[0]) + 1 == len(ids) or not _narrow(int(ids[0]), int(ids[-1]), length):
        return None
    table = np.full(int(ids[-1]) - int(ids[0]) + 1, -1, dtype=np.int32 if len(ids) < 2**31 else np.int64)
    table[ids - ids[0]] = np.arange(len(ids))
    return table


def _integer_places(ids: np.ndarray, table: np.ndarray | None, part: np.ndarray) -> np.ndarray:
    low, high = int(ids[0]), int(ids[-1])
    found: np.ndarray
    if high - low + 1 == len(ids):
        found = part - low
        found[(part < low) | (part > high)] = -1
        return found
    inside = np.clip(part, low, high)
    if table is not None:
        found = table[inside - low].astype(np.int64)
    else:
        order = np.argsort(inside)  # sorted needles are found several times faster
        found = np.empty(len(part), np.int64)
        found[order] = np.searchsorted(ids, inside[order])
    found[ids[np.maximum(found, 0)] != part] = -1
    return found
