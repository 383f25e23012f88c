"""Columns of a text file by pyarrow: in one thread, a block at a time, so that memory holds the result and little else.

What it gives is what the csv module in :mod:`sgcl.readers.text` gives; on any doubt it gives nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sgcl.readers.arrow_texts import ArrowTexts
from sgcl.readers.ids import LONGEST
from sgcl.readers.table import Columns, Room, RoomFor

_BLOCK = 1 << 22  # bytes at a time
_TEXT_BLOCK = 1 << 24  # more for text: each block costs a look at all texts met so far


def fast_columns(path: Path, columns: Sequence[str], skipped: int, delimiter: str, ids: Sequence[str],
                 numbers: Sequence[str], label: str | None, bound: int, *, integers: bool,
                 room: RoomFor | None = None) -> Columns | None:
    """The named columns; None where pyarrow is not installed or finds anything odd.

    Args:
        path: the file, decompressed by pyarrow where it ends in ``.gz``.
        columns: what the columns are called.
        skipped: lines before the first row.
        delimiter: one sign.
        ids, numbers, label: the columns wanted, as in :meth:`sgcl.readers.table.Table.read`.
        bound: at least as many as there are rows.
        integers: whether to read ids and labels as integers, or else as text.
        room: makes the room for them.
    """
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv
    except ImportError:
        return None
    named = [*ids, *([] if label is None else [label])]
    kinds = dict.fromkeys(named, pa.int64() if integers else pa.string()) | dict.fromkeys(numbers, pa.float64())
    made, texts, labels = (room or Room)(len(named), len(numbers), bound), ArrowTexts(), ArrowTexts()
    block, quote = _BLOCK if integers else _TEXT_BLOCK, False if delimiter == " " else '"'
    try:
        with csv.open_csv(
                str(path), read_options=csv.ReadOptions(block_size=block, skip_rows=skipped, column_names=columns,
                                                        use_threads=False),
                parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=quote),
                convert_options=csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=[""],
                                                   strings_can_be_null=False)) as batches:
            for batch in batches:
                if any(column.null_count for column in batch.columns):
                    return None
                column_of = dict(zip(kinds, batch.columns, strict=True))
                made.add([column_of[name].to_numpy() if integers
                          else (labels if name == label else texts).encode(pc.ascii_trim(column_of[name], " \t"))
                          for name in named],
                         [column_of[name].to_numpy() for name in numbers])
    except (pa.ArrowException, OSError):
        return None
    if integers:
        return made.columns(None, None)
    found, classes = texts.list(), labels.list()
    if "" in found or any("\n" in text or len(text) > LONGEST for text in (*found, *classes)):
        return None
    return made.columns(None if label is None else classes, found)
