"""Embeddings: compute them from a method, write them under node ids, read them back."""

from __future__ import annotations

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
    array = embedding.numpy()
    np.save(folder / "embeddings.npy", array, allow_pickle=False)
    np.save(folder / "ids.npy", ids, allow_pickle=False)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    column = pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])
    pq.write_table(pa.table({"id": pa.array(ids), "embedding": column}), folder / "embeddings.parquet")


def load(folder: Path) -> tuple[Tensor, np.ndarray]:
    """The (N, D) embedding and the (N,) ids that :func:`save` wrote."""
    embedding, ids = _read(folder / "embeddings.npy", dimensions=2), _read(folder / "ids.npy", dimensions=1)
    if len(embedding) != len(ids):
        raise InputError(f"{folder}: {len(embedding)} embeddings for {len(ids)} ids; train the run again")
    return torch.from_numpy(embedding), ids


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
