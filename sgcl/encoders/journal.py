"""What is done of an embedding in blocks, kept in a folder, so that it can be gone on with where it was cut short."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sgcl import files
from sgcl.encoders import storage
from sgcl.errors import InputError

_FILE = "progress.json"
_EVERY = 10.0  # seconds between two looks at the disk


class Log:
    """How many of its steps a layer has done."""

    def __init__(self, steps: int, number: int = 0, done: int = 0, after: Callable[[Log], None] | None = None) -> None:
        self.steps, self.number, self.done, self._after = steps, number, done, after

    def step(self) -> None:
        self.done += 1
        if self._after is not None:
            self._after(self)


class Journal:
    """The layers that an embedding consists of, in the order in which they come, and their matrices as ``.npy`` files.

    Args:
        folder: for nothing else; what an embedding of another ``identity`` left there is removed.
        identity: all that the result depends on.
        memory: bytes that may be taken. What was begun goes on with those it began with, for they decide on the blocks;
            where these are more than may be taken now, it is begun anew.
        every: seconds between two times at which the state is put on the disk.
        tell: called with the number of the layer at work, from 1, and the share of it that is done.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], memory: int, *, every: float = _EVERY,
                 tell: Callable[[int, float], None] = lambda layer, share: None) -> None:
        self.folder, self.identity, self.memory = folder, json.loads(json.dumps(identity)), memory
        self.every, self.tell = every, tell
        self._done, self._next, self._saved = self._found(), 0, time.monotonic()
        self._open: dict[Path, tuple[np.memmap, int]] = {}

    def layer(self, steps: int) -> Log:
        """The next layer, which takes so many steps, and how many of them are done."""
        number, self._next = self._next, self._next + 1
        if number == len(self._done):
            self._done.append(0)
        return Log(steps, number, self._done[number], self._step)

    def matrix(self, name: str, num_rows: int, width: int, dtype: torch.dtype) -> Tensor:
        """(N, D) mapped from the file of that name, with what it holds if it is there already."""
        path = self.folder / f"{name}.npy"
        kind = torch.empty(0, dtype=dtype).numpy().dtype
        try:
            if not path.exists():
                np.lib.format.open_memmap(path, "w+", kind, (num_rows, width))
                storage.reserve(path)
            array = np.lib.format.open_memmap(path, "r+")
        except OSError as error:
            raise InputError(f"cannot make a file of {num_rows * width * kind.itemsize / 2**30:.1f} GB in "
                             f"{self.folder.parent}: {error.strerror}") from None
        tensor = torch.from_numpy(array)
        storage.keep(array._mmap)  # type: ignore[attr-defined]
        self._open[path] = array, tensor.data_ptr()
        return tensor

    def file_of(self, tensor: Tensor) -> Path | None:
        """The file that a matrix lies in, if it is one of these and nothing was made of it."""
        return next((path for path, (array, start) in self._open.items()
                     if start == tensor.data_ptr() and tuple(tensor.shape) == array.shape), None)

    def save(self) -> None:
        """What was written so far is on the disk afterwards, and then that it is."""
        for array, _ in self._open.values():
            array.flush()
        with files.whole(self.folder / _FILE) as part:
            part.write_text(json.dumps({"identity": self.identity, "memory": self.memory, "done": self._done}) + "\n",
                            encoding="utf-8")
        self._saved = time.monotonic()

    def _step(self, log: Log) -> None:
        self._done[log.number] = log.done
        self.tell(log.number + 1, log.done / log.steps)
        if log.done == log.steps or time.monotonic() - self._saved >= self.every:
            self.save()

    def _found(self) -> list[int]:
        """The steps that are done of each layer; none, and nothing left in the folder, where they are not of this."""
        try:
            state = json.loads((self.folder / _FILE).read_text(encoding="utf-8"))
            if state["identity"] == self.identity and 0 < state["memory"] <= self.memory:
                self.memory = state["memory"]
                return list(map(int, state["done"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass
        for path in self.folder.iterdir():
            if path.name != files.LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        return []
