"""Node features from a table with an id column, or from an array whose rows go by number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from sgcl.errors import InputError
from sgcl.readers.arrays import check_dense, feature_matrix, load_array
from sgcl.readers.ids import Ids
from sgcl.readers.table import RoomFor, Table, check_finite, require


@dataclass
class Features:
    """n rows of features.

    Args:
        name: where they come from.
        ids: (n,) the nodes.
        x: (n, F) float32, dense or sparse by rows.
        where: how a message calls a row.
        by_number: the rows carry no ids; row i is the node of id i.
        columns: (F,) the names of the columns, where they have any.
    """

    name: str
    ids: Ids
    x: np.ndarray | scipy.sparse.csr_array
    where: Callable[[int], str]
    by_number: bool = False
    columns: list[str] | None = None

    def ordered(self, number: np.ndarray) -> np.ndarray | scipy.sparse.csr_array:
        """(N, F) with the row of node i at i."""
        if np.array_equal(number, np.arange(len(number))):
            return self.x
        order = np.empty_like(number)
        order[number] = np.arange(len(number))
        return self.x[order]


def table_features(table: Table, id_column: str, room: RoomFor | None = None) -> Features:
    """Every column but the id column is a feature. ``room`` is that of :meth:`sgcl.readers.table.Table.read`."""
    require(table, id_column, "id_column")
    names = [name for name in table.columns if name != id_column]
    if not names:
        raise InputError(f"{table.name} has no feature columns, only {id_column!r}; add one, or leave the file out")
    found = table.read([id_column], names, room=room)
    if len(found.numbers) == 0:
        raise InputError(f"{table.name} holds no rows of features")
    check_finite(table, found.numbers, names)
    return Features(table.name, found.ids[0], found.numbers, table.where, columns=names)


def array_features(given: Any, rows: Ids | None, *, mapped: bool = False) -> Features:
    """An (N, F) array or sparse matrix, or a file of one; row i is the i-th of ``rows``, or the node of id i.

    With ``mapped`` the array of a ``.npy`` file is left there, of whatever kind its numbers are, finite or not.
    """
    name = str(given) if isinstance(given, str | Path) else "features"
    if isinstance(given, str | Path):
        x = load_array(Path(given), mapped=mapped)
        if isinstance(x, np.memmap):
            check_dense(name, x)
        else:
            x = feature_matrix(name, x, copy=False)
    else:
        x = feature_matrix(name, given)
    if rows is not None and len(rows) != x.shape[0]:
        raise InputError(f"{name}: {x.shape[0]} rows, but {len(rows)} ids; give one for each row")
    ids = Ids(np.arange(x.shape[0])) if rows is None else Ids(rows.values.copy(), rows.texts)
    return Features(name, ids, x, lambda row: f"row {row + 1}", by_number=rows is None)
