"""Embeddings: compute them from a method, write them under node ids, read them back."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import re
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sgcl import files
from sgcl.encoders import Encoder
from sgcl.encoders.blocks import bounded
from sgcl.encoders.journal import Journal
from sgcl.encoders.storage import forget
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.methods.base import Method
from sgcl.signals import Interrupted

NODES_AT_A_TIME = 1 << 17  # of graphs embedded at a time

_BLOCK = 1 << 19  # numbers written at a time

Tell = Callable[[int, float], None]


def compute(method: Method, graph: Graph, device: str = "cpu", *, memory: int | str | None = None,
            folder: Path | None = None, journal: Journal | None = None) -> Tensor:
    """(N, D) on the CPU, without dropout or gradients, rows in node order; (G, D) of a collection's graphs, some at a
    time, by a method for graphs.

    Args:
        method, graph, device: what embeds, what is embedded, and where.
        memory: bytes, or text such as ``"2GB"``, that an encoder may take beside the graph and its weights. It then
            works in blocks, and what is larger, the result too, lies in a temporary file that goes with its tensor.
        folder: where such files go; where the system keeps temporary files unless given.
        journal: keeps what is done in blocks; see :func:`compute_file`.
    """
    most = memory_bytes(memory)
    if most is None or method.looks_at_all():
        graph = graph.in_memory()
    if most is not None and not in_blocks(method):
        raise InputError(f"{type(method).__name__} has an encoder of its own, which does not work in blocks: leave the "
                         "limit of the memory out")
    method.to(device).eval()
    with torch.no_grad(), bounded(most, folder, journal):
        if graph.graph_ptr is None:
            return method.embed(graph.to(device)).cpu()
        turn = torch.div(graph.graph_ptr[:-1], NODES_AT_A_TIME, rounding_mode="floor")
        parts = torch.arange(graph.num_graphs).split(turn.unique_consecutive(return_counts=True)[1].tolist())
        return torch.cat([method.embed(graph.take(some).to(device)).cpu() for some in parts])


def compute_file(file: Path, method: Method, graph: Graph, device: str = "cpu", *, memory: int | str,
                 identity: Mapping[str, Any], tell: Tell = lambda layer, share: None, every: float = 10.0) -> Tensor:
    """:func:`compute` into a ``.npy`` file, from which the (N, D) result is mapped.

    Layer by layer, a block at a time; each layer lies in a file of a folder beside, which goes at the end. Cut short,
    by whatever, the same call goes on where it was, and gives the same bytes.

    Args:
        file: what to write.
        method, graph, device, memory: as for :func:`compute`.
        identity: all that the result depends on, as JSON, beside the weights. What was begun with less memory goes on
            with that.
        tell: called with the number of the layer at work, from 1, and the share of it that is done.
        every: seconds between two times at which the state is put on the disk.
    """
    folder, most = file.with_name(f".{file.name}.work"), memory_bytes(memory) or 0
    weights = hashlib.sha256()
    for name, tensor in sorted(method.state_dict().items()):
        weights.update(name.encode())
        weights.update(tensor.cpu().contiguous().numpy())
    with files.lock(folder):
        journal = Journal(folder, {**identity, "weights": weights.hexdigest()}, most, every=every, tell=tell)
        try:
            embedding = compute(method, graph, device, memory=journal.memory, folder=folder, journal=journal)
        except KeyboardInterrupt:
            journal.save()
            raise Interrupted("interrupted while embedding; asked for again, it goes on where it was",
                              signal.SIGINT) from None
        made = journal.file_of(embedding)
        if made is not None:
            journal.save()
            made.replace(file)
        else:  # something was made of what the encoders gave
            with files.whole(file) as part:
                _write_npy(part, embedding.numpy(), np.empty(0))
        shutil.rmtree(folder)
    return torch.from_numpy(np.load(file, mmap_mode="c", allow_pickle=False))


def in_blocks(method: Method) -> bool:
    """Whether a method can embed in bounded memory."""
    return any(isinstance(part, Encoder) for part in method.modules())


def memory_bytes(memory: int | str | None) -> int | None:
    """``"500MB"``, ``"2 GB"`` or ``"1.5GiB"`` in bytes (a GB is 2^30 here); whole numbers are bytes already."""
    size = memory
    if isinstance(memory, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT])i?B?", memory.strip(), re.IGNORECASE)
        size = int(float(found[1]) * 2**(10 * ("KMGT".index(found[2].upper()) + 1))) if found else 0
    if size is not None and (not isinstance(size, int) or size <= 0):
        raise InputError(f"memory is {memory!r}, expected a size such as 500MB or 2GB")
    return size


def save(folder: Path, embedding: Tensor, ids: np.ndarray) -> None:
    """Write ``embeddings.npy`` with ``ids.npy`` beside it and, where pyarrow is installed, ``embeddings.parquet``.

    Args:
        folder: an existing folder.
        embedding: (N, D).
        ids: (N,) the id of each row.
    """
    if importlib.util.find_spec("pyarrow"):
        with files.whole(folder / "embeddings.parquet") as part:
            _write_parquet(part, embedding.numpy(), ids)
    with files.whole(folder / "embeddings.npy") as part:
        _write_npy(part, embedding.numpy(), ids)
    save_ids(folder, ids)


def save_ids(folder: Path, ids: np.ndarray) -> None:
    """Write ``ids.npy`` alone, for an ``embeddings.npy`` that is there already."""
    with files.whole(folder / "ids.npy") as part:
        np.save(part, ids, allow_pickle=False)


def write(file: Path, embedding: Tensor, ids: np.ndarray) -> None:
    """Write one file: ``.parquet`` with the columns id and embedding, ``.csv`` with id, 0, 1, ..., or ``.npy`` with
    ``.ids.npy`` beside it. It appears whole or not at all.
    """
    check_file(file)
    try:
        with files.whole(file) as part:
            _WRITERS[file.suffix](part, embedding.numpy(), ids)
        if file.suffix == ".npy":
            _write_ids(file, ids)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror or error}") from None


def write_rest(file: Path, embedding: Tensor, ids: np.ndarray) -> None:
    """What :func:`write` writes beside an ``.npy`` file that :func:`compute_file` wrote; for other formats the file,
    from the ``.npy`` file beside it, which goes."""
    if file.suffix == ".npy":
        _write_ids(file, ids)
    else:
        write(file, embedding, ids)
        file.with_name(f".{file.name}.npy").unlink()


def check_file(file: Path) -> None:
    """Raise unless :func:`write` can write such a file there."""
    if file.suffix not in _WRITERS:
        raise InputError(f"{file}: embeddings are written as {', '.join(_WRITERS)}")
    if not file.parent.is_dir():
        raise InputError(f"cannot write {file}: there is no folder {file.parent}")


def load(folder: Path) -> tuple[Tensor, np.ndarray]:
    """The (N, D) embedding and the (N,) ids that :func:`save` wrote."""
    embedding, ids = _read(folder / "embeddings.npy", dimensions=2), load_ids(folder)
    if len(embedding) != len(ids):
        raise InputError(f"{folder}: {len(embedding)} embeddings for {len(ids)} ids; train the run again")
    return torch.from_numpy(embedding), ids


def load_ids(folder: Path) -> np.ndarray:
    """The (N,) ids alone."""
    return _read(folder / "ids.npy", dimensions=1)


def _write_ids(file: Path, ids: np.ndarray) -> None:
    with files.whole(file.with_suffix(".ids.npy")) as part:
        np.save(part, ids, allow_pickle=False)


def _write_parquet(file: Path, array: np.ndarray, ids: np.ndarray) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'sgcl[parquet]'") from None
    number = pa.from_numpy_dtype(array.dtype)
    schema = pa.schema({"id": pa.array(ids[:0]).type, "embedding": pa.list_(number, array.shape[1])})
    with pq.ParquetWriter(file, schema, use_dictionary=False) as writer:
        for rows in _blocks(array):
            column = pa.FixedSizeListArray.from_arrays(pa.array(array[rows].reshape(-1)), array.shape[1])
            writer.write_table(pa.table([pa.array(ids[rows]), column], schema=schema))


def _write_csv(file: Path, array: np.ndarray, ids: np.ndarray) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["id", *range(array.shape[1])])
        for rows in _blocks(array):
            for name, row in zip(ids[rows].tolist(), array[rows], strict=True):
                table.writerow([name, *row.tolist()])


def _write_npy(file: Path, array: np.ndarray, ids: np.ndarray) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape}
    with file.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for rows in _blocks(array):
            stream.write(np.ascontiguousarray(array[rows]).data)


_WRITERS = {".parquet": _write_parquet, ".csv": _write_csv, ".npy": _write_npy}


def _blocks(array: np.ndarray) -> Iterator[slice]:
    """Rows to write at a time. What an array in a temporary file holds of the memory is let go in between."""
    step = max(1, _BLOCK // array.shape[1])
    for start in range(0, len(array), step):
        yield slice(start, start + step)
        forget()


def _read(file: Path, *, dimensions: int) -> np.ndarray:
    try:
        array = np.load(file, mmap_mode="c", allow_pickle=False)  # pages are read where they are looked at
    except FileNotFoundError:
        raise InputError(f"{file.parent} holds no {file.name}: train the run to its end first") from None
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{file} is damaged ({str(error).splitlines()[0]}); train the run again") from None
    if not isinstance(array, np.ndarray) or array.ndim != dimensions:
        raise InputError(f"{file} is damaged: it holds no array of {dimensions} dimensions; train the run again")
    return array
