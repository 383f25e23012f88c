"""The run folder: what a training leaves behind, enough to repeat it, look at it and go on from it.

=======================  ============================================================================
``config.json``          format, method, resolved settings, dataset, protocol, the graph's size and SHA-256, when it
                         began, versions, commit, device, threads
``metrics.jsonl``        a line an epoch: loss, seconds, peak memory
``checkpoints/``         the last two, where the training took long enough
``weights.safetensors``  the trained weights
``embeddings.npy``       (N, D), rows in the order of ``ids.npy``; after a training from parts neither of them, nor
                         the table, until ``sgcl evaluate``
``ids.npy``              (N,) ids of nodes, or (G,) of graphs; the last to be written: it says that the training is
                         finished
``embeddings.parquet``   both in one table (where pyarrow is installed)
``curve.png``            the training curve (where matplotlib is installed)
``tensorboard/``         the same for TensorBoard, where asked for with ``--tensorboard``
``results.jsonl``        a line an evaluation: protocol, split seed, metrics; written by ``sgcl evaluate``
``failed-batch.json``    where a loss or gradient was no finite number: epoch, batch and ids
=======================  ============================================================================

``sgcl demo`` adds ``map.png``, a 2-D map of the embedding, and ``smoothing.png``, what each filter does to a delta.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sgcl import files
from sgcl.errors import InputError
from sgcl.graph import Graph

FORMAT = 2  # of config.json; a reader refuses what is newer than itself. 1 had no SHA-256 of the graph

_CONFIG = {"format": int, "method": str, "settings": dict, "in_channels": int}


@contextmanager
def create(folder: str | Path) -> Iterator[Path]:
    """A new run folder to fill inside a ``with``, by nobody else. One that holds something is refused and left alone.

    Bad input that comes to light before anything was trained takes the folder with it: such a request leaves nothing
    behind.
    """
    folder = Path(folder)
    try:
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        if folder.exists() and not folder.is_dir():
            raise _taken(folder)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the run folder {folder}: {error.strerror}") from None
    with files.lock(folder):
        if not _is_empty(folder):
            raise _taken(folder)
        try:
            yield folder
        except InputError:
            if not any((folder / name).exists() for name in ("metrics.jsonl", "checkpoints")):
                with suppress(OSError):
                    for file in folder.iterdir():
                        file.unlink()
                    for path in made:
                        path.rmdir()
            raise


def check_free(folder: str | Path) -> None:
    """Raise if :func:`create` would refuse the folder for what it holds; one that is being written is left to it."""
    folder = Path(folder)
    with suppress(OSError):
        if folder.exists() and not files.is_locked(folder) and not (folder.is_dir() and _is_empty(folder)):
            raise _taken(folder)


def is_finished(folder: Path, *, embedded: bool = True) -> bool:
    """Whether a run has all that its training leaves behind, perhaps without an embedding."""
    left = ("weights.safetensors", "embeddings.npy", "ids.npy")
    return all((folder / name).exists() for name in (left if embedded else left[:1]))


def append(file: Path, record: Mapping[str, Any]) -> None:
    """Add one JSON line."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def read_lines(file: Path) -> list[dict[str, Any]]:
    """All JSON lines of a file; none where it does not exist. A last line that was cut short is left out."""
    if not file.exists():
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]
    except ValueError as error:
        raise InputError(f"{file} is damaged: it does not hold JSON lines ({error})") from None


def mend_lines(file: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Bring a file to one line for each record, which has an ``epoch``: its own where it has one, else the record."""
    try:
        own = {line["epoch"]: line for line in read_lines(file)}
    except (ValueError, TypeError, KeyError, AttributeError):
        own = {}
    with files.whole(file) as part:
        part.write_text("".join(json.dumps(own.get(record["epoch"], record)) + "\n" for record in records),
                        encoding="utf-8")


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write ``config.json``."""
    with files.whole(folder / "config.json") as part:
        part.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def read_config(folder: Path) -> dict[str, Any]:
    """``config.json`` of a run or a saved model, checked."""
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} is not a run folder: it has no config.json") from None
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{file} is damaged: it is not JSON ({error})") from None
    if not isinstance(config, dict):
        raise InputError(f"{file} is damaged: it holds no settings")
    version = config.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise InputError(f"{folder} was written by a newer sgcl (format {version}, this one reads up to {FORMAT}): "
                         "upgrade sgcl")
    for name, kind in _CONFIG.items():
        if not isinstance(config.get(name), kind):
            raise InputError(f"{file} is damaged: {name} is {config.get(name)!r}")
    return config


def environment(packages: Iterable[str] = ("sgcl", "torch", "torch_geometric", "numpy", "scipy", "scikit-learn"), *,
                device: str | None = None) -> dict[str, Any]:
    """Versions, threads, the commit where this package is checked out with git, and the device if one is given."""
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    commit = _commit(Path(__file__).parent.parent)
    return {"versions": versions, "machine": platform.machine(), "threads": torch.get_num_threads(),
            **({} if commit is None else {"commit": commit}), **({} if device is None else {"device": device})}


def fingerprint(graph: Graph, ids: np.ndarray | None = None) -> str:
    """SHA-256 of a graph or a collection, its features and, where given, its (N,) node or (G,) graph ids: another
    graph, another fingerprint."""
    found = hashlib.sha256()
    if graph.digest is not None:  # of a store, whose checksums are of all its files
        return hashlib.sha256(graph.digest.encode()).hexdigest()
    matrices = [graph.adj] if isinstance(graph.x, Tensor) else [graph.adj, graph.x.matrix]
    parts = [part for matrix in matrices for part in (matrix.ptr, matrix.idx, matrix.value)]
    parts.append(graph.x if isinstance(graph.x, Tensor) else None)
    for part in parts if graph.graph_ptr is None else [*parts, graph.graph_ptr]:
        found.update(f"{None if part is None else (tuple(part.shape), part.dtype)}".encode())
        if part is not None:
            found.update(part.detach().cpu().contiguous().numpy())  # type: ignore[arg-type]
    if ids is not None:
        found.update("\n".join(map(str, ids.tolist())).encode())
    return found.hexdigest()


def _is_empty(folder: Path) -> bool:
    return all(file.name == files.LOCK for file in folder.iterdir())


def _taken(folder: Path) -> InputError:
    if (folder / "config.json").exists() and not (folder / "weights.safetensors").exists():
        return InputError(f"{folder} holds an unfinished run: go on with `sgcl train --resume {folder}`, give another "
                          "--out or remove it")
    return InputError(f"{folder} is there already and not empty: give another --out or remove it")


@cache
def _commit(root: Path) -> str | None:
    """The commit that is checked out there, ``-dirty`` where files differ from it; ``None`` where there is none."""
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
                              env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"}, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
