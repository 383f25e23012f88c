"""A text file as lines: opened, decompressed, decoded and looked over, with the line number in every complaint."""

from __future__ import annotations

import gzip
import itertools
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.table import readable

_SCAN = 1 << 22  # bytes at a time
_COMMENT = ("#", "%")  # as in the edge lists of SNAP and KONECT
_FOREIGN = {b"PAR1": "a Parquet file: name it .parquet", b"PK\x03\x04": "a zip archive, such as .npz or .xlsx",
            b"\x1f\x8b": "gzip-compressed: name it .gz", b"\x93NUMPY": "a NumPy array: name it .npy",
            b"\xff\xfe": "UTF-16 text: save it as UTF-8", b"\xfe\xff": "UTF-16 text: save it as UTF-8"}


class TextFile:
    """A UTF-8 file. Comments (``#`` or ``%``) and blank lines before the first row are passed over."""

    def __init__(self, path: str | Path) -> None:
        self.name, self.path = str(path), readable(Path(path))
        self.comments, self.first = self._first_line()

    def lines(self, start: int) -> Iterator[str]:
        """The lines from number ``start`` (from 0) on."""
        with opened(self.path) as file:
            for number, line in itertools.islice(enumerate(file, 1), start, None):
                yield self._decoded(line, number)

    def scan(self) -> tuple[int, bool]:
        """How many lines there are at the most, and whether all integers are in their plain form: no 007, 0x7, -0."""
        lines, returns, pairs, plain, before = 1, 0, 0, True, b"\n"
        with opened(self.path) as file:
            while block := file.read(_SCAN):
                if b"\0" in block:
                    for _ in self.lines(0):  # raises at the line that holds it
                        pass
                lines += block.count(b"\n")
                returns += block.count(b"\r")
                pairs += block.count(b"\r\n") + (before.endswith(b"\r") and block.startswith(b"\n"))
                plain = plain and _is_plain(np.frombuffer(before + block, np.uint8))
                before = block[-2:]
        if returns > pairs:
            raise InputError(f"{self.name}: lines end with a bare carriage return; save it with \\n line ends")
        return lines, plain

    def _first_line(self) -> tuple[int, str]:
        """How many comments and blank lines come first, and the line after them."""
        with opened(self.path) as file:
            start = file.read(8)
        for magic, what in _FOREIGN.items():
            if start.startswith(magic):
                raise InputError(f"{self.name} is {what}")
        for number, line in enumerate(self.lines(0)):
            if line.strip() and not line.startswith(_COMMENT):
                return number, line
        raise InputError(f"{self.name} holds no rows")

    def _decoded(self, line: bytes, number: int) -> str:
        if b"\0" in line:
            raise InputError(f"{self.name}, line {number}: holds a NUL byte; it is no text file, or not UTF-8")
        try:
            return line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{self.name}, line {number}: byte 0x{error.object[error.start]:02x} is not UTF-8; "
                             "save the file as UTF-8") from None


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of the file, decompressed where its name ends in ``.gz``."""
    try:
        with path.open("rb") as file:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=file)) if path.suffix.lower() == ".gz" else file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged or cut short ({error}); write it again") from None


def _is_plain(text: np.ndarray) -> bool:
    """No field starts with a 0 that is followed by a digit or an x, and none is -0."""
    zero = np.flatnonzero(text[1:-1] == ord("0")) + 1
    before, after = text[zero - 1], text[zero + 1]
    starts = ((before < ord("0")) | (before > ord("9"))) & (before != ord("."))
    longer = ((after >= ord("0")) & (after <= ord("9"))) | (after == ord("x")) | (after == ord("X"))
    return not bool((starts & (longer | ((before == ord("-")) & (after != ord("."))))).any())
