"""A user's own collection of graphs, from a folder or from memory, as one PyG ``Data`` that says whose each node is."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.datasets import read_tu, tu_name
from sgcl.errors import InputError, unknown_name
from sgcl.readers.assemble import add_features, add_labels, from_data, from_edges
from sgcl.readers.features import array_features, table_features
from sgcl.readers.ids import as_integers
from sgcl.readers.labels import read_labels
from sgcl.readers.read import read_graph
from sgcl.readers.sources import PARQUET_SUFFIXES, open_table, read_edges, suffix
from sgcl.readers.structure import STRUCTURAL, adjacency
from sgcl.readers.text import TEXT_SUFFIXES

MADE = ("degree", "walk", "ones")  # features made from the graphs that mean the same in each of them

_TABLES = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES)
_GRAPHS = (*_TABLES, ".graphml", ".npz")
_LABELS = "labels"  # what a table of labels beside the graphs is called
_FEATURES = (*_TABLES, ".npy", ".npz")


class _Columns(NamedTuple):
    """How the columns of tables are called, as in :func:`sgcl.readers.read_graph`."""

    source: str
    target: str
    weight: str | bool | None
    id_column: str


def read_collection(collection: str | Path | Sequence[Any], *, labels: str | Path | None = None,
                    features: str | Path | None = None, attributes: bool = False, source: str = "source",
                    target: str = "target", weight: str | bool | None = None, id_column: str = "id",
                    label_column: str = "label") -> Data:
    """Read a collection of graphs.

    Args:
        collection: a folder with a file for each graph, of the kinds that :func:`sgcl.readers.read_graph` takes, whose
            name without its ending is the graph's id (``labels.csv`` is none); or a folder in the TU format
            (``NAME_A.txt``, ``NAME_graph_indicator.txt``, ...), whose graphs are called 1 to G; or a list of PyG
            ``Data`` or NetworkX graphs, which are called 0 to G - 1.
        labels: a table with an id and a label column, a row for each graph; graphs may be left out.
        features: a folder with a table or array for each graph, under the graph's name; or ``"degree"`` (one-hot
            number of neighbours, 0 to 64 and more), ``"walk"`` or ``"ones"``. Unless given, what the graphs have
            (node labels of the TU format, one-hot; ``x`` of a ``Data``), else ``"degree"``.
        attributes: put the continuous node attributes of the TU format in front of the other features.
        source, target, weight: the columns of edge lists, as in :func:`sgcl.readers.read_graph`.
        id_column, label_column: the columns of ids, and of labels.

    Returns:
        ``x`` (N, F), ``edge_index`` (2, E) and, unless all are 1, ``edge_weight`` (E,) of all graphs one after the
        other; ``batch`` (N,) the number of each node's graph; ``num_graphs`` G; ``ids`` (G,); where there are labels
        ``y`` (G,), -1 for none, and ``classes``; ``feature_names`` where the columns have any; ``notes``.
    """
    if isinstance(features, str) and features not in STRUCTURAL and not Path(features).exists():
        raise unknown_name("folder or features", features, MADE)
    if isinstance(features, str) and features in STRUCTURAL and features not in MADE:
        raise InputError(f"{features} features differ from graph to graph: for a collection take one of "
                         f"{', '.join(MADE)}")
    columns = _Columns(source, target, weight, id_column)
    given = None if features is None or features in MADE else Path(features)
    folder = Path(collection) if isinstance(collection, str | Path) else None
    name = None if folder is None else _tu_name(folder)
    if attributes and name is None:
        raise InputError("attributes=True (--attributes) is for collections in the TU format: leave it out")
    if attributes and features is not None:
        raise InputError("attributes=True (--attributes) goes before the collection's own features: leave features= "
                         "(--features) out")
    if folder is not None and name is None:
        data = _from_files(folder, None if labels is None else Path(labels), given, columns)
    elif given is not None:
        raise InputError(f"{'the list' if folder is None else f'{folder}, in the TU format,'} holds its own features: "
                         f"leave {given} out, or take one of {', '.join(MADE)}")
    elif folder is None or name is None:
        data = _from_objects(collection, columns)  # type: ignore[arg-type]
    else:
        data = read_tu(folder, name, attributes=attributes)
        data.ids, data.notes = np.arange(1, data.num_graphs + 1), []
    _check_nodes(data)
    if given is None and (features is not None or data.x is None):
        data.x = STRUCTURAL[str(features or "degree")](
            adjacency(data.edge_index, data.get("edge_weight"), len(data.batch)))
        data.feature_names = None
    return data if labels is None else label_graphs(data, labels, id_column=id_column, label_column=label_column)


def read_files(files: Mapping[str, Any]) -> Data:
    """What :func:`read_collection`, where a ``collection`` is among the arguments, or else :func:`read_graph` reads."""
    return read_collection(**files) if "collection" in files else read_graph(**files)


def label_graphs(data: Data, labels: str | Path, *, id_column: str = "id", label_column: str = "label") -> Data:
    """The collection with the labels of a table instead of its own."""
    data = copy.copy(data)
    if data.get("ids") is None:
        data.ids = np.arange(data.num_graphs)
    add_labels(data, read_labels(open_table(labels), id_column, label_column), "graph", "collection")
    missing = int((data.y < 0).sum())
    if missing:
        data.notes = [*(data.get("notes") or []), f"{missing:,} of {len(data.y):,} graphs have no label: they are "
                                                  "embedded but not scored"]
    return data


def _tu_name(folder: Path) -> str | None:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: a collection is one, with an edge list for each graph or in the TU "
                         "format; a single graph is given as --graph")
    return tu_name(folder)


def _from_files(folder: Path, labels: Path | None, features: Path | None, columns: _Columns) -> Data:
    """A graph from each file that is not the labels; without ``x`` where no features are given."""
    files, others = _by_id(folder, _GRAPHS, without=labels)
    unread = files.pop(_LABELS, None)
    if not files:
        raise InputError(f"the collection is empty: {folder} holds no files that end in {', '.join(_GRAPHS)}")
    tables: Mapping[str, Path] = {}
    if features is not None:
        if not features.is_dir():
            raise InputError(f"{features} is one file: for a collection give a folder with a table for each graph, or "
                             f"one of {', '.join(MADE)}")
        tables, _ = _by_id(features, _FEATURES)
        if lacking := [name for name in files if name not in tables]:
            raise InputError(f"{features} has no features for graph {lacking[0]!r} ({len(lacking)} of {len(files)} "
                             "graphs missing); every graph needs a file of its name")
    whole = as_integers(files)
    ids = np.array(list(files)) if whole is None else whole
    order = np.argsort(ids, kind="stable")
    names = np.array(list(files))[order].tolist()
    data = _joined([_read_one(files[name], tables.get(name), columns) for name in names], names)
    data.ids = ids[order]
    if unread is not None:
        data.notes.append(f"{unread.name} is not taken as a graph: give it as labels= (--labels)")
    if others:
        data.notes.append(f"{others[0]} {f'and {len(others) - 1} more files are' if len(others) > 1 else 'is'} left "
                          "out: no graph by the end of its name")
    return data


def _by_id(folder: Path, endings: Iterable[str], without: Path | None = None) -> tuple[dict[str, Path], list[str]]:
    """The files by their names without the ending, and the names of those with another ending."""
    found: dict[str, Path] = {}
    others = []
    for file in sorted(folder.iterdir()):
        if file.is_dir() or file.name.startswith(".") or (without is not None and file.resolve() == without.resolve()):
            continue
        if suffix(file) not in endings:
            others.append(file.name)
            continue
        name = Path(file.name.removesuffix(".gz")).stem
        if name in found:
            raise InputError(f"{found[name]} and {file.name} are both called {name!r}: give each graph one file")
        found[name] = file
    return found, others


def _read_one(edges: Any, features: Path | None, columns: _Columns) -> Data:
    found = read_edges(edges, columns.source, columns.target, columns.weight, None)
    found.may_be_empty = True
    if features is None:
        return from_edges(found, None, None)
    given = (array_features(features, None) if suffix(features) in (".npy", ".npz") else
             table_features(open_table(features), columns.id_column))
    data = from_edges(found, given, None)
    add_features(data, given)
    return data


def _from_objects(graphs: Sequence[Any], columns: _Columns) -> Data:
    """PyG and NetworkX graphs; without ``x`` where none has any."""
    if not isinstance(graphs, Sequence):
        raise InputError(f"cannot read a collection from {type(graphs).__name__}; give a folder, or a list of PyG Data "
                         "or NetworkX graphs")
    parts = []
    for graph in graphs:
        if not isinstance(graph, Data):
            parts.append(_read_one(graph, None, columns))
        elif graph.edge_index is None or graph.edge_index.numel() == 0:
            parts.append(graph)
        else:
            parts.append(from_data(graph, None))
    if not parts:
        raise InputError("the collection is empty: it has no graphs")
    data = _joined(parts, list(map(str, range(len(parts)))))
    data.ids = np.arange(len(parts))
    if any(part.get("y") is not None for part in parts):
        data.y = torch.cat([torch.tensor([-1]) if part.get("y") is None else part.y.view(-1)[:1] for part in parts])
    return data


def _joined(parts: list[Data], names: list[str]) -> Data:
    """All graphs one after the other, without loops: ``names`` is how messages call them."""
    sizes = torch.tensor([int(part.num_nodes or 0) for part in parts])
    first = sizes.cumsum(0) - sizes
    edges = [torch.empty(2, 0, dtype=torch.long) if part.edge_index is None else part.edge_index for part in parts]
    data = Data(edge_index=torch.cat([pairs + start for pairs, start in zip(edges, first, strict=True)], dim=1),
                batch=torch.repeat_interleave(sizes), num_graphs=len(parts), num_nodes=int(sizes.sum()))
    if any(part.get("edge_weight") is not None for part in parts):
        data.edge_weight = torch.cat([torch.ones(pairs.size(1)) if part.get("edge_weight") is None
                                      else part.edge_weight.view(-1) for part, pairs in zip(parts, edges, strict=True)])
    if any(part.x is not None for part in parts):
        data.feature_names = parts[0].get("feature_names")
        data.x = torch.cat([_columns_like(parts[0], part, names[0], name)
                            for part, name in zip(parts, names, strict=True)])
    data.notes = _summed_up(parts, names)
    return data


def _columns_like(first: Data, part: Data, first_name: str, name: str) -> Tensor:
    """(n, F) the features of a graph, columns in the order of the first graph's."""
    if part.x is None or part.x.dim() != 2:
        raise InputError(f"graph {name!r} has no node features, but others have; give all of them x, or none")
    known, own = first.get("feature_names"), part.get("feature_names")
    if first.x is not None and (part.x.size(1) != first.x.size(1) or (known and own and set(own) != set(known))):
        raise InputError(f"graph {name!r} has {part.x.size(1)} features, graph {first_name!r} has {first.x.size(1)}: "
                         "all graphs need the same columns")
    x: Tensor = part.x if part.x.layout == torch.strided else part.x.to_dense()
    return x if not known or not own or own == known else x[:, [own.index(column) for column in known]]


def _summed_up(parts: list[Data], names: list[str]) -> list[str]:
    """The notes on the graphs, one of those that differ in numbers and names alone."""
    alike: dict[str, list[str]] = {}
    for part, name in zip(parts, names, strict=True):
        for note in part.get("notes") or []:
            said = note.split(": line", 1)[-1]
            alike.setdefault(re.sub(r"[\d,]+", "#", said), []).append(f"graph {name}: {note}")
    return [notes[0] + (f" (so in {len(notes):,} graphs)" if len(notes) > 1 else "") for notes in alike.values()]


def _check_nodes(data: Data) -> None:
    """Every graph has nodes, and some have edges; those that have none are counted in a note."""
    sizes = torch.bincount(data.batch, minlength=data.num_graphs)
    if bool((sizes == 0).any()):
        empty = data.ids[(sizes == 0).numpy()]
        raise InputError(f"graph {empty[0].item()!r} of the collection has no nodes ({len(empty)} of "
                         f"{data.num_graphs} graphs): leave it out")
    row, col = data.edge_index
    edges = torch.bincount(data.batch[row[row != col]], minlength=data.num_graphs)
    if not bool(edges.any()):
        raise InputError("no graph of the collection has an edge: there is nothing to learn from")
    lonely = int((edges == 0).sum())
    if lonely:
        data.notes.append(f"{lonely:,} of {data.num_graphs:,} graphs have no edges")
