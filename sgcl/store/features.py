"""Features on their way into a store: whatever they come from, rows in node order, a block at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from sgcl.errors import InputError, unknown_name
from sgcl.readers.features import Features, array_features, table_features
from sgcl.readers.ids import Ids, blocks
from sgcl.readers.sources import open_table, suffix
from sgcl.readers.structure import DEGREE_CAP, STRUCTURAL
from sgcl.readers.table import RoomFor
from sgcl.store.arrays import ArrayFile, write_array

MADE = ("degree", "ones")  # features made from the graph without a look at the whole of it

_ROWS = 1 << 22  # of features made from the graph, at a time


def find_features(features: str | Path, rows: Ids | None, id_column: str, room: RoomFor) -> Features | None:
    """Features of a file, left in it or in temporary ones where they are dense; ``None`` for those to be made."""
    if features in MADE:
        return None
    if features in STRUCTURAL:
        raise InputError(f"{features} features need the whole graph in memory: for a store give a file of them, or one "
                         f"of {', '.join(MADE)}")
    if not Path(features).suffix and not Path(features).exists():
        raise unknown_name("file or features", str(features), MADE)
    if suffix(features) in (".npy", ".npz"):
        return array_features(features, rows, mapped=True)
    return table_features(open_table(features, ".npy", ".npz"), id_column, room)


def write_features(folder: Path, given: Features, number: np.ndarray, dtype: Any, memory: int,
                   tell: Callable[[float], None]) -> dict[str, dict[str, Any]]:
    """The records of ``x``, or of its CSR form where the features are sparse.

    Args:
        folder: the store.
        given: n rows.
        number: (n,) the node of each.
        dtype: float32 or float16, of dense features.
        memory: bytes for a block of rows.
        tell: called with the share that is done.
    """
    in_order = all(int(number[rows.start]) == rows.start and bool((np.diff(number[rows]) == 1).all())
                   for rows in blocks(len(number)))
    order = None if in_order else np.argsort(number, kind="stable")        # (N,) the row of each node
    if scipy.sparse.issparse(given.x):
        x = scipy.sparse.csr_array(given.x if order is None else given.x[order])
        x.sort_indices()
        return {name: write_array(folder / f"{name}.npy", part) for name, part in (
            ("x_ptr", x.indptr.astype(np.int64)), ("x_idx", x.indices.astype(np.int32)),
            ("x_value", x.data.astype(np.float32)))}
    width = given.x.shape[1]
    with ArrayFile(folder / "x.npy", dtype, width) as file:
        for rows in blocks(len(number), max(memory // (16 * width), 1)):
            taken = given.x[rows if order is None else order[rows]]
            with np.errstate(over="ignore"):
                block = taken.astype(dtype)
            _check_finite(given, taken, block, rows if order is None else order[rows])
            file.add(block)
            tell(rows.stop / len(number))
    return {"x": file.record}


def made_features(folder: Path, word: str, degree: np.ndarray, dtype: Any) -> dict[str, dict[str, Any]]:
    """The records of features made from the (N,) numbers of neighbours."""
    if word == "ones":
        with ArrayFile(folder / "x.npy", dtype, 1) as file:
            for rows in blocks(len(degree), _ROWS):
                file.add(np.ones((rows.stop - rows.start, 1), dtype))
        return {"x": file.record}
    parts = {"x_ptr": np.arange(len(degree) + 1), "x_idx": np.minimum(degree, DEGREE_CAP).astype(np.int32),
             "x_value": np.ones(len(degree), np.float32)}
    return {name: write_array(folder / f"{name}.npy", part) for name, part in parts.items()}


def made_width(word: str) -> int:
    return 1 if word == "ones" else DEGREE_CAP + 1


def _check_finite(given: Features, taken: np.ndarray, block: np.ndarray, rows: Any) -> None:
    finite = np.isfinite(block)
    if finite.all():
        return
    row, column = np.unravel_index(int(finite.argmin()), finite.shape)
    place = int(rows.start + row if isinstance(rows, slice) else rows[row])
    value = float(taken[row, column])
    if np.isfinite(np.float32(value)):
        raise InputError(f"{given.name}, {given.where(place)}: {value:g} is too large for float16; import with "
                         "--feature-dtype float32")
    raise InputError(f"{given.name}, {given.where(place)}: holds a NaN, infinite or too large number; replace it")
