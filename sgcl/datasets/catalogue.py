"""The datasets by name, and the way from a name to a graph."""

import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

from sgcl.datasets import cache, raw
from sgcl.datasets.benchmarks import BENCHMARKS
from sgcl.datasets.digits import DIGITS
from sgcl.datasets.entry import Dataset
from sgcl.datasets.generated import GRID
from sgcl.errors import InputError, unknown_name
from sgcl.sparse import CSR


class _Catalogue(dict[str, Dataset]):
    """Name to entry; an unknown name is answered with the nearest known one."""

    def __missing__(self, name: str) -> Dataset:
        raise unknown_name("dataset", name, self)


DATASETS = _Catalogue({entry.name: entry for entry in (*BENCHMARKS, DIGITS, GRID)})


def load(name: str, root: str | Path | None = None, *, download: bool = False) -> Data:
    """A dataset by name, as its files have it; ``data.name`` is the name.

    Raw files are checked against their SHA256 before anything parses them, and what was parsed is kept in the cache
    (``SGCL_CACHE``, or ``sgcl`` in the user's cache folder), so that the next call is quick. With a root, the files
    below it are checked at every call; without one, the cache alone is enough.

    Args:
        name: one of ``DATASETS``.
        root: the folder with the raw files, in PyG's layout; ``SGCL_DATA`` unless given. It is never written to.
        download: fetch the raw files where the root does not have them.

    Returns:
        ``x`` (N, F), ``edge_index`` (2, E), and where the dataset has them ``y`` (N,), ``train_mask``, ``val_mask``
        and ``test_mask``, (N,) for one split and (N, R) for R of them.
    """
    entry = DATASETS[name]
    data = _from_files(entry, _root(root), download) if entry.folder else entry.loader()
    data.name = name
    return data


def available(name: str, root: str | Path | None = None) -> bool:
    """Whether :func:`load` finds what it needs without a download; the files are not read."""
    entry = DATASETS[name]
    if not entry.folder:
        return True
    base = _root(root)
    return cache.path_of(entry).is_file() if base is None else raw.present(entry, base)


def describe(name: str) -> dict[str, Any]:
    """What is known of a dataset without reading it, as JSON."""
    entry = DATASETS[name]
    known = ("name", "title", "citation", "protocol", "nodes", "edges", "features", "classes", "folder")
    return {**{key: getattr(entry, key) for key in known}, "files": list(entry.checksums)}


def _root(root: str | Path | None) -> Path | None:
    chosen = root or os.environ.get("SGCL_DATA")
    return Path(chosen).expanduser() if chosen else None


def _from_files(entry: Dataset, root: Path | None, download: bool) -> Data:
    contents = None
    if root is not None and (raw.present(entry, root) or not download):
        contents = raw.read(entry, root)
    data = cache.read(entry)
    if data is None:
        if contents is None and not download:
            raise raw.missing(entry)
        data = _parse(entry, raw.download(entry) if contents is None else contents)
        cache.write(entry, data)
    return data


def _parse(entry: Dataset, contents: dict[str, bytes]) -> Data:
    """Run the loader on a private copy of the bytes that were checked: the root is left alone, whatever it writes."""
    with tempfile.TemporaryDirectory(prefix="sgcl-") as scratch:
        folder = Path(scratch) / entry.folder
        folder.mkdir(parents=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        data = entry.loader(Path(scratch))
    found = _statistics(data)
    expected = (entry.nodes, entry.edges, entry.features, entry.classes)
    if found != expected:
        raise InputError(f"{entry.name}: this version of torch_geometric reads {found} nodes, edges, features and "
                         f"classes from the raw files, expected {expected}: results would not be comparable")
    return data


def _statistics(data: Data) -> tuple[int, int, int, int]:
    """Nodes, undirected edges without loops, features, classes."""
    num_nodes, num_features = data.x.shape
    row, col = data.edge_index[:, data.edge_index[0] != data.edge_index[1]]
    edges = CSR.from_coo(torch.minimum(row, col), torch.maximum(row, col), shape=(num_nodes, num_nodes)).nnz
    return num_nodes, edges, num_features, 0 if data.y is None else int(data.y.max()) + 1
