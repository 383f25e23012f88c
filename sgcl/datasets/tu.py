"""Collections of labelled graphs in the format of TU Dortmund: Morris et al., TUDataset, 2020.

Text files of numbers: ``A`` (node pairs, counted from 1), ``graph_indicator`` (the graph of each node),
``graph_labels``, and where there are any ``node_labels`` and ``node_attributes``. Copies of them differ in repeated
lines and line ends, so they carry no checksum; nothing in a text can run, and their numbers are checked.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.datasets.tables import Array, check_nodes, count_rows, read_columns, read_table
from sgcl.errors import InputError
from sgcl.sparse import CSR

MAX_DEGREE = 64  # degrees from here on share a column where degrees stand in for features

ONE_HOT = "label "  # begins the name of a column that says whether a node has a label

_MOST_LABELS = 1 << 14
_MORRIS = "Morris et al., TUDataset: A Collection of Benchmark Datasets for Learning with Graphs, 2020"


def split_collection(data: Data) -> list[Data]:
    """One ``Data`` for each graph of a collection side by side, with ``batch`` (N,) and ``y`` (G,): ``x`` (n, F),
    ``edge_index`` (2, e), ``y`` (1,)."""
    first = F.pad(torch.bincount(data.batch, minlength=len(data.y)).cumsum(0), (1, 0))             # (G + 1,)
    edges = torch.bincount(data.batch[data.edge_index[0]], minlength=len(data.y)).tolist()
    parts = zip(data.x.split(first.diff().tolist()), data.edge_index.split(edges, dim=1), first[:-1].tolist(), data.y,
                strict=True)
    return [Data(x=rows, edge_index=pairs - start, y=label.view(1)) for rows, pairs, start, label in parts]


def tu_name(folder: Path) -> str | None:
    """NAME, where a folder holds files of the TU format, such as NAME_graph_indicator.txt; ``None`` where it does not.
    """
    parts = ("_graph_indicator.txt", "_graph_labels.txt")
    names = sorted({file.name.removesuffix(part) for part in parts for file in folder.glob(f"*{part}")})
    if len(names) > 1:
        raise InputError(f"{folder} holds several collections, {' and '.join(names[:2])}: give each its own folder")
    return names[0] if names else None


def read_tu(folder: Path, name: str, *, attributes: bool = False) -> Data:
    """All graphs of a collection side by side, edges sorted and each once: ``x`` (N, F), ``edge_index`` (2, E),
    ``batch`` (N,) the graph of each node, ``num_graphs`` G, and where there are graph labels ``y`` (G,) and ``classes``
    (C,).

    The features are one-hot node labels, called so in ``feature_names``; without those, one-hot degrees, 0 to 64 and
    more; with ``attributes``, the continuous node attributes in front of them.
    """
    data = _read_parts(folder, name)
    if (folder / f"{name}_graph_labels.txt").is_file():
        data.classes = np.unique(_table(folder, name, "graph_labels", np.int64))
    return with_attributes(name, data) if attributes else named_features(data)


def with_attributes(name: str, data: Data) -> Data:
    """The collection with its continuous node attributes in front of the other features."""
    if data.get("attributes") is None:
        raise InputError(f"{name} has no node attributes: leave attributes=True (--attributes) out")
    names = named_features(data).get("feature_names")
    if names is not None:
        data.feature_names = [*(f"attribute {number}" for number in range(data.attributes.size(1))), *names]
    data.x = torch.cat([data.attributes, data.x], dim=1)
    return data


def named_features(data: Data) -> Data:
    """The collection with the names of its one-hot node labels, by which columns of another are found again."""
    if data.get("label_values") is not None:
        data.feature_names = [f"{ONE_HOT}{value}" for value in data.label_values.tolist()]
    return data


def _read(name: str, root: Path) -> Data:
    return _read_parts(root / "TUDataset" / name / "raw", name, labelled=True)


def _read_parts(folder: Path, name: str, *, labelled: bool = False) -> Data:
    """Also ``attributes`` (N, A) and ``label_values`` (F,), where there are any."""
    batch = _table(folder, name, "graph_indicator", np.int64) - 1      # (N,)
    labels = None
    if labelled or (folder / f"{name}_graph_labels.txt").is_file():
        labels = np.unique(_table(folder, name, "graph_labels", np.int64), return_inverse=True)[1]
    nodes = len(batch)
    graphs = len(labels) if labels is not None else int(batch[-1]) + 1 if nodes else 0
    if nodes == 0 or batch[0] != 0 or np.any((np.diff(batch) < 0) | (np.diff(batch) > 1)) or batch[-1] >= graphs:
        raise InputError(f"{folder / name}_graph_indicator.txt does not count graphs 1 to {graphs} in order")
    path = folder / f"{name}_A.txt"
    pairs = read_columns(path, np.int64, count_rows(path)) - 1             # (2, rows)
    check_nodes(path, pairs, nodes)
    row, col = torch.from_numpy(pairs)
    adj = CSR.from_coo(row[row != col], col[row != col], shape=(nodes, nodes))
    data = Data(edge_index=torch.stack([adj.row, adj.idx]), batch=torch.from_numpy(batch), num_graphs=graphs)
    if labels is not None:
        data.y = torch.from_numpy(labels)
    if (folder / f"{name}_node_labels.txt").is_file():
        node_labels = torch.from_numpy(_table(folder, name, "node_labels", np.int64, nodes))
        least, most = int(node_labels.min()), int(node_labels.max())
        if most - least >= _MOST_LABELS:
            raise InputError(f"{folder / name}_node_labels.txt: labels run from {least} to {most}, each of which would "
                             f"be a column: number them so that there are at most {_MOST_LABELS}")
        data.x, data.label_values = _one_hot(node_labels - least, most - least + 1), torch.arange(least, most + 1)
    else:
        data.x = _one_hot(adj.ptr.diff().clamp(max=MAX_DEGREE), MAX_DEGREE + 1)
    if (folder / f"{name}_node_attributes.txt").is_file():
        data.attributes = torch.from_numpy(_table(folder, name, "node_attributes", np.float32, nodes)).view(nodes, -1)
    return data


def _table(folder: Path, name: str, part: str, dtype: Any, rows: int | None = None) -> Array:
    path = folder / f"{name}_{part}.txt"
    return read_table(path, dtype, count_rows(path) if rows is None else rows)


def _one_hot(index: Tensor, size: int) -> Tensor:
    return F.one_hot(index, size).float()


def _entry(name: str, title: str, folder: str, citation: str, numbers: tuple[int, int, int, int, int],
           parts: tuple[str, ...], published: tuple[float, float, float, float, float]) -> Dataset:
    graphs, nodes, edges, features, classes = numbers
    return Dataset(
        name, title, f"{citation}; {_MORRIS}", "tu", nodes, edges, features, classes, partial(_read, folder),
        f"TUDataset/{folder}/raw", graphs=graphs, task="graph",
        plain=tuple(f"{folder}_{part}.txt" for part in ("A", "graph_indicator", "graph_labels", *parts)),
        archive=(f"https://www.chrsmrrs.com/graphkerneldatasets/{folder}.zip", folder),
        licence="none stated with the files: ask before shipping them",
        published=dict(zip(("graphs", "mean_nodes", "mean_edges", "features", "classes"), published, strict=True)))


COLLECTIONS = (
    _entry("mutag", "MUTAG", "MUTAG", "Debnath et al. 1991", (188, 3371, 3721, 7, 2), ("node_labels",),
           (188, 17.9, 39.6, 7, 2)),
    _entry("ptc-mr", "PTC-MR", "PTC_MR", "Helma et al. 2001", (344, 4915, 5054, 18, 2), ("node_labels",),
           (344, 14.29, 14.69, 19, 2)),
    _entry("imdb-binary", "IMDB-BINARY", "IMDB-BINARY", "Yanardag and Vishwanathan 2015",
           (1000, 19773, 96531, MAX_DEGREE + 1, 2), (), (1000, 19.8, 193.1, 1, 2)),
    _entry("proteins", "PROTEINS", "PROTEINS", "Borgwardt et al. 2005", (1113, 43471, 81044, 3, 2),
           ("node_labels", "node_attributes"), (1113, 39.1, 145.6, 3, 2)),
    _entry("enzymes", "ENZYMES", "ENZYMES", "Borgwardt et al. 2005", (600, 19580, 37282, 3, 6),
           ("node_labels", "node_attributes"), (600, 32.63, 124.3, 3, 6)),
)
