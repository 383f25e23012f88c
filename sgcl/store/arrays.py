"""Arrays in plain ``.npy`` files: written from top to bottom with a checksum, and mapped into memory."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.table import first_line

_BLOCK = 1 << 24  # bytes read at a time


class ArrayFile:
    """An array that grows by rows while it is written; :attr:`record` says what became of it.

    Args:
        path: of the ``.npy`` file.
        dtype: of its entries.
        width: of its rows; ``None`` for an array of one dimension.
    """

    def __init__(self, path: Path, dtype: Any, width: int | None = None) -> None:
        self.path, self.dtype, self.width, self.length = path, np.dtype(dtype), width, 0
        self._hash = hashlib.blake2b(digest_size=16)
        self._file = path.open("wb")
        self._start = self._header()

    def add(self, block: np.ndarray) -> None:
        """Rows below those that are there."""
        block = np.ascontiguousarray(block, dtype=self.dtype)
        self._hash.update(block.reshape(-1).view(np.uint8).data)
        self._file.write(block.data)
        self.length += len(block)

    @property
    def record(self) -> dict[str, Any]:
        """What a manifest says of the array."""
        return {"file": self.path.name, "dtype": self.dtype.str, "shape": self._shape(),
                "bytes": self._start + self.length * (self.width or 1) * self.dtype.itemsize,
                "blake2b": self._hash.hexdigest()}

    def _shape(self) -> list[int]:
        return [self.length] if self.width is None else [self.length, self.width]

    def _header(self) -> int:
        """Written at the start, once more when the length is known; NumPy leaves room for that. Gives where it ends."""
        self._file.seek(0)
        np.lib.format.write_array_header_1_0(self._file, {
            "descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": tuple(self._shape())})
        return self._file.tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            assert self._header() == self._start
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()


def write_array(path: Path, array: np.ndarray) -> dict[str, Any]:
    """A whole array; gives its record."""
    with ArrayFile(path, array.dtype, None if array.ndim == 1 else array.shape[1]) as file:
        file.add(array)
    return file.record


def map_array(folder: Path, record: dict[str, Any]) -> np.ndarray:
    """The array of a record, read-only and not read yet; an :class:`InputError` where the file is not the one."""
    path = folder / record["file"]
    try:
        size = path.stat().st_size
        if size != record["bytes"]:
            raise InputError(f"{path} is damaged: it has {size:,} bytes, not {record['bytes']:,}; import the graph "
                             "again")
        array: np.ndarray = np.load(path, mmap_mode="r" if 0 not in record["shape"] else None, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{folder} is not whole: {path.name} is missing; import the graph again") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} is damaged ({first_line(error)}); import the graph again") from None
    if list(array.shape) != record["shape"] or array.dtype.str != record["dtype"]:
        raise InputError(f"{path} is damaged: it holds {array.dtype.str} {list(array.shape)}, not {record['dtype']} "
                         f"{record['shape']}; import the graph again")
    return array


def checksum(folder: Path, record: dict[str, Any]) -> str:
    """Of what the file of a record holds now, read once from end to end."""
    found = hashlib.blake2b(digest_size=16)
    with (folder / record["file"]).open("rb") as file:
        file.seek(record["bytes"] - int(np.prod(record["shape"])) * np.dtype(record["dtype"]).itemsize)
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
