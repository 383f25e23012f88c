"""A store from files of any size: the readers' own steps, with columns in temporary files and an external sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from torch_geometric.data import Data

from sgcl.embeddings import memory_bytes
from sgcl.errors import InputError, unknown_name
from sgcl.readers.arrays import row_ids
from sgcl.readers.assemble import add_labels, feature_rows, number_nodes
from sgcl.readers.edges import EdgeList, told
from sgcl.readers.features import Features
from sgcl.readers.ids import blocks
from sgcl.readers.labels import Labels, read_labels
from sgcl.readers.sources import open_table, read_edges
from sgcl.store.arrays import ArrayFile, write_array
from sgcl.store.buckets import Count, EdgeSort
from sgcl.store.features import MADE, find_features, made_features, made_width, write_features
from sgcl.store.manifest import check_free, in_the_making, left_for_blocks, write_manifest
from sgcl.store.ogb import raw_folder, read_ogb
from sgcl.store.spill import spilling

FeatureType = Literal["float32", "float16"]
Tell = Callable[[str, float], None]  # what is being done, and the share of it that is

_ROWS = 1 << 24    # edges at a time
_A_NODE = 48       # bytes of ids, places, degrees and labels of a node


def import_graph(edges: str | Path | Sequence[str | Path], out: str | Path, *, features: str | Path | None = None,
                 labels: str | Path | None = None, ids: str | Path | None = None, source: str = "source",
                 target: str = "target", weight: str | bool | None = None, id_column: str = "id",
                 label_column: str = "label", feature_dtype: FeatureType = "float32", memory: int | str = "2GB",
                 tell: Tell = lambda what, share: None) -> dict[str, Any]:
    """Build a store in bounded memory, the same graph that :func:`sgcl.readers.read_graph` reads; gives its manifest.

    Args:
        edges: an edge list, several that are parts of one, or a raw folder of OGB's, which has features and labels.
        out: the store, a new folder. Temporary files lie beside it: about 32 bytes for each row of the edges, and a
            table of features once more.
        features: a table or an array, which names all nodes there are; or ``"degree"`` or ``"ones"``, made of the
            edges.
        labels, ids, source, target, weight, id_column, label_column: as for :func:`sgcl.readers.read_graph`.
        feature_dtype: how dense features are kept. Batches are float32 whatever it is.
        memory: what to take at most, beside the packages themselves. Ids that are text, labels and sparse features are
            held as a whole.
        tell: called with what is being done and the share of it that is.
    """
    if feature_dtype not in get_args(FeatureType):
        raise unknown_name("feature dtype", feature_dtype, get_args(FeatureType))
    size, out = memory_bytes(memory) or 0, Path(out)
    files = [Path(edges)] if isinstance(edges, str | Path) else [Path(file) for file in edges]
    if not files:
        raise InputError("which edges? give an edge list, several, or a raw folder of OGB's")
    raw = raw_folder(files[0])
    if raw is None and features is None:
        raise InputError("the graph has no node features: give --features FILE, or one of "
                         f"{', '.join(MADE)} to make them from the graph")
    if raw is not None and (len(files) > 1 or features is not None or labels is not None):
        raise InputError(f"{raw} is a raw folder of OGB's, which has its features and labels: give nothing besides")
    check_free(out)
    with in_the_making(out) as folder:
        if raw is not None:
            tell(f"reading {raw}", 0.0)
            read = _of_ogb(raw, folder)
        else:
            room, rows = spilling(folder), row_ids(ids)
            parts = []
            for done, file in enumerate(files):
                tell(f"reading {file.name}", done / len(files))
                parts.append(read_edges(file, source, target, weight, rows, room))
            tell(f"reading {features}", 0.0)
            read = _Read(parts, find_features(features or "", rows, id_column, room),
                         None if labels is None else read_labels(open_table(labels), id_column, label_column))
        tell("numbering the nodes", 0.0)
        node_ids = number_nodes(read.edges, read.features, read.labels)
        size = _check_size(len(node_ids), size)
        number = None if read.features is None else feature_rows(node_ids, read.features)
        beside = {**_labels(node_ids, read), **read.masks}
        notes = [note for part in read.edges for note in part.notes]
        directed = all(part.directed for part in read.edges)
        sort = _dealt_out(folder, read.edges, len(node_ids), size, lambda share: tell("dealing out the edges", share))
        arrays, degree = _write_adjacency(folder, sort, lambda share: tell("sorting the edges", share))
        if read.features is None or number is None:
            arrays |= made_features(folder, str(features), degree, np.dtype(feature_dtype))
        else:
            arrays |= write_features(folder, read.features, number, np.dtype(feature_dtype), size,
                                     lambda share: tell("writing the features", share))
        for what, array in {"ids": node_ids, **beside}.items():
            arrays[what] = write_array(folder / f"{what}.npy", array)
        return write_manifest(
            folder, arrays, nodes=len(node_ids), edges=arrays["idx"]["shape"][0] // 2,
            features=made_width(str(features)) if read.features is None else read.features.x.shape[1],
            feature_names=None if read.features is None else read.features.columns,
            notes=[*notes, *_notes(sort.count, "value" in arrays, directed)], imported=[file.name for file in files])


class _Read(NamedTuple):
    """What files hold, columns in temporary files."""

    edges: list[EdgeList]
    features: Features | None
    labels: Labels | None = None
    y: np.ndarray | None = None
    masks: Mapping[str, np.ndarray] = MappingProxyType({})


def _of_ogb(raw: Path, folder: Path) -> _Read:
    found = read_ogb(raw, folder)
    return _Read([found.edges], found.features, None, found.y, found.masks)


def _check_size(num_nodes: int, memory: int) -> int:
    """Bytes left for edges and features, beside those for the nodes."""
    if num_nodes < 2:
        raise InputError("the graph has a single node: contrastive learning needs at least two")
    if num_nodes >= 1 << 31:
        raise InputError(f"the graph has {num_nodes:,} nodes; a store holds at most 2^31 - 1")
    return left_for_blocks(memory, num_nodes, _A_NODE, "import")


def _labels(ids: np.ndarray, read: _Read) -> dict[str, np.ndarray]:
    """``y`` and ``classes``, where there are any."""
    if read.labels is None:
        return {} if read.y is None else {"y": read.y}
    data = Data(ids=ids)
    add_labels(data, read.labels)
    return {"y": data.y.numpy(), "classes": data.classes}


def _dealt_out(folder: Path, parts: list[EdgeList], num_nodes: int, memory: int, tell: Callable[[float], None]
               ) -> EdgeSort:
    """The edges of all parts, ready to be sorted. Each part is taken out of the list, and its files go with it."""
    name, total, done = parts[0].name, sum(len(part.source) for part in parts), 0
    sort = EdgeSort(folder, num_nodes, total, memory, any(part.weight is not None for part in parts))
    while parts:
        part = parts.pop(0)
        for rows in blocks(len(part.source), _ROWS):
            tell(done / total)
            ends = part.source.values[rows], part.target.values[rows]
            if not part.directed:
                ends = np.minimum(*ends), np.maximum(*ends)
            sort.add(*ends, None if part.weight is None else part.weight[rows])
            done += rows.stop - rows.start
    if not sort.count.given:
        raise InputError(f"{name} holds no edges besides self-loops and edges of weight 0")
    return sort


def _write_adjacency(folder: Path, sort: EdgeSort, tell: Callable[[float], None]
                     ) -> tuple[dict[str, dict[str, Any]], np.ndarray]:
    """The records of ``ptr``, ``idx`` and, unless all edges weigh 1, ``value``; and the (N,) numbers of neighbours."""
    degree = np.zeros(sort.num_nodes, np.int64)
    with ArrayFile(folder / "idx.npy", np.int32) as idx, ArrayFile(folder / "value.npy", np.float32) as value:
        for entries in sort.entries(tell):
            first = int(entries.row[0])
            count = np.bincount(entries.row - first)
            degree[first:first + len(count)] += count
            idx.add(entries.col)
            if entries.value is not None:
                value.add(entries.value)
    ptr = np.concatenate([[0], np.cumsum(degree)])
    arrays = {"ptr": write_array(folder / "ptr.npy", ptr), "idx": idx.record}
    if sort.weighted and not sort.count.all_ones:
        return {**arrays, "value": value.record}, degree
    value.path.unlink()
    return arrays, degree


def _notes(count: Count, weighted: bool, directed: bool) -> list[str]:
    """As :func:`sgcl.readers.edges.tidy` words them."""
    notes = told(count.loops, "self-loop", "left out") + told(count.zeros, "edge", "left out", " of weight 0")
    notes += told(count.given - count.distinct, "duplicate edge", "merged, weights added up" if weighted else "merged")
    one_way = count.distinct - count.both_ways
    if one_way and directed:
        notes.append(f"{one_way:,} of {count.distinct:,} edges are given in one direction only: both directions are "
                     "used")
    return notes
