"""A user's own graph, from files or from memory, as a PyG ``Data`` whose nodes are ordered by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError, check_kind, unknown_name
from sgcl.readers.arrays import row_ids
from sgcl.readers.assemble import add_features, add_labels, from_data, from_edges
from sgcl.readers.features import Features, array_features, table_features
from sgcl.readers.ids import Ids
from sgcl.readers.labels import Labels, read_labels
from sgcl.readers.sources import open_table, read_edges, suffix
from sgcl.readers.structure import STRUCTURAL, adjacency

_ARRAY_SUFFIXES = (".npy", ".npz")


def read_graph(edges: Any, *, features: Any = None, labels: str | Path | None = None,
               ids: str | Path | Sequence[Any] | np.ndarray | None = None, source: str = "source",
               target: str = "target", weight: str | bool | None = None, id_column: str = "id",
               label_column: str = "label") -> Data:
    """Read a graph from files or from another package's form.

    Nodes are ordered by id: integers by size, text by code point. Ids in text files that are all plain integers
    (no ``007``, no ``+7``) are integers, otherwise all ids are text.

    Args:
        edges: the path of an edge list (``.csv``, ``.tsv``, ``.txt``, ``.edgelist``..., plain or ``.gz``, or
            ``.parquet``), of a ``.graphml`` file or of an adjacency that ``scipy.sparse.save_npz`` wrote; or a SciPy
            sparse matrix, a NetworkX graph or a PyG ``Data``. An edge list in text form may do without a header if it
            has two columns, or three with the weight last. A ``Data`` keeps its edges and its order of nodes.
        features: the path of a table with an id column and else numbers, or of an (N, F) array (``.npy``, ``.npz``,
            sparse too), or such an array; or a word for features made from the graph: ``"degree"``, ``"walk"``,
            ``"spectral"``, ``"ones"``, or ``"learned"`` for a vector a node, trained with the model. A file names all
            nodes there are.
        labels: the path of a table with an id and a label column; nodes may be left out.
        ids: the ids of the rows of what carries none, that is of array features and of a sparse adjacency; or a
            ``.npy`` file of them. Without it row i is the node of id i.
        source: the column of an edge's one end.
        target: the column of the other end.
        weight: the column (attribute in GraphML and NetworkX) of the edge weights, numbers >= 0; ``None`` for
            ``"weight"`` where there is one, ``False`` for no weights.
        id_column: the column of the ids in the features and labels.
        label_column: the column of the labels.

    Returns:
        ``x`` (N, F) float32, dense or sparse CSR, where features were asked for; ``feature_names``, F names where they
        came from a table; ``edge_index`` (2, E) in the direction given, sorted, no edge twice, no self-loops;
        ``edge_weight`` (E,) unless all are 1; ``y`` (N,) with -1 for no label and ``classes`` (C,), the names of the
        classes, where labels were given; ``ids`` (N,), int64 or text; ``notes``, one line for each thing that was left
        out, merged or taken some way.
    """
    rows = row_ids(ids)
    if rows is not None and _carries_ids(edges) and _carries_ids(features):
        raise InputError("ids= (--ids) names the rows of array features or of a sparse adjacency, but neither is "
                         "given; leave it out")
    check_kind(edges)
    if isinstance(edges, Data):
        data = from_data(edges, rows)
        given, named = _features(features, id_column, rows), _labels(labels, id_column, label_column)
    else:
        found = read_edges(edges, source, target, weight, rows)
        given, named = _features(features, id_column, rows), _labels(labels, id_column, label_column)
        data = from_edges(found, given, named)
    if given is not None:
        add_features(data, given)
    elif features is not None:
        data.x = STRUCTURAL[features](adjacency(data.edge_index, data.get("edge_weight"), data.num_nodes))
        data.feature_names = None
    elif data.x is None:
        data.notes.append(f"no features: give a file, or one of {', '.join(sorted(STRUCTURAL))}")
    if named is not None:
        add_labels(data, named)
    return data


def _carries_ids(given: Any) -> bool:
    """Whether this has ids of its own, or needs none."""
    if isinstance(given, str | Path):
        return suffix(given) not in _ARRAY_SUFFIXES
    return not (isinstance(given, np.ndarray | Tensor | Data) or scipy.sparse.issparse(given))


def _features(features: Any, id_column: str, rows: Ids | None) -> Features | None:
    """Features that are given; None for none and for a word that says how to make them."""
    if features is None or (isinstance(features, str) and features in STRUCTURAL):
        return None
    if not isinstance(features, str | Path):
        return array_features(features, rows)
    if not Path(features).suffix and not Path(features).exists():
        raise unknown_name("file or features", str(features), STRUCTURAL)
    if suffix(features) in _ARRAY_SUFFIXES:
        return array_features(features, rows)
    return table_features(open_table(features, *_ARRAY_SUFFIXES), id_column)


def _labels(labels: str | Path | None, id_column: str, label_column: str) -> Labels | None:
    return None if labels is None else read_labels(open_table(labels), id_column, label_column)
