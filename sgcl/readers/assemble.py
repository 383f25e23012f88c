"""Edges, features and labels, each under ids, put together into one graph."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.readers.arrays import row_ids
from sgcl.readers.edges import EdgeList, tidy
from sgcl.readers.features import Features
from sgcl.readers.ids import Ids, UnknownId, first_repeat, locate
from sgcl.readers.labels import Labels
from sgcl.readers.structure import sparse_tensor


def from_edges(found: EdgeList, given: Features | None, named: Labels | None) -> Data:
    """Edges between the nodes there are, ordered by id.

    Those are the nodes that the source of the edges lists; where it lists none, those that have features; without
    features, the ends of the edges and the nodes that have labels. Arrays of ``found`` are overwritten.
    """
    ids = number_nodes([found], given, named)
    edge_index, weight, notes = tidy(found, len(ids))
    data = Data(edge_index=torch.from_numpy(edge_index), num_nodes=len(ids))
    if weight is not None:
        data.edge_weight = torch.from_numpy(weight)
    data.ids, data.notes = ids, [*found.notes, *notes]
    return data


def number_nodes(parts: Sequence[EdgeList], given: Features | None, named: Labels | None) -> np.ndarray:
    """(N,) the ids of the nodes there are, ascending; the ends of the edges of all ``parts`` become their numbers."""
    for found in parts:
        found.check()
        if given is not None and given.by_number and found.source.texts is not None:
            raise InputError(f"{given.name}: its rows go by number, but the ids in {found.name} are text such as "
                             f"{found.source.quoted(0)}; give the ids of the rows with ids= (--ids), or a table with "
                             "an id column")
    ends = [end for found in parts for end in (found.source, found.target)]
    listed = [found.nodes for found in parts if found.nodes is not None]
    _one_kind([*ends, *(column.ids for column in (given, named) if column is not None), *listed])
    owner = parts[0].name
    if listed:
        ids = _union([*ends, *listed])
    elif given is not None:
        ids = given.ids.distinct()
        owner = f"{given.name} (rows for the ids 0 to {len(ids) - 1})" if given.by_number else given.name
    else:
        ids = _union(ends)
        if named is not None:
            ids = np.union1d(ids, _labelled(named, ids, owner))
    for found in parts:
        found.number(ids, owner)
    return ids


def from_data(given: Data, rows: Ids | None) -> Data:
    """A copy that shares its tensors, with ids (``rows``, its own, or 0 to N - 1) and with notes on its edges."""
    data = copy.copy(given)
    num_nodes = int(data.num_nodes or 0)
    rows = row_ids(data.get("ids")) if rows is None else rows
    if rows is not None and len(rows) != num_nodes:
        raise InputError(f"the graph has {num_nodes} nodes, but {len(rows)} ids; give one for each node")
    data.num_nodes = num_nodes
    data.ids = np.arange(num_nodes) if rows is None else rows.values if rows.texts is None else np.array(rows.texts)
    source, target = _checked_ends(data.edge_index, num_nodes)
    weight = data.get("edge_weight")
    if weight is not None:
        weight = weight.detach().cpu().numpy().astype(np.float32).reshape(-1)
        if len(weight) != len(source):
            raise InputError(f"data.edge_weight has {len(weight)} entries for {len(source)} edges; one for each edge")
    found = EdgeList("the graph", Ids(source), Ids(target), weight)
    found.check()
    data.notes = tidy(found, num_nodes)[2]
    return data


def add_features(data: Data, given: Features) -> None:
    """Set ``x`` and ``feature_names``; every node needs a row, and every row a node."""
    x = given.ordered(feature_rows(data.ids, given))
    data.x = sparse_tensor(x) if scipy.sparse.issparse(x) else torch.from_numpy(x)
    data.feature_names = given.columns


def feature_rows(ids: np.ndarray, given: Features) -> np.ndarray:
    """(N,) the node of each row of the features."""
    number = _places(ids, given.ids, given.name, given.where)
    if len(number) < len(ids):
        missing = np.ones(len(ids), dtype=bool)
        missing[number] = False
        raise InputError(f"{given.name} has no row for node {ids[missing][0].item()!r} "
                         f"({int(missing.sum())} of {len(ids)} nodes missing); every node needs features")
    return number


def add_labels(data: Data, named: Labels, item: str = "node", owner: str = "graph") -> None:
    """Set ``y``, -1 for nodes (or graphs of a collection) without a label, and ``classes``."""
    y = np.full(len(data.ids), -1)
    y[_places(data.ids, named.ids, named.table.name, named.table.where, item, owner)] = named.y
    data.y, data.classes = torch.from_numpy(y), named.classes


def _one_kind(columns: list[Ids]) -> None:
    """Where some ids are text, integers are taken as text too."""
    if any(column.texts is not None for column in columns):
        for column in columns:
            column.to_text()


def _union(columns: list[Ids]) -> np.ndarray:
    """The ids of all columns, ascending."""
    if columns[0].texts is not None:
        return np.array(sorted(set().union(*(column.texts or () for column in columns))))
    ids = columns[0].distinct()
    for column in columns[1:]:
        ids = np.union1d(ids, column.distinct())
    return ids


def _labelled(named: Labels, ids: np.ndarray, owner: str) -> np.ndarray:
    labelled = named.ids.distinct()
    if not np.isin(labelled, ids, assume_unique=True).any():
        raise InputError(f"{named.table.name}: none of its ids, such as {named.ids.quoted(0)}, is in {owner}; "
                         "give the labels of this graph")
    return labelled


def _checked_ends(edge_index: Any, num_nodes: int) -> np.ndarray:
    """(2, E) a copy of the edges, if they are edges between these nodes."""
    if (not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.size(0) != 2
            or edge_index.is_floating_point()):
        raise InputError("data.edge_index must be a (2, E) integer tensor")
    ends: np.ndarray = edge_index.cpu().numpy().astype(np.int64)
    if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < num_nodes:
        raise InputError(f"data.edge_index names node {ends.min() if ends.min() < 0 else ends.max()}, but nodes are "
                         f"numbered 0 to {num_nodes - 1}")
    return ends


def _places(ids: np.ndarray, column: Ids, name: str, where: Callable[[int], str], item: str = "node",
            owner: str = "graph") -> np.ndarray:
    """(n,) the node number of each row of a file in which every node has at most one."""
    if ids.dtype.kind == "U":
        column.to_text()
    order = np.argsort(ids, kind="stable")
    try:
        number: np.ndarray = order[locate(ids[order], column)]
    except UnknownId as unknown:
        raise InputError(f"{name}, {where(unknown.row)}: {item} {unknown.quoted} is not in the {owner}; "
                         f"leave the row out, or add the {item}") from None
    row = first_repeat(number)
    if row is not None:
        raise InputError(f"{name}, {where(row)}: {item} {ids[number[row]].item()!r} is there a second time; "
                         f"give each {item} one row")
    return number
