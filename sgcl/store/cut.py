"""A store cut into parts, each a store of its own, block by block: linear in the graph, memory bounded.

Edges between parts are left out, as Chiang et al., *Cluster-GCN*, leave them out of their batches.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sgcl.embeddings import memory_bytes
from sgcl.errors import InputError
from sgcl.partition import How, partition
from sgcl.readers.edges import told
from sgcl.readers.ids import blocks
from sgcl.store.arrays import ArrayFile, write_array
from sgcl.store.manifest import check_free, in_the_making, left_for_blocks, write_manifest
from sgcl.store.parts import part_name, write_parts
from sgcl.store.read import map_store, read_store

Tell = Callable[[str, float], None]   # what is being done, and the share of it that is
Chunk = tuple[np.ndarray, list[np.ndarray]]  # (n,) the part of each row, and columns of n rows

_OPEN = 100        # parts written at a time, with two open files each
_A_NODE = 32       # bytes of part, place and degree of a node
_AN_ENTRY = 64     # bytes of memory for an entry while it is dealt out
_OF_METIS = 10     # times the adjacency, which METIS takes


def cut_store(path: str | Path, out: str | Path, parts: int, *, how: How = "auto", memory: int | str = "2GB",
              tell: Tell = lambda what, share: None) -> dict[str, Any]:
    """Cut a store into a folder of stores and their ``manifest.json``; gives that.

    Nodes keep their order inside a part, their ids, features, labels and masks, and the edges to nodes of the same
    part.

    Args:
        path: the store.
        out: a new folder, for ``part-0.store``, ``part-1.store``, ...
        parts: how many, each of two nodes or more.
        how: as for :func:`sgcl.partition.partition`; ``"auto"`` takes METIS where it is installed and ``memory``
            suffices.
        memory: what to take at most, beside the packages themselves; METIS, where asked for by name, takes what it
            takes.
        tell: called with what is being done and the share of it that is.
    """
    path, out, size = Path(path), Path(out), memory_bytes(memory) or 0
    manifest, arrays = map_store(path)
    size = _check(manifest["nodes"], parts, size)
    check_free(out)
    with in_the_making(out) as folder:
        tell("finding the parts", 0.0)
        if how == "auto" and _OF_METIS * (arrays["idx"].nbytes + arrays["ptr"].nbytes) > size:
            how = "streaming"
        found = partition(read_store(path).graph.adj, parts, how=how)
        where = _places(found.part, parts)
        stores = [folder / part_name(number) for number in range(parts)]
        for store in stores:
            store.mkdir()
        records = _dealt(stores, arrays, where, size, tell)
        listed = []
        for number, (store, own) in enumerate(zip(stores, records, strict=True)):
            nodes = where.order[where.start[number]:where.start[number + 1]]
            lost = int((arrays["ptr"][nodes + 1] - arrays["ptr"][nodes]).sum()) - own["idx"]["shape"][0]
            if "classes" in arrays:
                own["classes"] = write_array(store / "classes.npy", arrays["classes"])
            made = write_manifest(
                store, own, nodes=len(nodes), edges=own["idx"]["shape"][0] // 2, features=manifest["features"],
                feature_names=manifest.get("feature_names"), part={"number": number, "of": parts},
                notes=told(lost, "edge", "left out", " to other parts"),
                imported=manifest.get("imported", []))
            listed.append({"nodes": made["nodes"], "edges": made["edges"], "digest": made["digest"]})
        cut_from = {name: manifest[name] for name in ("nodes", "edges", "digest")}
        return write_parts(folder, listed, cut_from=cut_from, how=found.how, cut=found.cut, balance=found.balance)


class _Places(NamedTuple):
    """Where each of N nodes goes."""

    part: np.ndarray    # (N,) of few bytes, so that sorting by it is linear
    place: np.ndarray   # (N,) int32, its number in its part
    order: np.ndarray   # (N,) the nodes by part, ascending inside each
    start: np.ndarray   # (P + 1,) where the parts start there


def _check(nodes: int, parts: int, memory: int) -> int:
    """Bytes left for edges and features, beside those for the nodes."""
    if not 1 <= parts <= nodes // 2:
        raise InputError(f"cannot cut {nodes:,} nodes into {parts} parts of two or more: expected 1 to {nodes // 2:,}")
    return left_for_blocks(memory, nodes, _A_NODE, "cut")


def _places(found: np.ndarray, parts: int) -> _Places:
    part = found.astype(np.min_scalar_type(parts - 1))
    size = np.bincount(part, minlength=parts)
    if size.min() < 2:
        raise InputError(f"part {size.argmin()} of {parts} would have {size.min()} nodes: take fewer parts")
    start, order = np.concatenate([[0], np.cumsum(size)]), np.argsort(part, kind="stable")
    place = np.empty(len(part), np.int32)
    for first, last in itertools.pairwise(start):
        place[order[first:last]] = np.arange(last - first)
    return _Places(part, place, order, start)


def _dealt(stores: list[Path], arrays: Mapping[str, np.ndarray], where: _Places, memory: int, tell: Tell
           ) -> list[dict[str, dict[str, Any]]]:
    """All arrays of the store, each part's into its own; gives the records of each."""
    part, size, records = where.part, max(memory // _AN_ENTRY, 1), [dict[str, Any]() for _ in stores]
    ptr, idx, degree = arrays["ptr"], arrays["idx"], np.zeros(len(part), np.int32)
    for some, row in _entries(ptr, size, lambda share: tell("counting the edges", share)):
        count = np.bincount(row[part[row] == part[idx[some]]] - row[0])
        degree[row[0]:row[0] + len(count)] += count.astype(np.int32)

    def edges() -> Iterator[Chunk]:
        for some, row in _entries(ptr, size, lambda share: tell("writing the edges", share)):
            kept = np.flatnonzero(part[row] == part[idx[some]])
            yield part[row[kept]], [where.place[idx[some][kept]], *(arrays[name][some][kept] for name in weights)]

    def entries() -> Iterator[Chunk]:
        for some, row in _entries(arrays["x_ptr"], size, lambda share: tell("writing the features", share)):
            yield part[row], [arrays["x_idx"][some], arrays["x_value"][some]]

    def rows(name: str) -> Iterator[Chunk]:
        array = arrays[name]
        for some in blocks(len(array), max(memory // (2 * array[:1].nbytes + 32), 1)):
            yield part[some], [array[some]]
            tell(f"writing {name}", some.stop / len(array))

    weights = ["value"] if "value" in arrays else []
    _write(records, stores, {name: arrays[name] for name in ("idx", *weights)}, edges)
    _write_starts(records, stores, "ptr", degree, where)
    if "x_ptr" in arrays:
        _write(records, stores, {name: arrays[name] for name in ("x_idx", "x_value")}, entries)
        _write_starts(records, stores, "x_ptr", np.diff(arrays["x_ptr"]).astype(np.int32), where)
    for name in ("x", "ids", "y", "train_mask", "val_mask", "test_mask"):
        if name in arrays:
            _write(records, stores, {name: arrays[name]}, lambda name=name: rows(name))  # type: ignore[misc]
    return records


def _entries(ptr: np.ndarray, size: int, tell: Callable[[float], None]) -> Iterator[tuple[slice, np.ndarray]]:
    """Some entries of a matrix by rows at a time, and the row of each."""
    total = int(ptr[-1])
    for some in blocks(total, size):
        first = int(np.searchsorted(ptr, some.start, "right")) - 1
        last = int(np.searchsorted(ptr, some.stop, "left"))
        count = np.diff(np.clip(ptr[first:last + 1], some.start, some.stop))
        yield some, np.repeat(np.arange(first, last), count)
        tell(some.stop / total)


def _write(records: list[dict[str, Any]], stores: list[Path], like: Mapping[str, np.ndarray],
           chunks: Callable[[], Iterable[Chunk]]) -> None:
    """Rows of some columns into the stores of their parts, in their order: one pass for each hundred stores."""
    for group in blocks(len(stores), _OPEN):
        with ExitStack() as stack:
            opened = [{name: stack.enter_context(ArrayFile(store / f"{name}.npy", array.dtype, *array.shape[1:]))
                       for name, array in like.items()} for store in stores[group]]
            for part, columns in chunks():
                order = np.argsort(part, kind="stable")
                ends = np.searchsorted(part[order], np.arange(group.start, group.stop + 1))
                for number, own in enumerate(opened):
                    taken = order[ends[number]:ends[number + 1]]
                    for file, column in zip(own.values(), columns, strict=True):
                        file.add(column[taken])
        for record, own in zip(records[group], opened, strict=True):
            record |= {name: file.record for name, file in own.items()}


def _write_starts(records: list[dict[str, Any]], stores: list[Path], name: str, degree: np.ndarray, where: _Places
                  ) -> None:
    """Where the rows of each part start, of the (N,) numbers of entries."""
    for number, (record, store) in enumerate(zip(records, stores, strict=True)):
        own = degree[where.order[where.start[number]:where.start[number + 1]]]
        record[name] = write_array(store / f"{name}.npy", np.concatenate([[0], np.cumsum(own, dtype=np.int64)]))
