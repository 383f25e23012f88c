"""How many bytes torch and NumPy hold while something runs on the CPU, counted one by one."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any, Self

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Meter(TorchDispatchMode):
    """Bytes held above those held before; to be asked inside its ``with``.

    Every tensor that an operation of torch gives is counted until it is gone; NumPy tells ``tracemalloc`` of its
    arrays. What a kernel takes and gives back inside one operation is not seen.

    >>> with Meter() as meter:
    ...     x = torch.zeros(1000) + torch.zeros(1000)
    ...     4000 <= meter.now() < 12000 <= meter.peak()
    True
    """

    def __enter__(self) -> Self:
        self._live = self._most = 0
        self._known: set[int] = set()
        self._ours = not tracemalloc.is_tracing()
        tracemalloc.start()
        self._before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self._ours:
            tracemalloc.stop()

    def now(self) -> int:
        """What is held at this moment."""
        return self._live + tracemalloc.get_traced_memory()[0] - self._before

    def peak(self) -> int:
        """The most that was held since this was last asked."""
        self._look()
        most, self._most = self._most, 0
        return most

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._look()
        self._count((args, kwargs), new=False)  # what has not been seen yet was there before, or is NumPy's
        out = func(*args, **(kwargs or {}))
        self._count(out, new=True)
        self._look()
        return out

    def _look(self) -> None:
        self._most = max(self._most, self._live + tracemalloc.get_traced_memory()[1] - self._before)
        tracemalloc.reset_peak()

    def _count(self, values: Any, *, new: bool) -> None:
        for storage in _storages(values):
            if storage._cdata not in self._known:
                size = storage.nbytes() if new else 0
                self._known.add(storage._cdata)
                self._live += size
                weakref.finalize(storage, self._forget, storage._cdata, size)

    def _forget(self, key: int, size: int) -> None:
        self._live -= size
        self._known.discard(key)


def _storages(values: Any) -> Iterator[Any]:
    """The memory of every tensor in there; a sparse one has three."""
    for value in tree_leaves(values):
        if isinstance(value, Tensor):
            sparse = value.layout == torch.sparse_csr
            for part in (value.crow_indices(), value.col_indices(), value.values()) if sparse else (value,):
                yield part.untyped_storage()
