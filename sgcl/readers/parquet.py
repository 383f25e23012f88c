"""Tables in Parquet files, read batch by batch through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.arrow_texts import ArrowTexts
from sgcl.readers.ids import LONGEST
from sgcl.readers.table import Columns, Room, RoomFor, check_names, first_line, readable

_ROWS = 1 << 17  # rows at a time
_TEXT_ROWS = 1 << 19  # more for text: each batch costs a look at all texts met so far


class ParquetTable:
    """A Parquet file. Ids are integers or text as the column's type says; text is taken to the letter."""

    def __init__(self, path: str | Path) -> None:
        pq = parquet_module()
        self.name = str(path)
        self.notes: list[str] = []
        with self._told():
            self._file = pq.ParquetFile(readable(Path(path)), buffer_size=1 << 20, pre_buffer=False)
            self._schema = self._file.schema_arrow
            self.columns: list[str] = self._schema.names

    def read(self, ids: Sequence[str], numbers: Sequence[str] = (), *, label: str | None = None,
             room: RoomFor | None = None) -> Columns:
        named = [*ids, *([] if label is None else [label])]
        check_names(self, [*named, *numbers])
        for name in named:
            self._check_type(name, number=False)
        for name in numbers:
            self._check_type(name, number=True)
        rows = _ROWS if all(self._whole(name) for name in named) else _TEXT_ROWS
        texts, labels = ArrowTexts(), ArrowTexts()
        with self._told():
            made = (room or Room)(len(named), len(numbers), self._file.metadata.num_rows)
            for batch in self._file.iter_batches(rows, columns=[*named, *numbers], use_threads=False):
                made.add([self._ids(batch.column(name), name, made.length, labels if name == label else texts,
                                    empty=name == label) for name in named],
                         [self._numbers(batch.column(name), name, made.length) for name in numbers])
            known, classes = texts.list(), labels.list()
        found = made.columns(None if label is None else classes, None)
        for column, name in zip(found.ids, ids, strict=False):
            column.texts = None if self._whole(name) else known
        return found

    def where(self, row: int) -> str:
        return f"row {row + 1}"

    def _check_type(self, name: str, *, number: bool) -> None:
        import pyarrow.types as of

        kind = self._schema.field(name).type
        if number and not (of.is_integer(kind) or of.is_floating(kind) or of.is_boolean(kind) or of.is_decimal(kind)):
            raise InputError(f"{self.name}: column {name!r} holds {kind}, expected numbers; leave it out or encode it")
        if not number and not (of.is_integer(kind) or _is_text(kind)):
            raise InputError(f"{self.name}: column {name!r} holds {kind}; cast it to integers or to text")

    def _whole(self, name: str) -> bool:
        import pyarrow.types as of

        return bool(of.is_integer(self._schema.field(name).type))

    def _ids(self, column: Any, name: str, before: int, texts: ArrowTexts, *, empty: bool) -> np.ndarray:
        import pyarrow as pa
        import pyarrow.compute as pc

        if column.null_count and not empty:
            row = before + pc.index(column.is_null(), True).as_py()
            raise InputError(f"{self.name}, {self.where(row)}: column {name!r} is empty; every row needs an id")
        if self._whole(name) and not empty:
            try:
                integers: np.ndarray = column.cast(pa.int64()).to_numpy()
                return integers
            except pa.ArrowInvalid:
                raise InputError(f"{self.name}: column {name!r} holds integers beyond 64 bits with sign; "
                                 "cast it to text") from None
        column = column.cast(pa.string()).fill_null("")
        codes = texts.encode(column)
        for text in texts.new:
            if (not text and not empty) or "\0" in text or len(text) > LONGEST:
                row = before + pc.index(column, text).as_py()
                what = (f"holds more than {LONGEST} characters; shorten it" if len(text) > LONGEST else
                        "holds a NUL character; remove it" if text else "is empty; every row needs an id")
                raise InputError(f"{self.name}, {self.where(row)}: column {name!r} {what}")
        return codes

    def _numbers(self, column: Any, name: str, before: int) -> np.ndarray:
        import pyarrow as pa
        import pyarrow.compute as pc

        if column.null_count:
            row = before + pc.index(column.is_null(), True).as_py()
            raise InputError(f"{self.name}, {self.where(row)}: column {name!r} is empty, expected a number")
        numbers: np.ndarray = column.cast(pa.float64(), safe=False).to_numpy()
        return numbers

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What pyarrow finds wrong, as one line."""
        import pyarrow as pa

        try:
            yield
        except InputError:
            raise
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            raise InputError(f"{self.name} is no whole Parquet file ({first_line(error)}); "
                             "write it again") from None


def parquet_module() -> Any:
    """``pyarrow.parquet``, which is an extra."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("Parquet files need pyarrow: pip install 'sgcl[parquet]'") from None
    return pq


def _is_text(kind: Any) -> bool:
    import pyarrow.types as of

    value = kind.value_type if of.is_dictionary(kind) else kind
    return bool(of.is_string(value) or of.is_large_string(value) or of.is_string_view(value))
