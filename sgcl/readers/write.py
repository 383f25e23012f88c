"""A graph out again, under its ids: edge list, features and labels as files, or a NetworkX or SciPy graph."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.readers.parquet import parquet_module
from sgcl.readers.sources import suffix

_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


def write_graph(edges: str | Path, data: Data, *, features: str | Path | None = None,
                labels: str | Path | None = None) -> None:
    """Write what :func:`sgcl.readers.read_graph` reads back as the same graph.

    Args:
        edges: a ``.csv``, ``.tsv``, ``.parquet`` or ``.graphml`` file for the edges in the direction they have, with
            their weights. Only GraphML lists nodes without edges: for the others give ``features`` or ``labels``.
        data: the graph; ids are 0 to N - 1 where it has none.
        features: a ``.csv``, ``.tsv`` or ``.parquet`` file for the ids and features.
        labels: the same for the ids and labels, empty where there is none.
    """
    ids, (source, target) = _ids(data), data.edge_index.cpu().numpy()
    weight = data.get("edge_weight")
    weight = None if weight is None else weight.detach().cpu().numpy().reshape(-1)
    tables = []
    if suffix(edges) != ".graphml":
        alone = len(ids) - len(np.union1d(source, target))
        if alone and features is None and labels is None:
            raise InputError(f"{alone} nodes have no edges, which {Path(edges).name} cannot hold; give features= or "
                             "labels= too, or write .graphml")
        columns = {"source": ids[source], "target": ids[target]}
        tables.append((edges, columns if weight is None else {**columns, "weight": weight}))
    if features is not None:
        tables.append((features, {"id": ids, **_feature_columns(data)}))
    if labels is not None:
        tables.append((labels, {"id": ids, "label": _label_column(data)}))
    for path, _ in tables:
        if suffix(path) not in (".csv", ".tsv", ".parquet"):
            raise InputError(f"{path}: cannot tell what to write; its name should end in .csv, .tsv or .parquet")
    if suffix(edges) == ".graphml":
        _write_graphml(Path(edges), ids, source, target, weight)
    for path, columns in tables:
        _write_table(Path(path), columns)


def to_networkx(data: Data) -> Any:
    """A NetworkX graph whose nodes are the ids: directed, unless every edge has its reverse of the same weight."""
    import networkx  # type: ignore[import-untyped]

    ids, adj = _ids(data).tolist(), to_scipy(data)
    graph = networkx.Graph() if abs(adj - adj.T).nnz == 0 else networkx.DiGraph()
    graph.add_nodes_from(ids)
    entries = adj.tocoo()
    ends = ([ids[end] for end in side.tolist()] for side in (entries.row, entries.col))
    if data.get("edge_weight") is None:
        graph.add_edges_from(zip(*ends, strict=True))
    else:
        graph.add_weighted_edges_from(zip(*ends, entries.data.tolist(), strict=True))
    return graph


def to_scipy(data: Data) -> scipy.sparse.csr_array:
    """(N, N) adjacency, rows in the order of the ids: entry (i, j) is the weight of the edge from i to j, else 1."""
    weight = data.get("edge_weight")
    source, target = data.edge_index.cpu().numpy()
    value = np.ones(len(source), np.float32) if weight is None else weight.detach().cpu().numpy().reshape(-1)
    return scipy.sparse.csr_array((value, (source, target)), shape=(data.num_nodes, data.num_nodes))


def _ids(data: Data) -> np.ndarray:
    ids: np.ndarray = np.asarray(data.ids) if "ids" in data else np.arange(data.num_nodes)
    if ids.dtype.kind == "U":
        for text in ids.tolist():
            if _UNWRITABLE.search(text) or text != text.strip(" "):
                raise InputError(f"the id {text!r} holds signs that text files do not keep (line breaks, tabs, spaces "
                                 "around it); rename the node")
    return ids


def _feature_columns(data: Data) -> dict[str, np.ndarray]:
    if not isinstance(data.x, Tensor):
        raise InputError("the graph has no features to write; leave features= out")
    given = data.x.detach().cpu()
    x: np.ndarray = (given if given.layout == torch.strided else given.to_dense()).numpy()
    names = data.get("feature_names") or ["id"]
    if "id" in names:  # of the nodes
        names = [f"x{column}" for column in range(x.shape[1])]
    return dict(zip(names, x.T, strict=True))


def _label_column(data: Data) -> list[Any]:
    if not isinstance(data.y, Tensor):
        raise InputError("the graph has no labels to write; leave labels= out")
    names = data.classes.tolist() if "classes" in data else range(int(data.y.max()) + 1)
    return [None if number < 0 else names[number] for number in data.y.reshape(-1).tolist()]


def _write_table(path: Path, columns: dict[str, Any]) -> None:
    if suffix(path) == ".parquet":
        pq = parquet_module()
        import pyarrow as pa

        with _created(path, binary=True) as file:
            pq.write_table(pa.table({name: pa.array(column) for name, column in columns.items()}), file)
        return
    with _created(path) as file:
        writer = csv.writer(file, delimiter="," if suffix(path) == ".csv" else "\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() if isinstance(column, np.ndarray) else column
                               for column in columns.values()), strict=True))


def _write_graphml(path: Path, ids: np.ndarray, source: np.ndarray, target: np.ndarray,
                   weight: np.ndarray | None) -> None:
    names = [quoteattr(str(name)) for name in ids.tolist()]
    with _created(path) as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        if weight is not None:
            file.write('<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n')
        file.write('<graph edgedefault="directed">\n')
        file.writelines(f"<node id={name}/>\n" for name in names)
        ends = zip(source.tolist(), target.tolist(), strict=True)
        for (one, other), value in zip(ends, [None] * len(source) if weight is None else weight.tolist(), strict=True):
            inside = "" if value is None else f'<data key="weight">{value!r}</data>'
            file.write(f"<edge source={names[one]} target={names[other]}>{inside}</edge>\n")
        file.write("</graph>\n</graphml>\n")


def _created(path: Path, *, binary: bool = False) -> Any:
    try:
        if binary:
            return path.open("wb")
        make = gzip.open if path.suffix == ".gz" else open
        return make(path, "wt", encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
