"""The JSON lines of a results folder: which cells are done, and one more line when one is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sgcl import runs
from sgcl.bench.cells import Cell, key_of
from sgcl.errors import InputError

Line = dict[str, Any]
ABSENT = "absent.jsonl"


class Lines:
    """Lines by cell, the last of each; of all files of a folder that hold cells, or of one file.

    Args:
        where: the folder, or a ``.jsonl`` file that is read and written alone.
        names: of the files in the folder that hold cells.
    """

    def __init__(self, where: Path, names: Iterable[str]) -> None:
        self.where, self.is_file = where, where.suffix == ".jsonl"
        self._found: dict[tuple[Any, ...], Line] = {}
        self.absent: set[str] = set()   # datasets that were not on the machine where they were asked for
        self._sizes = dict.fromkeys([where] if self.is_file else [where / name for name in (*names, ABSENT)], 0)
        self.refresh()

    def refresh(self) -> None:
        """Read what others have written meanwhile."""
        for file, before in self._sizes.items():
            size = file.stat().st_size if file.exists() else 0
            if size != before:
                self._sizes[file] = size
                for line in runs.read_lines(file):
                    self._take(line)

    def beside(self, name: str) -> list[Line]:
        """The lines of a file that holds something else than cells, in the same folder; none beside a single file."""
        return [] if self.is_file else runs.read_lines(self.where / name)

    def get(self, cell: Cell) -> Line | None:
        """The line of a cell."""
        return self._found.get(cell.key)

    def of(self, cells: Iterable[Cell]) -> list[Line]:
        """The lines of those cells that came to a result."""
        return [line for cell in cells if (line := self.get(cell)) is not None and "failed" not in line]

    def all(self) -> list[Line]:
        return list(self._found.values())

    def add(self, name: str, line: Mapping[str, Any]) -> None:
        """Append one whole line, on the disk when this returns."""
        file = self.where if self.is_file else self.where / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(line) + "\n"
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":  # cut short when a machine went down: set apart
                _cut(handle, size)
            os.write(handle, text.encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        if self._sizes.get(file) == size:
            self._sizes[file] = size + len(text.encode())  # nothing to read again
        self._take(dict(line))

    def note_absent(self, dataset: str) -> None:
        """Say, once, that the data of a dataset is not on this machine."""
        if dataset not in self.absent:
            self.add(ABSENT, {"absent": dataset, **runs.environment()})

    def _take(self, line: Line) -> None:
        if "absent" in line:
            self.absent.add(line["absent"])
            return
        with suppress(InputError):  # settings that there are no more: no cell asks for them
            self._found[key_of(line)] = line


def _cut(handle: int, size: int) -> None:
    """Take away a last line that is not whole."""
    whole = os.pread(handle, size, 0).rfind(b"\n") + 1
    os.ftruncate(handle, whole)
