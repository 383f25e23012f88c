"""What ``--graph`` names: one's own files, a store or a folder of parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from torch_geometric.data import Data

from sgcl import readers
from sgcl.errors import InputError
from sgcl.store.manifest import is_store
from sgcl.store.parts import is_parts, read_parts
from sgcl.store.read import label_nodes, read_store

_BESIDE = ("features", "ids", "source", "target", "weight")  # what edges are read with, and a store is not


def read_files(files: Mapping[str, Any]) -> Data:
    """One's own files as :func:`sgcl.readers.read_files` reads them; a store, or parts of one, where they name that."""
    edges = files.get("edges")
    if not is_store(edges):
        if isinstance(edges, str | Path) and Path(edges).is_dir():
            raise InputError(f"{edges} is a folder and no graph store: it has no manifest.json; make one with `sgcl "
                             "import`, or give the file in it")
        return readers.read_files(files)
    parted = is_parts(edges)
    for name in (*_BESIDE, "labels") if parted else _BESIDE:
        if name in files:
            raise InputError(f"{edges} is a {'folder of parts of a ' if parted else ''}graph store, which has all that "
                             f"was imported: leave out --{name.replace('weight', 'edge-weight')}")
    if parted:
        return read_parts(cast(str, edges))
    data = read_store(cast(str, edges))
    if "labels" in files:
        return label_nodes(data, files["labels"], **{name: files[name] for name in ("id_column", "label_column")
                                                     if name in files})
    return data
