"""Columns under construction that lie in temporary files, for tables larger than the memory."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from sgcl.readers.table import Room, RoomFor


def spilling(folder: Path) -> RoomFor:
    """Makes rooms whose columns are files in ``folder``, without a name, that go with the arrays on them."""
    return lambda num_ids, num_numbers, bound: Spill(folder, num_ids, num_numbers)


class Spill(Room):
    """As :class:`sgcl.readers.table.Room`, the columns mapped from files when they are complete."""

    def __init__(self, folder: Path, num_ids: int, num_numbers: int) -> None:
        self._id_files = [temporary_file(folder) for _ in range(num_ids)]
        self._number_file, self._width = temporary_file(folder), num_numbers
        self.length = 0

    def add(self, ids: Sequence[np.ndarray], numbers: Sequence[np.ndarray]) -> None:
        for file, column in zip(self._id_files, ids, strict=True):
            file.write(np.ascontiguousarray(column, np.int64).data)
        if numbers:
            rows = np.empty((len(ids[0]), self._width), np.float32)
            with np.errstate(over="ignore"):  # what float32 cannot hold is found as infinite later
                for place, column in enumerate(numbers):
                    rows[:, place] = column
            self._number_file.write(rows.data)
        self.length += len(ids[0])

    def _filled(self) -> tuple[list[np.ndarray], np.ndarray]:
        return ([_mapped(file, np.int64, (self.length,)) for file in self._id_files],
                _mapped(self._number_file, np.float32, (self.length, self._width)))


def temporary_file(folder: Path) -> IO[bytes]:
    """Without a name: it goes when it is closed and nothing is mapped from it any more."""
    return tempfile.TemporaryFile(dir=folder)


def _mapped(file: IO[bytes], dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    if 0 in shape:
        return np.empty(shape, dtype)
    file.flush()
    return np.memmap(file, dtype=dtype, mode="r+", shape=shape)  # type: ignore[call-overload,no-any-return]
