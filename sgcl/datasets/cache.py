"""Read datasets kept as plain arrays in one safetensors file each, without pickle, outside the data root."""

import hashlib
import json
import os
import secrets
from pathlib import Path

import torch
import torch_geometric
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.errors import InputError
from sgcl.sparse import CSR, SparseFeatures

_FORMAT = 1
_SPARSE_BELOW = 0.25  # features filled less than this are stored by rows
_OTHERS = ("edge_index", "y", "train_mask", "val_mask", "test_mask", "batch", "attributes", "label_values",
           "node_species")


def path_of(entry: Dataset) -> Path:
    """The cache file of a dataset. Its name changes with the raw files, the reader's version and this format."""
    key = json.dumps([_FORMAT, torch_geometric.__version__, dict(entry.checksums)], sort_keys=True)
    return _folder() / f"{entry.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.safetensors"


def read(entry: Dataset, stamp: str | None = None) -> Data | None:
    """The cached dataset, or ``None`` where there is none that can be read, or none with this stamp if one is given."""
    path = path_of(entry)
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            if stamp is not None and (file.metadata() or {}).get("stamp") != stamp:
                return None
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if "x" not in tensors:
            matrix = CSR(tensors["x_ptr"], tensors["x_idx"], tensors["x_value"], num_cols=entry.features)
            tensors["x"] = SparseFeatures(matrix).to_dense()
    except (SafetensorError, OSError, KeyError):
        return None
    return Data(x=tensors["x"], **{name: tensors[name] for name in _OTHERS if name in tensors})


def write(entry: Dataset, data: Data, stamp: str = "") -> None:
    """Keep a dataset. The file appears whole or not at all, whoever else writes it at the same time."""
    path = path_of(entry)
    part = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    tensors = {name: data[name].contiguous() for name in _OTHERS if data.get(name) is not None}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            save_file(_features(data.x) | tensors, part, metadata={"stamp": stamp})
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{entry.name}: cannot write {path}: {error}; set SGCL_CACHE to a folder that can be written"
                         ) from error


def _folder() -> Path:
    if chosen := os.environ.get("SGCL_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "sgcl"


def _features(x: Tensor) -> dict[str, Tensor]:
    if int(torch.count_nonzero(x)) >= _SPARSE_BELOW * x.numel():
        return {"x": x.contiguous()}
    matrix = SparseFeatures.from_dense(x).matrix
    return {"x_ptr": matrix.ptr, "x_idx": matrix.idx, "x_value": matrix.values()}
