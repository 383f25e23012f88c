"""What is for the nodes of a graph and what for the graphs of a collection, told apart before anything is read."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

from sgcl import datasets
from sgcl.errors import InputError
from sgcl.evaluation import PROTOCOLS, TASKS
from sgcl.methods import METHODS
from sgcl.readers import STRUCTURAL

_FORM = "-graphs"  # ends the name of the form for graphs of a method for nodes


def is_collection(dataset: str, files: Mapping[str, Any] | None = None) -> bool:
    """Whether a dataset of the catalogue, or one's own ``files``, are a collection of graphs."""
    return datasets.DATASETS[dataset].task == "graph" if files is None else "collection" in files


def method_for(method: str, collection: bool) -> str:
    """The method's name; for a collection that of its form for graphs, which a warning then says."""
    level, form = METHODS[method].level, method + _FORM  # type: ignore[attr-defined]
    if level == ("graph" if collection else "node"):
        return method
    if not collection:
        named = ", ".join(name for name, entry in datasets.DATASETS.items() if entry.task == "graph")
        raise InputError(f"{method} embeds the graphs of a collection: give --collection FOLDER, or --dataset with one "
                         f"of {named}; or take a method for nodes")
    if form not in METHODS:
        known = ", ".join(name for name, kind in METHODS.items() if kind.level == "graph")  # type: ignore[attr-defined]
        raise InputError(f"{method} embeds the nodes of a graph, this is a collection of graphs: take one of {known}")
    warnings.warn(f"{method} is for the nodes of a graph: on a collection of graphs {form} is taken", stacklevel=2)
    return form


def title(method: str) -> str:
    """A method as tables call it, whatever its form: SGCL, GRACE."""
    return method.removesuffix(_FORM).upper()


def check_level(method: str, dataset: str | None, files: Mapping[str, Any] | None = None) -> None:
    """Raise unless what a fitted method embeds is what is given to it."""
    of_graphs = METHODS[method].level == "graph"  # type: ignore[attr-defined]
    if is_collection(dataset or "", files) != of_graphs:
        raise InputError("the run embeds the graphs of a collection: give --collection FOLDER" if of_graphs else
                         "the run embeds the nodes of a graph, this is a collection of graphs: give --graph EDGES")


def check_protocol(protocol: str, collection: bool) -> None:
    """Raise unless the protocol splits what is there."""
    level = "graph" if collection else "node"
    if PROTOCOLS[protocol].level != level:
        known = ", ".join(name for name, one in PROTOCOLS.items() if one.level == level)
        raise InputError(f"protocol {protocol!r} " + (
            f"splits the nodes of a graph, this is a collection of graphs: take {known}" if collection else
            f"scores collections of graphs, not the nodes of one: take one of {known}"))


def check_tasks(tasks: Iterable[str], collection: bool) -> None:
    """Raise on a task that cannot be asked of the graphs of a collection."""
    for name in tasks:
        if collection and not TASKS[name].of_graphs:
            known = ", ".join(other for other, task in TASKS.items() if task.of_graphs)
            raise InputError(f"--task {name} is about the nodes of a graph, this is a collection of graphs: ask for "
                             f"one of {known}")


def load_dataset(name: str, root: str | Path | None = None, *, attributes: bool = False,
                 download: bool = False) -> Data:
    """A dataset of the catalogue: one graph, or the graphs of a collection side by side."""
    if is_collection(name):
        return datasets.load_side_by_side(name, root, attributes=attributes, download=download)
    if attributes:
        raise InputError(f"{name} is one graph, and --attributes is for collections: leave it out")
    return datasets.load(name, root, download=download)


def with_columns(data: Data, names: list[str]) -> Data:
    """The collection with a column of zeros for each of the node labels among ``names`` that none of its nodes has, and
    without columns of zeros for labels that are not among them."""
    used = data.x.any(0).tolist()
    kept = [column for column, name in enumerate(data.feature_names)
            if used[column] or name in names or not name.startswith(datasets.ONE_HOT)]
    own = [data.feature_names[column] for column in kept]
    missing = [name for name in names if name not in own and name.startswith(datasets.ONE_HOT)]
    data = copy.copy(data)
    data.x = torch.cat([data.x[:, kept], torch.zeros(len(data.x), len(missing))], dim=1)
    data.feature_names = [*own, *missing]
    return data


def same_features(config: Mapping[str, Any], files: Mapping[str, Any]) -> dict[str, Any]:
    """``files`` of a collection, with features made as a run's were unless they are given."""
    trained = {**config.get("files", {}), **{name: config[name] for name in ("attributes",) if name in config}}
    kept = {name: value for name, value in trained.items()
            if name == "attributes" or (name == "features" and value in STRUCTURAL)}
    return {**kept, **files} if "collection" in files else dict(files)
