"""A graph cut into parts of about the same size with few edges between them, for stores on different machines.

Karypis and Kumar, *A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs* (METIS); Stanton and
Kliot, *Streaming Graph Partitioning for Large Distributed Graphs*; Nishimura and Ugander, *Restreaming Graph
Partitioning*.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, NamedTuple, get_args

import numpy as np

from sgcl.compiled import compiled
from sgcl.errors import InputError, unknown_name
from sgcl.sparse import CSR

How = Literal["auto", "metis", "streaming"]

_PASSES = 5      # over all nodes; later ones know where the neighbours went
_SLACK = 1.05    # how much larger than the mean a part may be


class Partition(NamedTuple):
    """Where each node goes, and how good that is."""

    part: np.ndarray   # (N,) numbers from 0
    cut: float         # the share of the edges between two parts
    balance: float     # the nodes of the largest part over the mean
    how: str           # "metis" or "streaming"


def partition(adj: CSR, parts: int, *, how: How = "auto") -> Partition:
    """Cut a graph into ``parts``.

    Args:
        adj: (N, N) symmetric adjacency; its values are not looked at. Its arrays may be memory-mapped.
        parts: how many, at most N.
        how: ``"metis"``, which cuts few edges and needs the package pymetis and some ten times the memory of the
            adjacency; ``"streaming"``, which reads the rows one after the other, a few times, and holds N + ``parts``
            numbers; ``"auto"`` takes METIS where it is installed.
    """
    if how not in get_args(How):
        raise unknown_name("way to partition", how, get_args(How))
    if not 1 <= parts <= adj.shape[0]:
        raise InputError(f"cannot cut {adj.shape[0]} nodes into {parts} parts: expected 1 to {adj.shape[0]}")
    ptr, idx = adj.ptr.numpy(), adj.idx.numpy()
    if how == "auto":
        how = "metis" if find_spec("pymetis") else "streaming"
    find = _metis if how == "metis" else _streamed
    part = np.zeros(adj.shape[0], np.int32) if parts == 1 else find(ptr, idx, parts)
    size = np.bincount(part, minlength=parts)
    return Partition(part, _cut(ptr, idx, part) / max(len(idx), 1), float(size.max() * parts / len(part)), how)


def _metis(ptr: np.ndarray, idx: np.ndarray, parts: int) -> np.ndarray:
    try:
        import pymetis
    except ImportError:
        raise InputError("METIS is not installed: pip install 'sgcl[metis]', or take how=\"streaming\"") from None
    if len(idx) == 0:
        return _streamed(ptr, idx, parts)
    kind = pymetis.zero_copy_dtype()
    _, found = pymetis.part_graph(parts, pymetis.CSRAdjacency(ptr.astype(kind), idx.astype(kind)))
    return np.asarray(found, np.int32)


def _streamed(ptr: np.ndarray, idx: np.ndarray, parts: int) -> np.ndarray:
    """Node after node to the part p that has most of its neighbours, weighed by 1 - size_p / room: linear
    deterministic greedy, some passes of it."""
    part = np.full(len(ptr) - 1, -1, np.int32)
    room = max(int(_SLACK * len(part) / parts), -(-len(part) // parts))
    for _ in range(_PASSES):
        _assign(ptr, idx, part, np.zeros(parts, np.int64), room)
    return part


@compiled
def _assign(ptr, idx, part, size, room):  # type: ignore[no-untyped-def]
    """One pass; ``part`` is -1 for a node that has none yet. Of two parts as good, the smaller, then the first."""
    near = np.zeros(len(size), np.int64)
    for node in range(len(part)):
        for e in range(ptr[node], ptr[node + 1]):
            if part[idx[e]] >= 0:
                near[part[idx[e]]] += 1
        best, highest = -1, -1.0
        for p in range(len(size)):
            score = near[p] * (1.0 - size[p] / room)
            if size[p] < room and (best < 0 or score > highest or (score == highest and size[p] < size[best])):
                best, highest = p, score
            near[p] = 0
        part[node] = best
        size[best] += 1


@compiled
def _cut(ptr, idx, part):  # type: ignore[no-untyped-def]
    """How many entries lie between two parts."""
    cut = 0
    for node in range(len(part)):
        for e in range(ptr[node], ptr[node + 1]):
            cut += part[node] != part[idx[e]]
    return cut
