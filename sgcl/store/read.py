"""A store opened: a graph whose arrays stay in their files until a batch takes some of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import ram
from sgcl.errors import InputError
from sgcl.graph import Features, Graph
from sgcl.mapped import MappedFeatures
from sgcl.sparse import CSR
from sgcl.store.arrays import map_array
from sgcl.store.manifest import read_manifest


def open_store(path: str | Path) -> Graph:
    """The graph of a store. Nothing is read but what its manifest and the heads of its files say.

    The adjacency is symmetric, so that its rows are its columns too: one CSR serves both ways.
    """
    graph: Graph = read_store(path).graph
    return graph


def read_store(path: str | Path) -> Data:
    """The graph of a store as ``graph``, beside what :func:`sgcl.readers.read_graph` gives: ``ids``, ``y``,
    ``classes``, ``feature_names``, ``notes``, and the masks of a split where it has one."""
    folder = Path(path)
    manifest, found = map_store(folder)
    nodes, width = manifest["nodes"], manifest["features"]
    adj = CSR(_tensor(found["ptr"]), _tensor(found["idx"]), _optional(found.get("value")), symmetric=True)
    matrix = _tensor(found["x"]) if "x" in found else CSR(
        *(_tensor(found[name]) for name in ("x_ptr", "x_idx", "x_value")), num_cols=width)
    if adj.shape[0] != nodes or int(adj.ptr[-1]) != adj.nnz or tuple(matrix.shape) != (nodes, width):
        raise InputError(f"{folder}: its arrays are not those of {nodes} nodes; import the graph again")
    x = cast(Features, MappedFeatures(matrix, manifest["digest"]))  # of which only rows are taken
    data = Data(graph=Graph(x, adj), num_nodes=nodes)
    data.ids, data.notes, data.feature_names = found["ids"], [], manifest.get("feature_names")
    data.store = str(folder)
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        if name in found:
            data[name] = torch.from_numpy(np.array(found[name]))
    if "classes" in found:
        data.classes = found["classes"]
    return data


def map_store(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The manifest of a store, and its arrays, mapped."""
    manifest = read_manifest(folder)
    return manifest, {name: map_array(folder, record) for name, record in manifest["arrays"].items()}


def label_nodes(data: Data, labels: str | Path, *, id_column: str = "id", label_column: str = "label") -> Data:
    """``data`` of a store with the labels of a table."""
    from sgcl.readers.assemble import add_labels
    from sgcl.readers.labels import read_labels
    from sgcl.readers.sources import open_table

    data = data.__copy__()
    add_labels(data, read_labels(open_table(labels), id_column, label_column))
    return data


def in_memory(data: Data, what: str) -> Data:
    """``data`` of a store as an ordinary one, with ``x`` and ``edge_index``, for whatever needs all of it; any other as
    it is. ``what`` begins the message where the memory does not suffice."""
    if not isinstance(data.get("graph"), Graph):
        return data
    graph: Graph = data.graph.whole(what)
    take = 32 * graph.adj.nnz + int(cast(MappedFeatures, graph.x).row_bytes * graph.num_nodes)
    if take > ram.free_memory():
        raise InputError(f"{what} needs the whole graph in memory, about {take / 2**30:.1f} GB, but "
                         f"{ram.free_memory() / 2**30:.1f} GB are free")
    graph = graph.in_memory()
    whole = data.__copy__()
    del whole["graph"]
    whole.edge_index = torch.stack([graph.adj.row, graph.adj.idx])
    if graph.adj.value is not None:
        whole.edge_weight = graph.adj.value
    whole.x = graph.x
    return whole


def _optional(array: np.ndarray | None) -> Tensor | None:
    return None if array is None else _tensor(array)


def _tensor(array: np.ndarray) -> Tensor:
    """The tensor on the array's memory, which nobody here writes to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        return torch.from_numpy(np.asarray(array))
