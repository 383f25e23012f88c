"""A store from files of any size: the readers' own steps, with columns in temporary files and an external sort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from torch_geometric.data import Data

from sgcl.embeddings import memory_bytes
from sgcl.errors import InputError, unknown_name
from sgcl.readers.arrays import row_ids
from sgcl.readers.assemble import add_labels, feature_rows, number_nodes
from sgcl.readers.edges import told
from sgcl.readers.features import Features
from sgcl.readers.ids import blocks
from sgcl.readers.labels import read_labels
from sgcl.readers.sources import open_table, read_edges
from sgcl.store.arrays import ArrayFile, write_array
from sgcl.store.buckets import Count, EdgeSort
from sgcl.store.features import MADE, find_features, made_features, made_width, write_features
from sgcl.store.manifest import check_free, in_the_making, write_manifest
from sgcl.store.ogb import raw_folder, read_ogb
from sgcl.store.spill import spilling

FeatureType = Literal["float32", "float16"]
Tell = Callable[[str, float], None]  # what is being done, and the share of it that is

_LEAST = 1 << 26   # bytes, beside those for the nodes
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
        masks: dict[str, np.ndarray] = {}
        named, y = None, None
        if raw is not None:
            tell(f"reading {raw}", 0.0)
            found = read_ogb(raw, folder)
            parts, given, y, masks = [found.edges], found.features, found.y, found.masks
        else:
            room, rows, parts = spilling(folder), row_ids(ids), []
            for done, file in enumerate(files):
                tell(f"reading {file.name}", done / len(files))
                parts.append(read_edges(file, source, target, weight, rows, room))
            assert features is not None
            tell(f"reading {features}", 0.0)
            given = find_features(features, rows, id_column, room)  # type: ignore[assignment]
            if labels is not None:
                named = read_labels(open_table(labels), id_column, label_column)
        tell("numbering the nodes", 0.0)
        node_ids = number_nodes(parts, given, named)
        size = _check_size(len(node_ids), size)
        data = Data(ids=node_ids, num_nodes=len(node_ids))
        if named is not None:
            add_labels(data, named)
            y = data.y.numpy()
        number = None if given is None else feature_rows(node_ids, given)
        notes = [note for part in parts for note in part.notes]
        name, directed = parts[0].name, all(part.directed for part in parts)
        sort = EdgeSort(folder, len(node_ids), sum(len(part.source) for part in parts), size,
                        any(part.weight is not None for part in parts))
        while parts:
            part = parts.pop(0)  # its files go with it
            for some in blocks(len(part.source), 1 << 24):
                tell("dealing out the edges", some.start / len(part.source))
                ends = part.source.values[some], part.target.values[some]
                if not part.directed:
                    ends = np.minimum(*ends), np.maximum(*ends)
                sort.add(*ends, None if part.weight is None else part.weight[some])
        del part
        if not sort.count.given:
            raise InputError(f"{name} holds no edges besides self-loops and edges of weight 0")
        arrays, degree = _write_adjacency(folder, sort, lambda share: tell("sorting the edges", share))
        arrays |= _write_features(folder, features, given, number, degree, np.dtype(feature_dtype), size,
                                  lambda share: tell("writing the features", share))
        arrays["ids"] = write_array(folder / "ids.npy", node_ids)
        for what, array in {"y": y, "classes": data.get("classes"), **masks}.items():
            if array is not None:
                arrays[what] = write_array(folder / f"{what}.npy", np.asarray(array))
        width = made_width(str(features)) if given is None else given.x.shape[1]
        return write_manifest(folder, arrays, nodes=len(node_ids), edges=arrays["idx"]["shape"][0] // 2, features=width,
                              feature_names=None if given is None else given.columns,
                              notes=[*notes, *_notes(sort.count, "value" in arrays, directed)],
                              imported=[file.name for file in files])


def _check_size(num_nodes: int, memory: int) -> int:
    """Bytes left for edges and features, beside those for the nodes."""
    if num_nodes < 2:
        raise InputError("the graph has a single node: contrastive learning needs at least two")
    if num_nodes >= 1 << 31:
        raise InputError(f"the graph has {num_nodes:,} nodes; a store holds at most 2^31 - 1")
    least = _LEAST + _A_NODE * num_nodes
    if memory < least:
        raise InputError(f"memory is {memory / 2**20:.4g} MB, but to import {num_nodes:,} nodes takes at least "
                         f"{-(-least // 2**20)} MB (--memory)")
    return memory - _A_NODE * num_nodes


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


def _write_features(folder: Path, word: str | Path | None, given: Features | None, number: np.ndarray | None,
                    degree: np.ndarray, dtype: Any, memory: int, tell: Callable[[float], None]
                    ) -> dict[str, dict[str, Any]]:
    if given is None or number is None:
        return made_features(folder, str(word), degree, dtype)
    return write_features(folder, given, number, dtype, memory, tell)


def _notes(count: Count, weighted: bool, directed: bool) -> list[str]:
    """As :func:`sgcl.readers.edges.tidy` words them."""
    notes = told(count.loops, "self-loop", "left out") + told(count.zeros, "edge", "left out", " of weight 0")
    notes += told(count.given - count.distinct, "duplicate edge", "merged, weights added up" if weighted else "merged")
    one_way = count.distinct - count.both_ways
    if one_way and directed:
        notes.append(f"{one_way:,} of {count.distinct:,} edges are given in one direction only: both directions are "
                     "used")
    return notes
