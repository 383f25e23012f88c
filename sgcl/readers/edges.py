"""Edges from any source, brought into one form: sorted, each direction once, no loops, nothing of weight 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.ids import Ids, UnknownId, blocks, locate

_GONE = np.iinfo(np.int64).max  # the key of an edge that is left out: sorts last


@dataclass
class EdgeList:
    """Edges as a source gives them.

    Args:
        name: the source, for messages.
        source, target: (E,) the ids of the two ends.
        weight: (E,) float32, or ``None``.
        nodes: the ids of all nodes, if the source lists them.
        directed: whether (a, b) and (b, a) are two edges.
        may_be_empty: whether there need not be any edges, as in one graph of many.
        where: how a message calls an edge by its place, e.g. ``line 7``.
        notes: what the user should know about how the source was read.
    """

    name: str
    source: Ids
    target: Ids
    weight: np.ndarray | None = None
    nodes: Ids | None = None
    directed: bool = True
    may_be_empty: bool = False
    where: Callable[[int], str] = "edge {}".format
    notes: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Raise if there are no edges, or weights that are negative or not finite."""
        if len(self.source) == 0 and not self.may_be_empty:
            raise InputError(f"{self.name} holds no edges")
        if self.weight is None:
            return
        for rows in blocks(len(self.weight)):
            good = (self.weight[rows] >= 0) & (self.weight[rows] < np.inf)
            if not good.all():
                row = rows.start + int(good.argmin())
                what = "negative" if self.weight[row] < 0 else "not finite, or too large"
                raise InputError(f"{self.name}, {self.where(row)}: the weight {self.weight[row]:g} is {what}; "
                                 "weights must be numbers >= 0")

    def number(self, ids: np.ndarray, owner: str) -> None:
        """Put the node numbers in the place of the ids of both ends; ``owner`` lists the ids there are."""
        try:
            locate(ids, self.source)
            locate(ids, self.target)
        except UnknownId as unknown:
            raise InputError(f"{self.name}, {self.where(unknown.row)}: node {unknown.quoted} is not in {owner}; "
                             "add it there, or leave the edge out") from None


def tidy(edges: EdgeList, num_nodes: int) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Sort, merge and leave out. The arrays of ``edges`` are taken out of it and overwritten.

    Each edge (i, j) becomes the key 2 (min N + max) + [i > j]. One sort of the keys brings together what is given
    twice (equal keys) and what is given both ways (keys that differ in the last bit).

    Args:
        edges: with node numbers 0 to N - 1 for ids. An undirected edge gives both directions, a directed one its own;
            weights of an edge given twice are added up.
        num_nodes: N.

    Returns:
        (2, E') the edges by smaller end, larger end and direction; (E',) their weights, ``None`` if all are 1; notes.
    """
    key, weight, loops, zeros = _taken_as_keys(edges, num_nodes)
    given = len(key) - loops - zeros
    if given == 0 and not edges.may_be_empty:
        raise InputError(f"{edges.name} holds no edges besides self-loops and edges of weight 0")
    if weight is None or given == 0:
        weight = None
        key.sort()
        key = key[:given]
        key = key[_first(key)]
    else:
        order = np.lexsort((weight, key))[:given]  # by weight too: the order of the rows leaves no trace in a sum
        key, weight = key[order], weight[order]
        starts = np.flatnonzero(_first(key))
        key, weight = key[starts], np.add.reduceat(weight, starts, dtype=np.float64).astype(np.float32)
    repeated = given - len(key)
    notes = told(loops, "self-loop", "left out") + told(zeros, "edge", "left out", " of weight 0")
    notes += told(repeated, "duplicate edge", "merged" if weight is None else "merged, weights added up")
    if not edges.directed:
        key = np.repeat(key, 2)
        key[1::2] += 1
        weight = None if weight is None else np.repeat(weight, 2)
    one_way = len(key) - 2 * _both_ways(key)
    if one_way:
        notes.append(f"{one_way:,} of {len(key):,} edges are given in one direction only: both directions are used")
    return _from_keys(key, num_nodes), None if weight is None or (weight == 1).all() else weight, notes


def _taken_as_keys(edges: EdgeList, num_nodes: int) -> tuple[np.ndarray, np.ndarray | None, int, int]:
    """(E,) keys, (E,) weights, and the numbers of loops and of edges of weight 0, whose keys sort last."""
    source, target, weight = edges.source.values, edges.target.values, edges.weight
    edges.source.values = edges.target.values = np.empty(0, np.int64)
    edges.weight = None
    loops = zeros = 0
    for rows in blocks(len(source)):
        one, other = source[rows], target[rows]
        low, high = np.minimum(one, other), np.maximum(one, other)
        key = 2 * (low * num_nodes + high) + ((one > other) if edges.directed else 0)
        loop = low == high
        zero = np.zeros_like(loop) if weight is None else (weight[rows] == 0) & ~loop
        key[loop | zero] = _GONE
        source[rows] = key
        loops, zeros = loops + int(loop.sum()), zeros + int(zero.sum())
    return source, weight, loops, zeros


def _first(key: np.ndarray) -> np.ndarray:
    """(E,) whether a key differs from the one before."""
    first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    return first


def _both_ways(key: np.ndarray) -> int:
    """How many pairs of nodes are joined in both directions."""
    pairs = (key[rows.start:rows.stop + 1] >> 1 for rows in blocks(len(key)))
    return sum(int((pair[1:] == pair[:-1]).sum()) for pair in pairs)


def _from_keys(key: np.ndarray, num_nodes: int) -> np.ndarray:
    edge_index = np.empty((2, len(key)), dtype=np.int64)
    for rows in blocks(len(key)):
        low, high = np.divmod(key[rows] >> 1, num_nodes)
        turned = (key[rows] & 1).astype(bool)
        edge_index[0, rows] = np.where(turned, high, low)
        edge_index[1, rows] = np.where(turned, low, high)
    return edge_index


def told(count: int, what: str, done: str, of: str = "") -> list[str]:
    return [] if not count else [f"1 {what}{of} is {done}" if count == 1 else f"{count:,} {what}s{of} are {done}"]
