"""The run folder: what a training leaves behind, enough to repeat it, look at it and go on from it.

==========================  =====================================================================
``config.json``             format, method, resolved settings, dataset, protocol, seed, versions
``metrics.jsonl``           a line an epoch: loss, seconds, peak memory
``weights.safetensors``     the trained weights
``embeddings.npy``          (N, D), rows in the order of ``ids.npy``
``embeddings.parquet``      the same with the ids (where pyarrow is installed)
``results.jsonl``           a line an evaluation: protocol, split seed, metrics
``curve.png``, ``map.png``  the training curve and a 2-D map (where matplotlib is installed)
==========================  =====================================================================
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from sgcl.errors import InputError


def create(folder: str | Path) -> Path:
    """A new, empty run folder. One that holds something is left as it is and refused."""
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already and not empty: give another --out or remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the run folder {folder}: {error.strerror}") from None
    return folder


def append(file: Path, record: Mapping[str, Any]) -> None:
    """Add one JSON line."""
    with file.open("a") as stream:
        stream.write(json.dumps(record) + "\n")


def read_lines(file: Path) -> list[dict[str, Any]]:
    """All JSON lines of a file; none where it does not exist."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write ``config.json``."""
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def environment(packages: Iterable[str] = ("sgcl", "torch", "torch_geometric", "numpy", "scipy", "scikit-learn"),
                ) -> dict[str, Any]:
    """Versions and threads, for the record of a run."""
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {"versions": versions, "machine": platform.machine(), "threads": torch.get_num_threads()}
