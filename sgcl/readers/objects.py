"""Graphs that other packages hold in memory: SciPy sparse matrices and NetworkX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.arrays import sparse_matrix
from sgcl.readers.edges import EdgeList
from sgcl.readers.ids import LONGEST, Ids, Texts


def from_matrix(name: str, given: Any, rows: Ids | None, *, weighted: bool) -> EdgeList:
    """Entry (i, j) of an (N, N) adjacency is the edge from i to j, its value the weight; zeros are no edges.

    Args:
        name: the source, for messages.
        given: a SciPy sparse matrix or array.
        rows: the ids of the rows; 0 to N - 1 if ``None``.
        weighted: whether to read the values as weights, or else as ones.
    """
    matrix = sparse_matrix(name, given)
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name}: an adjacency of shape {matrix.shape}; expected as many rows as columns")
    if rows is not None and len(rows) != matrix.shape[0]:
        raise InputError(f"{name}: {matrix.shape[0]} rows, but {len(rows)} ids; give one for each row")
    matrix.eliminate_zeros()
    nodes = Ids(np.arange(matrix.shape[0])) if rows is None else rows
    entries = matrix.tocoo()
    source, target = (Ids(nodes.values[end], nodes.texts) for end in (entries.row, entries.col))
    weight = entries.data.astype(np.float32) if weighted else None
    return EdgeList(name, source, target, weight, nodes=Ids(nodes.values.copy(), nodes.texts),
                    where=lambda edge: f"entry ({entries.row[edge]}, {entries.col[edge]})")


def from_networkx(graph: Any, weight: str | bool | None) -> EdgeList:
    """A NetworkX graph of any of its four kinds; nodes that are all integers or all text.

    Args:
        graph: the graph.
        weight: the edge attribute that holds the weights; ``None`` for ``"weight"`` where edges have one, ``False``
            for no weights.
    """
    name = "the NetworkX graph"
    encode = _encoder(list(graph))
    ends = [(one, other) for one, other in graph.edges()]
    source, target = (encode([pair[side] for pair in ends]) for side in (0, 1))
    key = weight if isinstance(weight, str) else "weight"
    given = [] if weight is False else [attributes.get(key) for _, _, attributes in graph.edges(data=True)]
    weighted = isinstance(weight, str) or any(value is not None for value in given)
    return EdgeList(name, source, target, _weights(name, key, given, ends) if weighted else None,
                    nodes=encode(list(graph)), directed=graph.is_directed(),
                    where=lambda edge: f"edge {ends[edge][0]!r} to {ends[edge][1]!r}")


def is_networkx(given: Any) -> bool:
    """Whether this is a NetworkX graph, without importing NetworkX to find out."""
    return any(kind.__module__.startswith("networkx.") for kind in type(given).__mro__) and hasattr(given, "edges")


def _encoder(nodes: list[Any]) -> Any:
    """A function from a list of nodes to their ids, all of one kind."""
    kinds = {type(node) for node in nodes}
    if all(issubclass(kind, str) for kind in kinds):
        for node in nodes:
            if not node or "\0" in node or len(node) > LONGEST:
                raise InputError(f"the NetworkX graph: the node {node[:20]!r} is empty, holds a NUL or is longer than "
                                 f"{LONGEST} characters; relabel it")
        texts = Texts()
        texts.encode(nodes)
        return lambda names: Ids(texts.encode(names), texts.list())
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        if any(not -2**63 <= int(node) < 2**63 for node in nodes):
            raise InputError("the NetworkX graph: a node is an integer beyond 64 bits; relabel it as text")
        return lambda names: Ids(np.array(names, dtype=np.int64))
    raise InputError(f"the NetworkX graph: nodes of type {', '.join(sorted(kind.__name__ for kind in kinds))}; relabel "
                     "them as all integers or all text, e.g. by networkx.convert_node_labels_to_integers")


def _weights(name: str, key: str, given: list[Any], ends: list[Any]) -> np.ndarray:
    for value, (one, other) in zip(given, ends, strict=True):
        if not isinstance(value, int | float | np.number) or isinstance(value, bool):
            what = "no weight" if value is None else f"the weight {value!r}"
            raise InputError(f"{name}: the edge {one!r} to {other!r} has {what} under {key!r}; give every edge a "
                             "number, or weight=False for none")
    with np.errstate(over="ignore"):
        return np.array(given, dtype=np.float64).astype(np.float32)
