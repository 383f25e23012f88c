"""Files that are whole or not there, and folders that one process writes at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sgcl.errors import InputError

try:
    import fcntl
except ImportError:  # Windows: folders are not locked
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A path to write to inside a ``with``; what was written then becomes ``file``, on the disk, or nothing does."""
    part = file.with_name(f".{file.name}.part{file.suffix}")
    try:
        yield part
        sync(part)
        part.replace(file)
        if os.name == "posix":
            sync(file.parent)  # the name too
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be. It is let go at the end, however the process ends; another's is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _locked(folder / LOCK)
    except BlockingIOError:
        raise InputError(f"{folder} is being written by another process: wait for it, or stop it") from None
    except OSError as error:
        raise InputError(f"cannot write in {folder}: {error.strerror}") from None
    try:
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink(missing_ok=True)  # while it is still held, so that it is ours
        os.close(handle)


def is_locked(folder: Path) -> bool:
    """Whether a living process holds the folder."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        _hold(handle)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def sync(path: Path) -> None:
    """What was written there, into a file or the names of a folder, is on the disk afterwards."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locked(file: Path) -> int:
    """An open handle that holds the file. One that its last holder removed meanwhile holds nothing: another try."""
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _hold(handle)
            if file.exists() and os.path.samestat(os.fstat(handle), file.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _hold(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
