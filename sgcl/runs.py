"""The run folder: what a training leaves behind, enough to repeat it, look at it and go on from it.

=======================  ============================================================================
``config.json``          format, method, resolved settings, dataset, protocol, graph size, versions
``metrics.jsonl``        a line an epoch: loss, seconds, peak memory
``weights.safetensors``  the trained weights
``embeddings.npy``       (N, D), rows in the order of ``ids.npy``
``ids.npy``              (N,) node ids
``embeddings.parquet``   both in one table (where pyarrow is installed)
``curve.png``            the training curve (where matplotlib is installed)
``results.jsonl``        a line an evaluation: protocol, split seed, metrics; written by ``sgcl evaluate``
=======================  ============================================================================

``sgcl demo`` adds ``map.png``, a 2-D map of the embedding, and ``smoothing.png``, what each filter does to a delta.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from sgcl.errors import InputError

FORMAT = 1  # of config.json; a reader refuses what is newer than itself

_CONFIG = {"format": int, "method": str, "settings": dict, "in_channels": int}


@contextmanager
def create(folder: str | Path) -> Iterator[Path]:
    """A new run folder to fill inside a ``with``. One that holds something is left as it is and refused.

    Bad input that comes to light only then takes the folder with it: such a request leaves nothing behind.
    """
    folder = Path(folder)
    try:
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is there already and not empty: give another --out or remove it")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the run folder {folder}: {error.strerror}") from None
    try:
        yield folder
    except InputError:
        with suppress(OSError):
            for file in folder.iterdir():
                file.unlink()
            for path in made:
                path.rmdir()
        raise


def append(file: Path, record: Mapping[str, Any]) -> None:
    """Add one JSON line."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def read_lines(file: Path) -> list[dict[str, Any]]:
    """All JSON lines of a file; none where it does not exist."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write ``config.json``."""
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


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
