"""The graph of a run: loaded as its configuration says, and the nodes of it that a protocol knows."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from sgcl import datasets, levels, store
from sgcl.errors import InputError
from sgcl.evaluation import PROTOCOLS
from sgcl.evaluation.protocol import Protocol
from sgcl.graph import Graph


def load_graph(config: Mapping[str, Any], data_root: str | None = None, *, download: bool = False) -> Data:
    """The graph that a run's configuration names: of the catalogue, or of one's own files."""
    if "files" in config:
        return in_order(store.read_files(config["files"]), config.get("feature_names"))
    return levels.load_dataset(config["dataset"], data_root, attributes=config.get("attributes", False),
                               download=download)


def protocol_for(dataset: str, files: Mapping[str, Any] | None = None) -> str:
    """The protocol of a dataset of the catalogue, and one for graphs and one for collections of one's own."""
    if files is not None:
        return "tu" if levels.is_collection(dataset, files) else "random"
    return datasets.DATASETS[dataset].protocol or "random"


def restricted_graph(data: Data, protocol: str) -> tuple[Data, Graph]:
    """The nodes that the protocol knows, and their graph."""
    graph = Graph.from_data(data)  # first, so that what is wrong is told of the graph as it came
    levels.check_protocol(protocol, graph.graph_ptr is not None)
    if type(PROTOCOLS[protocol]).restrict is not Protocol.restrict:
        data = store.in_memory(data, f"protocol {protocol!r}")
    part = PROTOCOLS[protocol].restrict(data)
    return (data, graph) if part is data else (part, Graph.from_data(part))


def node_ids(data: Data) -> np.ndarray:
    """(N,) the ids of the nodes, or (G,) of the graphs of a collection, under which embeddings are written: the user's
    own, or numbers in the dataset's order."""
    if "ids" in data:
        return np.asarray(data.ids)
    if "batch" in data:
        return np.arange(data.num_graphs)
    ids: np.ndarray = data.n_id.numpy() if "n_id" in data else np.arange(data.num_nodes)
    return ids


def labels_of(data: Data) -> np.ndarray | None:
    """(N,) labels for colouring, where there are any."""
    return data.y.numpy() if isinstance(data.get("y"), torch.Tensor) and data.y.dim() == 1 else None


def in_order(data: Data, names: list[str] | None) -> Data:
    """``data`` with its feature columns in the order of ``names``; as it is where one of the two has no names."""
    own = data.get("feature_names")
    if names is None or own is None or own == names:
        return data
    if isinstance(data.get("graph"), Graph):
        raise InputError(f"{data.store}: its feature columns are not those that the run was trained on, in their "
                         "order: import it with the same columns")
    if data.get("batch") is not None:
        data = levels.with_columns(data, names)
    place = {name: column for column, name in enumerate(data.feature_names)}
    if place.keys() != set(names):
        differing = [f"{name!r} is missing" for name in sorted(set(names) - place.keys())[:1]]
        differing += [f"{name!r} is new" for name in sorted(place.keys() - set(names))[:1]]
        raise InputError(f"the feature columns are not those that the run was trained on: {', '.join(differing)}; give "
                         "the same columns, in any order")
    data = copy.copy(data)
    data.x, data.feature_names = data.x[:, [place[name] for name in names]], names
    return data
