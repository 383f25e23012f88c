"""Two large graphs that are not homophilous, from the raw files of Lim et al., Large Scale Learning on Non-Homophilous
Graphs, NeurIPS 2021.

The files are a MATLAB array file and two CSV tables; none holds pickles, so no checksum is needed, and none is known
here. Edges stay directed, as the files have them (:meth:`sgcl.graph.Graph.from_data` makes an undirected graph).
"""

import csv
from pathlib import Path

import numpy as np
import scipy.io
import torch
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.datasets.tables import Array, check_nodes, count_rows, read_columns
from sgcl.errors import InputError

_LIM = "Lim et al., Large Scale Learning on Non-Homophilous Graphs, NeurIPS 2021"
_DRIVE = {"twitch-gamer_edges.csv": "1XLETC6dG3lVl7kDmytEJ52hvDMVdxnZ0",
          "twitch-gamer_feat.csv": "1fA9VIIEI8N0L27MSQfcBzJgRQLvSbrvR"}
_COLUMNS = ["views", "mature", "life_time", "created_at", "updated_at", "numeric_id", "dead_account", "language",
            "affiliate"]


def _genius(root: Path) -> Data:
    path = root / "LINKX/genius/raw/genius.mat"
    names = ("edge_index", "node_feat", "label")
    try:
        found = scipy.io.loadmat(path, variable_names=names)
    except (ValueError, TypeError, NotImplementedError, OSError, MemoryError) as error:
        raise InputError(f"genius: {path} is not a MATLAB file that can be read: {error}") from error
    for name in names:
        if not isinstance(found.get(name), np.ndarray) or found[name].dtype.kind not in "iufb":
            raise InputError(f"genius: {path} holds no numeric array {name!r}; get the file again")
    edge_index, x, y = found["edge_index"].astype(np.int64), found["node_feat"], found["label"].reshape(-1)
    if x.ndim != 2 or len(y) != len(x) or edge_index.ndim != 2 or len(edge_index) != 2:
        raise InputError(f"genius: {path} has arrays of shapes {edge_index.shape}, {x.shape} and {y.shape}, expected "
                         "(2, E), (N, F) and N labels")
    check_nodes(path, edge_index, len(x))
    return Data(x=torch.from_numpy(x).float(), edge_index=torch.from_numpy(edge_index),
                y=torch.from_numpy(y.astype(np.int64)))


def _twitch(root: Path) -> Data:
    """The label is ``mature``. The other columns but the id are the features: dates as numbers like 20180930, a
    language as its number in the order of appearance, each column shifted and scaled to mean 0 and deviation 1."""
    folder = root / "LINKX/twitch-gamers/raw"
    table = _twitch_table(folder / "twitch-gamer_feat.csv")                # (N, 9)
    ids = table[:, _COLUMNS.index("numeric_id")]
    order = np.argsort(ids, kind="stable")
    if not np.array_equal(ids[order], np.arange(len(ids))):
        raise InputError(f"twitch-gamers: the numeric_id of {folder / 'twitch-gamer_feat.csv'} are not 0 to "
                         f"{len(ids) - 1}, each once")
    table = table[order]
    kept = [column for column, name in enumerate(_COLUMNS) if name not in ("mature", "numeric_id")]
    x = torch.from_numpy(table[:, kept])                                   # (N, 7)
    deviation = x.std(0)
    x = (x - x.mean(0)) / torch.where(deviation > 0, deviation, 1.0)
    edges = folder / "twitch-gamer_edges.csv"
    edge_index = read_columns(edges, np.int64, count_rows(edges, skip=1), skip=1)
    check_nodes(edges, edge_index, len(x))
    return Data(x=x.float(), edge_index=torch.from_numpy(edge_index),
                y=torch.from_numpy(table[:, _COLUMNS.index("mature")]).long())


def _twitch_table(path: Path) -> Array:
    languages: dict[str, int] = {}
    rows: list[list[float]] = []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            if sorted(header) != sorted(_COLUMNS):
                raise InputError(f"twitch-gamers: the columns of {path} are {header}, expected {_COLUMNS}")
            place = [header.index(name) for name in _COLUMNS]
            for words in reader:
                row = dict(zip(_COLUMNS, (words[column] for column in place), strict=True))
                row["language"] = str(languages.setdefault(row["language"], len(languages)))
                rows.append([float(row[name].replace("-", "")) for name in _COLUMNS])
    except (OSError, UnicodeDecodeError, IndexError) as error:
        raise InputError(f"twitch-gamers: {path} cannot be read: {error}") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"twitch-gamers: row {len(rows) + 2} of {path} is not as published: {error}") from error
    return np.array(rows)


def _drive(file: str) -> str:
    return f"https://drive.usercontent.google.com/download?confirm=t&id={_DRIVE[file]}"


def _github(file: str) -> str:
    return f"https://github.com/CUAI/Non-Homophily-Large-Scale/raw/master/data/{file}"


_UNKNOWN = "none stated with the files: ask before shipping them"

LINKX = (
    Dataset("genius", "Genius", f"Lim and Benson 2021; {_LIM}", "linkx", 421961, 984979, 12, 2, _genius,
            "LINKX/genius/raw", _github, plain=("genius.mat",), listed=True, metric="roc-auc", licence=_UNKNOWN,
            published={"nodes": 421961, "edges": 984979, "features": 12, "classes": 2, "homophily": 0.618}),
    Dataset("twitch-gamers", "Twitch-gamers", f"Rozemberczki and Sarkar 2021; {_LIM}", "linkx", 168114, 6797557, 7, 2,
            _twitch, "LINKX/twitch-gamers/raw", _drive, plain=tuple(_DRIVE), listed=True, licence=_UNKNOWN,
            published={"nodes": 168114, "edges": 6797557, "features": 7, "classes": 2, "homophily": 0.545}),
)
