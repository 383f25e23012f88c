"""The datasets by name, and the way from a name to a graph."""

import os
import tempfile
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from sgcl.datasets import cache, raw
from sgcl.datasets.attachment import KARIMI, MIXHOP
from sgcl.datasets.benchmarks import BENCHMARKS
from sgcl.datasets.blockmodel import SBM
from sgcl.datasets.digits import DIGITS
from sgcl.datasets.entry import Dataset
from sgcl.datasets.generated import GRID
from sgcl.datasets.linkx import LINKX
from sgcl.datasets.ogb import OGB
from sgcl.datasets.statistics import count_edges
from sgcl.datasets.tu import COLLECTIONS, named_features, split_collection, with_attributes
from sgcl.errors import InputError, unknown_name


class _Catalogue(dict[str, Dataset]):
    """Name to entry; an unknown name is answered with the nearest known one."""

    def __missing__(self, name: str) -> Dataset:
        raise unknown_name("dataset", name, self)


DATASETS = _Catalogue({entry.name: entry for entry in (*BENCHMARKS, *OGB, *LINKX, *COLLECTIONS, DIGITS, GRID, SBM,
                                                       KARIMI, MIXHOP)})


def load(name: str, root: str | Path | None = None, *, download: bool = False) -> Data:
    """A dataset by name, as its files have it; ``data.name`` is the name.

    Raw files that may be pickles are checked against their SHA256 before anything parses them, and what was parsed is
    kept in the cache (``SGCL_CACHE``, or ``sgcl`` in the user's cache folder), so that the next call is quick. With a
    root, the files below it are checked at every call; without one, the cache alone is enough.

    Args:
        name: one of ``DATASETS``.
        root: the folder with the raw files, in the layout of PyG and OGB; ``SGCL_DATA`` unless given. It is never
            written to.
        download: fetch the raw files where the root does not have them.

    Returns:
        ``x`` (N, F), ``edge_index`` (2, E), and where the dataset has them ``y`` (N,), or (N, T) for T labels a node,
        ``train_mask``, ``val_mask`` and ``test_mask``, (N,) for one split and (N, R) for R of them.
    """
    entry = DATASETS[name]
    if entry.task == "graph":
        raise InputError(f"{name} is a collection of {entry.graphs:,} graphs, not one graph: read it with "
                         f"sgcl.datasets.load_collection({name!r})")
    data = _from_files(entry, _root(root), download) if entry.folder else entry.loader()
    data.name = name
    return data


def load_collection(name: str, root: str | Path | None = None, *, attributes: bool = False,
                    download: bool = False) -> list[Data]:
    """The graphs of a collection by name, in the order of its files.

    Args:
        name: one of ``DATASETS`` whose ``task`` is ``"graph"``.
        root: as in :func:`load`.
        attributes: put the continuous node attributes in front of the other features, where there are any.
        download: as in :func:`load`.

    Returns:
        ``x`` (n, F): one-hot node labels, else one-hot degrees, 0 to 64 and more; ``edge_index`` (2, e): both
        directions; ``y`` (1,): the class of the graph.
    """
    return split_collection(load_side_by_side(name, root, attributes=attributes, download=download))


def load_side_by_side(name: str, root: str | Path | None = None, *, attributes: bool = False,
                      download: bool = False) -> Data:
    """A collection as :func:`load_collection` reads it, in one ``Data`` with ``batch`` (N,), the graph of each node,
    and ``y`` (G,)."""
    entry = DATASETS[name]
    if entry.task != "graph":
        raise InputError(f"{name} is one graph, not a collection: read it with sgcl.datasets.load({name!r})")
    data = _from_files(entry, _root(root), download)
    data.name, data.num_graphs = name, len(data.y)
    return with_attributes(name, data) if attributes else named_features(data)


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
    known = ("name", "title", "citation", "licence", "task", "protocol", "metric", "graphs", "nodes", "edges",
             "features", "classes", "folder")
    return {**{key: getattr(entry, key) for key in known}, "published": dict(entry.published),
            "files": list(entry.files)}


def _root(root: str | Path | None) -> Path | None:
    chosen = root or os.environ.get("SGCL_DATA")
    return Path(chosen).expanduser() if chosen else None


def _from_files(entry: Dataset, root: Path | None, download: bool) -> Data:
    return (_from_plain_files if entry.plain else _from_verified_files)(entry, root, download)


def _from_verified_files(entry: Dataset, root: Path | None, download: bool) -> Data:
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
        return _checked(entry, entry.loader(Path(scratch)))


def _from_plain_files(entry: Dataset, root: Path | None, download: bool) -> Data:
    """Read the files where they are, block by block: some are too large to be copied."""
    here = root if root is not None and raw.present(entry, root) else None
    if root is not None and here is None and not download:
        raw.require(entry, root)
    stamp = None if here is None else raw.stamp(entry, here)
    data = cache.read(entry, stamp)
    if data is not None:
        return data
    if here is not None:
        data = _checked(entry, entry.loader(here))
    elif download:
        with tempfile.TemporaryDirectory(prefix="sgcl-") as scratch:
            raw.fetch(entry, Path(scratch))
            data = _checked(entry, entry.loader(Path(scratch)))
    else:
        raise raw.missing(entry)
    cache.write(entry, data, stamp or "")
    return data


def _checked(entry: Dataset, data: Data) -> Data:
    """``data``, if its numbers are the expected ones."""
    edges = data.edge_index.size(1) if entry.listed else count_edges(data)
    found: tuple[int, ...] = (data.x.size(0), edges, data.x.size(1), _num_classes(data))
    expected: tuple[int, ...] = (entry.nodes, entry.edges, entry.features, entry.classes)
    what = "nodes, edges, features and classes"
    if entry.task == "graph":
        found, expected, what = (*found, len(data.y)), (*expected, entry.graphs), f"{what}, and graphs"
    if entry.split is not None:
        sizes = tuple(int(data[name].sum()) for name in ("train_mask", "val_mask", "test_mask"))
        found, expected, what = (*found, *sizes), (*expected, *entry.split), f"{what}, and train, val and test nodes"
    if found == expected:
        return data
    if entry.plain:
        raise InputError(f"{entry.name}: the raw files hold {found} {what}, the published ones {expected}: results "
                         "would not be comparable")
    raise InputError(f"{entry.name}: this version of torch_geometric reads {found} {what} from the raw files, "
                     f"expected {expected}: results would not be comparable")


def _num_classes(data: Data) -> int:
    if data.y is None:
        return 0
    return int(data.y.size(1)) if data.y.dim() == 2 else int(data.y.max()) + 1
