"""Matrices too large for the memory: mapped from temporary files, which go when the last tensor on them does."""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from weakref import WeakSet

import numpy as np
import torch
from torch import Tensor

from sgcl.errors import InputError

_mapped: WeakSet[mmap.mmap] = WeakSet()


def matrix(num_rows: int, width: int, dtype: torch.dtype, most: float, folder: Path | None) -> Tensor:
    """An (N, D) tensor on the CPU: in memory up to ``most`` bytes, else in a file in ``folder``, or where the system
    keeps temporary files."""
    size = num_rows * width * dtype.itemsize
    if size <= most:
        return torch.empty(num_rows, width, dtype=dtype)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is told here, not by a crash later
            else:
                file.truncate(size)
            mapped = mmap.mmap(file.fileno(), size)
    except OSError as error:
        raise InputError(f"cannot make a temporary file of {size / 2**30:.1f} GB in {folder or tempfile.gettempdir()}: "
                         f"{error.strerror}; give more memory, or set TMPDIR to another folder") from None
    _mapped.add(mapped)
    return torch.from_numpy(np.frombuffer(mapped, np.uint8)).view(dtype).view(num_rows, width)


def reserve(path: Path) -> None:
    """Room on the disk for all of a file: a full one is told here, not by a crash later."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def keep(mapped: mmap.mmap) -> None:
    """Let :func:`forget` take the pages of this file too."""
    _mapped.add(mapped)


def forget() -> None:
    """Take the pages of all such files out of this process's memory; what they hold stays."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for mapped in _mapped:
            mapped.madvise(mmap.MADV_DONTNEED)
