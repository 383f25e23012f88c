"""Embeddings: compute them from a method, write them under node ids, read them back."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.methods.base import Method


def compute(method: Method, graph: Graph, device: str = "cpu") -> Tensor:
    """(N, D) on the CPU, without dropout or gradients, rows in node order."""
    method.to(device).eval()
    with torch.no_grad():
        return method.embed(graph.to(device)).cpu()


def save(folder: Path, embedding: Tensor, ids: np.ndarray) -> None:
    """Write ``embeddings.npy`` with ``ids.npy`` beside it and, where pyarrow is installed, ``embeddings.parquet``.

    Args:
        folder: an existing folder.
        embedding: (N, D).
        ids: (N,) the id of each row.
    """
    np.save(folder / "embeddings.npy", embedding.numpy(), allow_pickle=False)
    np.save(folder / "ids.npy", ids, allow_pickle=False)
    if importlib.util.find_spec("pyarrow"):
        write(folder / "embeddings.parquet", embedding, ids)


def write(file: Path, embedding: Tensor, ids: np.ndarray) -> None:
    """Write one file: ``.parquet`` with the columns id and embedding, ``.csv`` with id, 0, 1, ..., or ``.npy`` with
    ``.ids.npy`` beside it. It appears whole or not at all.
    """
    writers = {".parquet": _write_parquet, ".csv": _write_csv, ".npy": _write_npy}
    if file.suffix not in writers:
        raise InputError(f"{file}: embeddings are written as {', '.join(writers)}")
    part = file.with_name(f".{file.name}.part{file.suffix}")
    try:
        writers[file.suffix](part, embedding.numpy(), ids)
        part.replace(file)
        if file.suffix == ".npy":
            np.save(file.with_suffix(".ids.npy"), ids, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def load(folder: Path) -> tuple[Tensor, np.ndarray]:
    """The (N, D) embedding and the (N,) ids that :func:`save` wrote."""
    embedding, ids = _read(folder / "embeddings.npy", dimensions=2), _read(folder / "ids.npy", dimensions=1)
    if len(embedding) != len(ids):
        raise InputError(f"{folder}: {len(embedding)} embeddings for {len(ids)} ids; train the run again")
    return torch.from_numpy(embedding), ids


def _write_parquet(file: Path, array: np.ndarray, ids: np.ndarray) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'sgcl[parquet]'") from None
    column = pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])
    pq.write_table(pa.table({"id": pa.array(ids), "embedding": column}), file)


def _write_csv(file: Path, array: np.ndarray, ids: np.ndarray) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["id", *range(array.shape[1])])
        for name, row in zip(ids.tolist(), array, strict=True):
            table.writerow([name, *row.tolist()])


def _write_npy(file: Path, array: np.ndarray, ids: np.ndarray) -> None:
    np.save(file, array, allow_pickle=False)


def _read(file: Path, *, dimensions: int) -> np.ndarray:
    try:
        array = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{file.parent} holds no {file.name}: train the run to its end first") from None
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{file} is damaged ({str(error).splitlines()[0]}); train the run again") from None
    if not isinstance(array, np.ndarray) or array.ndim != dimensions:
        raise InputError(f"{file} is damaged: it holds no array of {dimensions} dimensions; train the run again")
    return array
