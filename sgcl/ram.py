"""The machine's memory: how much of it is free, and what the C library does with what a program frees.

glibc, as it comes, asks the system anew for every array above 32 MB and returns it when it is freed. A step of training
makes dozens of them, and the system clears each page each time. Other C libraries are left as they are.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4  # names of glibc's options
_near_limit = False


def free_memory() -> float:
    """Bytes that may be had, or infinity where the system does not say."""
    meminfo, group = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
    free = math.inf
    if meminfo.exists():
        free = _field(meminfo, "MemAvailable:") * 1024
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if (group / "memory.max").exists() and (limit := (group / "memory.max").read_text().strip()) != "max":
        used = _field(group / "memory.stat", "anon")
        free = min(free, float(limit) - used) if used < math.inf else free
    return free


def rounded_down(size: float) -> int:
    """To 4, 5, 6 or 7 times a power of 2, and 2^40 at most: what is free differs from time to time, and an embedding
    that was cut short goes on in the memory that it began with.

    >>> rounded_down(5.9 * 2**30) == 5 * 2**30
    True
    """
    whole = int(min(max(size, 1), 2**40))
    unit = 1 << max(whole.bit_length() - 3, 0)
    return whole // unit * unit


@contextmanager
def kept() -> Iterator[None]:
    """Inside, freed memory is kept for the next step, which takes more of it; afterwards it is given back.

    Nothing is done while less than half of the machine's memory is free, or after :func:`hand_back`.
    """
    if _near_limit or 2 * free_memory() < _total():
        yield
        return
    _set(_MMAP_MAX, 0)
    _set(_TRIM_THRESHOLD, -1)
    try:
        yield
    finally:
        _set(_MMAP_MAX, 1 << 16)
        _set(_MMAP_THRESHOLD, 32 << 20)   # where glibc's own end up
        _set(_TRIM_THRESHOLD, 64 << 20)
        trim = _c_function("malloc_trim")
        if trim is not None:
            trim(0)


def hand_back() -> None:
    """From now on memory goes back to the system as soon as it is freed: less of it is held, and steps take longer."""
    global _near_limit
    _near_limit = True
    _set(_MMAP_THRESHOLD, 1 << 16)


def _set(option: int, value: int) -> None:
    mallopt = _c_function("mallopt")
    if mallopt is not None:
        mallopt(option, value)


def _c_function(name: str) -> ctypes._NamedFuncPointer | None:
    return getattr(ctypes.CDLL(None), name, None) if os.name == "posix" else None


def _total() -> float:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else math.inf


def _field(path: Path, name: str) -> float:
    """The number after ``name`` in a file of the system's; infinity where it has none."""
    rows = (line.split() for line in path.read_text().splitlines())
    return next((float(words[1]) for words in rows if words[:1] == [name]), math.inf)
