"""A graph in parts: a folder with a store for each, of which a process opens those that its batches come from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from torch_geometric.data import Data

from sgcl import distributed
from sgcl.errors import InputError
from sgcl.graph import Graph, prepare
from sgcl.mapped import MappedFeatures
from sgcl.store.manifest import FILE, FORMAT, has_fields, is_store, load_manifest, save_manifest
from sgcl.store.read import read_store

_FIELDS = {"nodes": int, "edges": int, "digest": str, "cut_from": dict, "parts": list}
_PART = {"nodes": int, "edges": int, "digest": str}


class Parts:
    """The parts that a ``manifest.json`` lists, each opened when it is first asked for.

    Args:
        folder: where it lies, and beside it those of the parts that are needed here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.manifest = folder, load_manifest(folder)
        if not has_fields(self.manifest, _FIELDS) or not self.manifest["parts"] or not all(
                has_fields(part, _PART) for part in [self.manifest["cut_from"], *self.manifest["parts"]]) or (
                digest_of(self.manifest) != self.manifest["digest"]):
            raise InputError(f"{folder / FILE} is damaged: it does not list its parts; make them again with `sgcl "
                             "partition`")
        self._opened: dict[int, Data] = {}

    def __len__(self) -> int:
        return len(self.manifest["parts"])

    def __getitem__(self, number: int) -> Data:
        """What :func:`sgcl.store.read_store` gives of a part."""
        if number not in self._opened:
            path = self.folder / part_name(number)
            if not is_store(path):
                rank = distributed.current().rank
                raise InputError(f"{path} is not on this machine, and rank {rank} draws batches from part {number}: "
                                 f"copy it here, or start {len(self)} ranks, of which each needs one part alone")
            found = read_store(path)
            if found.graph.x.digest != self.manifest["parts"][number]["digest"]:
                raise InputError(f"{path} is not the part that {self.folder / FILE} lists: copy both from one folder")
            self._opened.setdefault(number, found)
        return self._opened[number]


@dataclass(frozen=True)
class PartGraph(Graph):
    """One of the parts of a graph, which knows the others: batch b of an epoch is drawn from part b mod P."""

    parts: Parts = field(kw_only=True)

    def source(self, batch: int, batches: int) -> Graph:
        if batches < len(self.parts):
            raise InputError(f"an epoch needs a batch from each of {len(self.parts)} parts, but the number of its "
                             f"batches is {batches}: give --sampler walk --walk-batches {len(self.parts)} or more, or "
                             f"--full-batches {len(self.parts)} for whole parts")
        part = self.parts[batch % len(self.parts)]
        return prepare(part, normalize_features=cast(MappedFeatures, self.x).normalised)

    def names(self, batch: int, rows: Sequence[int]) -> list[Any]:
        """The ids of nodes of a batch's part; where that is not here, which rows of it they are."""
        number = batch % len(self.parts)
        if not is_store(self.parts.folder / part_name(number)):
            return [f"row {row} of {part_name(number)}" for row in rows]
        return list(self.parts[number].ids[list(rows)].tolist())

    def whole(self, what: str) -> Graph:
        raise InputError(f"{what} needs the whole graph, but {self.parts.folder} holds parts of it, without the edges "
                         "between them: give the store that they were cut from")

    def in_memory(self) -> Graph:
        """Itself: what is drawn from it is a part, which a sampler brings into memory."""
        return self

    @property
    def digest(self) -> str:
        return str(self.parts.manifest["digest"])

    @property
    def about(self) -> dict[str, Any]:
        """What a run says of all parts."""
        said = self.parts.manifest
        return {"nodes": said["nodes"], "edges": said["edges"],
                "parts": {"number": len(self.parts), "cut_from": said["cut_from"]["digest"]}}


def is_parts(path: Any) -> bool:
    """Whether this is the path of a folder of parts, as far as its manifest says."""
    return is_store(path) and "parts" in load_manifest(Path(path))


def read_parts(path: str | Path) -> Data:
    """The part of a graph that the first batch of this rank comes from, as ``graph``; it knows the others."""
    parts = Parts(Path(path))
    data = parts[distributed.current().rank % len(parts)].__copy__()
    data.graph = PartGraph(data.graph.x, data.graph.adj, parts=parts)
    for name in ("y", "classes", "train_mask", "val_mask", "test_mask"):  # of a part alone
        data.pop(name, None)
    data.store = str(path)
    return data


def part_name(number: int) -> str:
    """What the store of a part is called."""
    return f"part-{number}.store"


def write_parts(folder: Path, parts: Sequence[dict[str, Any]], **said: Any) -> dict[str, Any]:
    """``manifest.json`` of parts that are there, and what else is to be said."""
    manifest = {"format": FORMAT, "nodes": sum(part["nodes"] for part in parts),
                "edges": sum(part["edges"] for part in parts), **said, "parts": list(parts)}
    return save_manifest(folder, {**manifest, "digest": digest_of(manifest)})


def digest_of(manifest: dict[str, Any]) -> str:
    """One checksum of all parts."""
    said = json.dumps([manifest["cut_from"], [part["digest"] for part in manifest["parts"]]])
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
