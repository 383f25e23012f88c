"""The manifest of a store: what it holds, under which checksums; and a store in the making, whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sgcl import files
from sgcl.errors import InputError
from sgcl.store.arrays import checksum, map_array

FORMAT = 1  # of manifest.json; a reader refuses what is newer than itself
FILE = "manifest.json"

_FIELDS = {"format": int, "nodes": int, "edges": int, "features": int, "arrays": dict, "digest": str}
_RECORD = {"file": str, "dtype": str, "shape": list, "bytes": int, "blake2b": str}
_NEEDED = {"ptr", "idx", "ids"}
_LEAST = 1 << 26    # bytes of memory, beside those for the nodes


def is_store(path: Any) -> bool:
    """Whether this is the path of a folder with a manifest."""
    return isinstance(path, str | Path) and (Path(path) / FILE).is_file()


def load_manifest(folder: Path) -> dict[str, Any]:
    """What ``manifest.json`` says, of a store or of parts, in a format that is known."""
    try:
        manifest = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} is no graph store: it has no {FILE}; make one with `sgcl import`") from None
    except OSError as error:
        raise InputError(f"cannot read {folder / FILE}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{folder / FILE} is damaged: it is not JSON ({error})") from None
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if isinstance(version, int) and version > FORMAT:
        raise InputError(f"{folder} was written by a newer sgcl (format {version}, this one reads up to {FORMAT}): "
                         "upgrade sgcl")
    return manifest if isinstance(manifest, dict) else {}


def read_manifest(folder: Path) -> dict[str, Any]:
    """What the manifest of a store says, checked as far as it can be without its files."""
    manifest = load_manifest(folder)
    if "parts" in manifest:
        raise InputError(f"{folder} is a folder of parts, no store: give the store that they were cut from, or one of "
                         f"them, such as {folder / 'part-0.store'}")
    if not has_fields(manifest, _FIELDS):
        raise InputError(f"{folder / FILE} is damaged: it does not describe a store; import the graph again")
    arrays = manifest["arrays"]
    if not arrays.keys() >= _NEEDED or not all(has_fields(record, _RECORD) and
                                               Path(record["file"]).name == record["file"]
                                               for record in arrays.values()):
        raise InputError(f"{folder / FILE} is damaged: it does not list its arrays; import the graph again")
    if manifest["digest"] != digest_of(arrays):
        raise InputError(f"{folder / FILE} is damaged: its checksums do not agree; import the graph again")
    return manifest


def verify(folder: str | Path) -> dict[str, Any]:
    """Read every file of a store and compare it with its checksum; gives the manifest."""
    manifest = read_manifest(Path(folder))
    for record in manifest["arrays"].values():
        map_array(Path(folder), record)
        if checksum(Path(folder), record) != record["blake2b"]:
            raise InputError(f"{Path(folder) / record['file']} is damaged: its checksum is not that of the manifest; "
                             "import the graph again")
    return manifest


def write_manifest(folder: Path, arrays: dict[str, dict[str, Any]], **said: Any) -> dict[str, Any]:
    """``manifest.json`` for these records and what else is to be said."""
    return save_manifest(folder, {"format": FORMAT, **said, "digest": digest_of(arrays), "arrays": arrays})


def save_manifest(folder: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    """Write it as it is."""
    with files.whole(folder / FILE) as part:
        part.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return manifest


def digest_of(arrays: dict[str, dict[str, Any]]) -> str:
    """One checksum of all."""
    said = json.dumps([[name, record["dtype"], record["shape"], record["blake2b"]]
                       for name, record in sorted(arrays.items())])
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def check_free(out: Path) -> None:
    """Raise if :func:`in_the_making` would refuse the place."""
    if out.exists():
        raise InputError(f"{out} is there already: give another --out or remove it")
    if not out.parent.is_dir():
        raise InputError(f"cannot make {out}: there is no folder {out.parent}")


@contextmanager
def in_the_making(out: Path) -> Iterator[Path]:
    """A folder beside ``out`` to fill inside a ``with``; it then becomes ``out``, or goes with all that is in it.

    One that a process left behind when it was killed is removed.
    """
    check_free(out)
    part = out.with_name(f".{out.name}.part")
    if part.exists() and not files.is_locked(part):
        shutil.rmtree(part, ignore_errors=True)
    with files.lock(part):
        try:
            yield part
            (part / files.LOCK).unlink()
            part.rename(out)
            if os.name == "posix":
                files.sync(out.parent)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def left_for_blocks(memory: int, nodes: int, each: int, what: str) -> int:
    """Bytes of the memory beside ``each`` for a node; raises where what is left is too little to work with."""
    least = _LEAST + each * nodes
    if memory < least:
        raise InputError(f"memory is {memory / 2**20:.4g} MB, but to {what} {nodes:,} nodes takes at least "
                         f"{-(-least // 2**20)} MB (--memory)")
    return memory - each * nodes


def has_fields(found: Any, fields: dict[str, type]) -> bool:
    """Whether what JSON gave is a dictionary with these fields, of these types."""
    return isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in fields.items())
