"""Labels from a table with an id and a label column, some nodes left out or empty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.ids import Ids, as_integers
from sgcl.readers.table import Table, require


@dataclass
class Labels:
    """n labels.

    Args:
        table: where they come from.
        ids: (n,) the nodes.
        y: (n,) class numbers, -1 for none.
        classes: (C,) what the classes are called, ascending: int64, or text by code point.
    """

    table: Table
    ids: Ids
    y: np.ndarray
    classes: np.ndarray


def read_labels(table: Table, id_column: str, label_column: str) -> Labels:
    """Labels that are all integers are ordered as integers, otherwise as text; an empty label is none."""
    require(table, id_column, "id_column")
    require(table, label_column, "label_column")
    ids, labels = table.read([id_column], label=label_column).ids
    if len(ids) == 0:
        raise InputError(f"{table.name} holds no labels")
    found = labels.distinct()
    if found.dtype.kind == "U":
        found = found[found != ""]
        whole = as_integers(found.tolist())
        found = found if whole is None else np.sort(whole)
    if len(found) == 0:
        raise InputError(f"{table.name}: column {label_column!r} is empty in every row; leave the labels out")
    names = found.tolist()
    number = {str(name): place for place, name in enumerate(names)}
    if labels.texts is None:
        return Labels(table, ids, np.searchsorted(found, labels.values), found)
    codes = np.array([number.get(text, -1) for text in labels.texts])
    return Labels(table, ids, codes[labels.values], found)
