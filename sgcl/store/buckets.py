"""A symmetric adjacency from edges in any order, by an external bucket sort: linear in the edges, memory bounded.

An edge i → j becomes two keys, 2 (i N + j) and 2 (j N + i) + 1: the entry (i, j) as it is given, and (j, i) as the
other way of it. Keys are dealt out to buckets by size, each a file; a bucket that fits the memory is sorted there, one
that does not is dealt out once more. From bucket to bucket the sorted keys are the entries row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sgcl.readers.ids import blocks
from sgcl.store.spill import temporary_file

_MOST = 256  # buckets, and so open files, at a time


class Entries(NamedTuple):
    """Successive entries of the adjacency, each once."""

    row: np.ndarray           # (n,) ascending
    col: np.ndarray           # (n,) ascending inside a row
    value: np.ndarray | None  # (n,) float32


@dataclass
class Count:
    """What was given, and what was left out or merged."""

    given: int = 0      # edges besides loops and those of weight 0
    loops: int = 0
    zeros: int = 0
    distinct: int = 0   # of the given ones, each direction counted
    both_ways: int = 0  # of the distinct ones, those whose other direction is given too
    all_ones: bool = True


class _Bucket:
    """Keys from ``low`` to ``high``, and weights, in files of their own."""

    def __init__(self, folder: Path, low: int, high: int, weighted: bool) -> None:
        self.low, self.high, self.length = low, high, 0
        self.files = [temporary_file(folder) for _ in range(1 + weighted)]

    def add(self, *columns: np.ndarray) -> None:
        for file, column in zip(self.files, columns, strict=True):
            file.write(np.ascontiguousarray(column).data)
        self.length += len(columns[0])

    def read(self, rows: slice) -> list[np.ndarray]:
        found = []
        for file, dtype in zip(self.files, (np.int64, np.float32), strict=False):
            file.flush()
            file.seek(rows.start * np.dtype(dtype).itemsize)
            found.append(np.fromfile(file, dtype, rows.stop - rows.start))
        return found

    def close(self) -> None:
        for file in self.files:
            file.close()


@dataclass
class EdgeSort:
    """Edges in, entries of the adjacency out.

    Args:
        folder: for temporary files without a name.
        num_nodes: N, below 2^31.
        num_edges: about how many are to come.
        memory: bytes to sort in.
        weighted: whether edges have weights; those of an edge given twice are added up, and an entry has the larger of
            the two ways.
    """

    folder: Path
    num_nodes: int
    num_edges: int
    memory: int
    weighted: bool = False
    count: Count = field(default_factory=Count)

    def __post_init__(self) -> None:
        self._entry = 64 if self.weighted else 32  # bytes of memory for a key while its bucket is sorted
        self._rows = max(min(self.memory // (4 * self._entry), 1 << 22), 1024)  # edges at a time
        self._buckets = self._deal(0, 2 * self.num_nodes**2, 2 * self.num_edges)

    def add(self, source: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> None:
        """(E,) numbers of nodes, and weights >= 0; 1 where there are none."""
        for rows in blocks(len(source), self._rows):
            one, other = np.asarray(source[rows], np.int64), np.asarray(target[rows], np.int64)
            some = None
            kept = one != other
            self.count.loops += len(kept) - int(kept.sum())
            if self.weighted:
                some = np.ones(len(one), np.float32) if weight is None else np.asarray(weight[rows], np.float32)
                zero = kept & (some == 0)
                self.count.zeros += int(zero.sum())
                kept &= ~zero
                some = np.tile(some[kept], 2)
            one, other = one[kept], other[kept]
            self.count.given += len(one)
            key = np.concatenate([2 * (one * self.num_nodes + other), 2 * (other * self.num_nodes + one) + 1])
            _share_out(self._buckets, key, some)

    def entries(self, tell: Callable[[float], None] = lambda share: None) -> Iterator[Entries]:
        """Some at a time, in their order; ``tell`` is called with the share that is done."""
        done, total = 0, max(sum(bucket.length for bucket in self._buckets), 1)
        waiting = self._buckets[::-1]
        while waiting:
            bucket = waiting.pop()
            if bucket.length * self._entry > self.memory and bucket.high - bucket.low > 2:
                parts = self._deal(bucket.low, bucket.high, bucket.length)
                for rows in blocks(bucket.length, self._rows):
                    _share_out(parts, *bucket.read(rows))
                waiting += parts[::-1]
            elif bucket.length:
                done += bucket.length
                yield self._merged(*bucket.read(slice(0, bucket.length)))
                tell(done / total)
            bucket.close()

    def _deal(self, low: int, high: int, keys: int) -> list[_Bucket]:
        """Buckets for so many keys in that range, each with whole entries."""
        pairs = high // 2 - low // 2
        parts = min(2 * keys * self._entry // self.memory + 1, _MOST, pairs)
        ends = [low + 2 * (pairs * part // parts) for part in range(parts + 1)]
        return [_Bucket(self.folder, ends[part], ends[part + 1], self.weighted) for part in range(parts)]

    def _merged(self, key: np.ndarray, weight: np.ndarray | None = None) -> Entries:
        if weight is None:
            key.sort()
            key = key[_first(key)]
        else:
            key, weight = _added_up(key, weight)
        given = (key & 1) == 0                                             # as it is, not the other way
        first = _first(key >> 1)                                           # of its entry
        self.count.distinct += int(given.sum())
        self.count.both_ways += len(key) - int(first.sum())
        if weight is not None:
            self.count.all_ones &= bool((weight[given] == 1).all())
            weight = np.maximum.reduceat(weight, np.flatnonzero(first))
        pair = key[first] >> 1
        row = pair // self.num_nodes
        return Entries(row, pair - row * self.num_nodes, weight)


def _share_out(buckets: list[_Bucket], key: np.ndarray, weight: np.ndarray | None = None) -> None:
    if weight is None:
        key.sort()
    else:
        order = np.argsort(key)
        key, weight = key[order], weight[order]
    ends = [0, *np.searchsorted(key, [bucket.high for bucket in buckets]).tolist()]
    for bucket, start, stop in zip(buckets, ends, ends[1:], strict=False):
        if stop > start:
            bucket.add(*(column[start:stop] for column in (key, weight) if column is not None))


def _added_up(key: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each key once, with the sum of its weights; they are added smallest first, so that their order leaves no
    trace."""
    order = np.argsort(key)
    key, weight = key[order], weight[order]
    first = _first(key)
    if first.all():
        return key, weight
    again = ~first
    again[:-1] |= again[1:]                                                # the first of several too
    some = np.flatnonzero(again)
    weight[some] = weight[some][np.lexsort((weight[some], key[some]))]
    starts = np.flatnonzero(first)
    return key[starts], np.add.reduceat(weight, starts, dtype=np.float64).astype(np.float32)


def _first(key: np.ndarray) -> np.ndarray:
    """(n,) whether a key differs from the one before."""
    first: Any = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    return first  # type: ignore[no-any-return]
