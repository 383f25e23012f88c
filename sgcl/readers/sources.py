"""Where edges may come from, told apart by type and by the end of a file's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import scipy.sparse

from sgcl.errors import InputError
from sgcl.readers.arrays import load_array
from sgcl.readers.edges import EdgeList
from sgcl.readers.graphml import read_graphml
from sgcl.readers.ids import Ids
from sgcl.readers.objects import from_matrix, from_networkx, is_networkx
from sgcl.readers.parquet import ParquetTable
from sgcl.readers.table import RoomFor, Table, not_used, require
from sgcl.readers.text import TEXT_SUFFIXES, TextTable

PARQUET_SUFFIXES = (".parquet", ".pq")

_HEADER_WORDS = {"source", "target", "src", "dst", "from", "to", "u", "v", "node", "node1", "node2", "id", "id1", "id2",
                 "head", "tail", "fromnodeid", "tonodeid", "source_id", "target_id", "weight"}


def read_edges(edges: Any, source: str, target: str, weight: str | bool | None, rows: Ids | None,
               room: RoomFor | None = None) -> EdgeList:
    """Edges with their ids; see :func:`sgcl.readers.read.read_graph` for what the arguments mean, and
    :meth:`sgcl.readers.table.Table.read` for the ``room`` of a table."""
    if scipy.sparse.issparse(edges):
        return from_matrix("the adjacency", edges, rows, weighted=weight is not False)
    if is_networkx(edges):
        return from_networkx(edges, weight)
    if not isinstance(edges, str | Path):
        raise InputError(f"cannot read a graph from {type(edges).__name__}; give the path of a file, a SciPy sparse "
                         "matrix, a NetworkX graph or a PyG Data")
    kind = suffix(edges)
    if kind == ".graphml":
        return read_graphml(edges, weight)
    if kind == ".npz":
        matrix = load_array(Path(edges))
        if not scipy.sparse.issparse(matrix):
            raise InputError(f"{edges} holds a dense array; save the adjacency by scipy.sparse.save_npz")
        return from_matrix(str(edges), matrix, rows, weighted=weight is not False)
    return _table_edges(open_table(edges, ".graphml", ".npz"), source, target, weight, room)


def open_table(path: str | Path, *others: str) -> Table:
    """The table in the file; ``others`` are the endings that the caller takes besides, for the message."""
    kind = suffix(path)
    if kind in TEXT_SUFFIXES:
        return TextTable(path)
    if kind in PARQUET_SUFFIXES:
        return ParquetTable(path)
    known = ", ".join((*TEXT_SUFFIXES, ".parquet", *others))
    raise InputError(f"{path}: cannot tell what is in a file named so; its name should end in one of {known}")


def suffix(path: str | Path) -> str:
    """The end of the name in small letters, without ``.gz``."""
    name = Path(path).name.lower()
    return Path(name.removesuffix(".gz")).suffix if not name.endswith((".parquet.gz", ".npz.gz")) else ".gz"


def _table_edges(table: Table, source: str, target: str, weight: str | bool | None,
                 room: RoomFor | None) -> EdgeList:
    if isinstance(table, TextTable) and _is_headless(table, source, target):
        table.without_header([source, target, "weight"][:len(table.columns)])
        table.notes.append(f"{table.name}: line 1 is taken as an edge, for it names no columns {source!r}, {target!r}")
    require(table, source, "source")
    require(table, target, "target")
    if isinstance(weight, str):
        require(table, weight, "weight")
    elif weight is None and "weight" in table.columns and "weight" not in (source, target):
        weight = "weight"
    used = [source, target, weight] if isinstance(weight, str) else [source, target]
    found = table.read([source, target], used[2:], room=room)
    table.notes += not_used(table.name, "column", [name for name in table.columns if name not in used])
    return EdgeList(table.name, found.ids[0], found.ids[1], found.numbers[:, 0] if len(used) == 3 else None,
                    where=table.where, notes=table.notes)


def _is_headless(table: TextTable, source: str, target: str) -> bool:
    """Whether the first row is an edge: it holds neither name, both names are the usual ones, and no cell is a word
    that headers are made of."""
    first = table.columns
    if source in first or target in first or (source, target) != ("source", "target"):
        return False
    if not 2 <= len(first) <= 3:
        raise InputError(f"{table.name}: {len(first)} column(s), none called 'source' or 'target'; "
                         "name two with source= and target= (--source, --target), or give two or three set apart by "
                         "commas, tabs, semicolons or spaces")
    if any(cell.lower() in _HEADER_WORDS for cell in first):
        raise InputError(f"{table.name}: columns {', '.join(map(repr, first))}, none called 'source' or 'target'; "
                         f"name them with source={first[0]!r} and target={first[1]!r} (--source, --target)")
    return True
