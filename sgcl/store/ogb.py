"""The raw folder of an OGB dataset as the parts of a graph: edges, features, labels and split masks.

Either tables, ``edge.csv.gz``, ``node-feat.csv.gz``, ``node-label.csv.gz`` and ``num-node-list.csv.gz``, or for large
ones arrays, ``data.npz`` (``edge_index``, ``node_feat``) and ``node-label.npz``. Beside ``raw`` may lie
``split/<scheme>`` with the node numbers of the train, valid and test sets.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sgcl.datasets.tables import blocks, check_nodes, read_table
from sgcl.errors import InputError
from sgcl.readers.edges import EdgeList
from sgcl.readers.features import Features
from sgcl.readers.ids import Ids
from sgcl.readers.table import first_line
from sgcl.store.spill import Spill

_SETS = {"train_mask": "train", "val_mask": "valid", "test_mask": "test"}


class OgbParts(NamedTuple):
    """Columns lie in temporary files; nodes are called 0 to N - 1."""

    edges: EdgeList
    features: Features
    y: np.ndarray                  # (N,) or (N, T); -1 for no label
    masks: dict[str, np.ndarray]   # (N,) of booleans


def raw_folder(path: str | Path) -> Path | None:
    """The folder, or the one called raw in it, if it is one of OGB's; ``None`` else."""
    for folder in (Path(path), Path(path) / "raw"):
        if (folder / "edge.csv.gz").is_file() or (folder / "data.npz").is_file():
            return folder
    return None


def read_ogb(raw: Path, temporary: Path) -> OgbParts:
    """What the folder holds; the edges in the direction they have there."""
    if (raw / "data.npz").is_file():
        ends, x = (_member(raw / "data.npz", name, temporary) for name in ("edge_index", "node_feat"))
        if ends.ndim != 2 or len(ends) != 2 or ends.dtype != np.int64 or x.ndim != 2 or x.dtype.kind != "f":
            raise InputError(f"{raw / 'data.npz'}: edge_index is {ends.dtype} {ends.shape} and node_feat {x.dtype} "
                             f"{x.shape}, expected int64 (2, E) and floats (N, F)")
        source, target = ends
        y = _member(raw / "node-label.npz", "node_label", temporary)
    else:
        if not (raw / "node-feat.csv.gz").is_file():
            raise InputError(f"{raw} has no node-feat.csv.gz: give the features of its nodes as --features FILE, with "
                             "its edge.csv.gz as the edges")
        nodes = int(read_table(raw / "num-node-list.csv.gz", np.int64, 1).item())
        edges = Spill(temporary, 2, 0)
        for block in blocks(raw / "edge.csv.gz", np.int64, columns=2):
            edges.add(list(block.T), [])
        source, target = (column.values for column in edges.columns(None, None).ids)
        rows: Spill | None = None
        for block in blocks(raw / "node-feat.csv.gz", np.float32):
            rows = rows or Spill(temporary, 1, block.shape[1])
            rows.add([np.arange(rows.length, rows.length + len(block))], list(block.T))
        x = np.empty((0, 0)) if rows is None else rows.columns(None, None).numbers
        if len(x) != nodes:
            raise InputError(f"{raw / 'node-feat.csv.gz'} has {len(x)} rows, expected {nodes}")
        y = read_table(raw / "node-label.csv.gz", np.float32, nodes)
    for file, column in ((raw / "edge.csv.gz", source), (raw / "edge.csv.gz", target)):
        check_nodes(file, column, len(x))
    features = Features(str(raw), Ids(np.arange(len(x))), x, lambda row: f"row {row + 1}", by_number=True)
    return OgbParts(EdgeList(str(raw), Ids(source), Ids(target)), features, _labels(y), _masks(raw, len(x)))


def _labels(y: np.ndarray) -> np.ndarray:
    found = np.where(np.isnan(y), -1, y) if y.dtype.kind == "f" else y
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    return found.astype(np.int64 if found.ndim == 1 else np.int8)


def _masks(raw: Path, nodes: int) -> dict[str, np.ndarray]:
    """Of the one split there is; none where there are several, or none in tables."""
    schemes = sorted(raw.parent.glob("split/*/train.csv.gz"))
    if len(schemes) != 1:
        return {}
    masks = {}
    for name, part in _SETS.items():
        masks[name] = np.zeros(nodes, dtype=bool)
        for block in blocks(schemes[0].with_name(f"{part}.csv.gz"), np.int64, columns=1):
            check_nodes(schemes[0].with_name(f"{part}.csv.gz"), block, nodes)
            masks[name][block[:, 0]] = True
    return masks


def _member(path: Path, name: str, temporary: Path) -> np.ndarray:
    """An array of an ``.npz`` file, unpacked into a temporary file without a name and mapped from there."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as packed, \
                tempfile.TemporaryFile(dir=temporary) as file:
            shutil.copyfileobj(packed, file, 1 << 24)
            file.seek(0)
            version = np.lib.format.read_magic(file)
            read: Any = np.lib.format.read_array_header_1_0 if version == (1, 0) else \
                np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
            if dtype.hasobject:
                raise ValueError("it holds Python objects")
            found: np.ndarray = np.memmap(file, dtype, "r+", file.tell(), shape,  # type: ignore[call-overload]
                                          order="F" if fortran else "C")
            return found
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: cannot read its array {name} ({first_line(error)})") from None
