"""Raw files: as bytes whose SHA256 is the expected one, or in place where they are plain texts and arrays.

Some of those with a checksum are pickles: none is parsed before this check. Plain files are never pickles.
"""

import hashlib
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from sgcl.datasets.entry import Dataset
from sgcl.errors import InputError

_TIMEOUT = 60.0  # seconds without an answer before a download is given up


def present(entry: Dataset, root: Path) -> bool:
    """Whether every raw file lies below the root."""
    return all((root / entry.folder / name).is_file() for name in entry.files)


def read(entry: Dataset, root: Path) -> dict[str, bytes]:
    """File name to verified contents, from the folder below the root. The root is only read."""
    require(entry, root)
    folder = root / entry.folder
    try:
        contents = {name: (folder / name).read_bytes() for name in entry.checksums}
    except OSError as error:
        raise InputError(f"{entry.name}: cannot read {error.filename}: {error.strerror}") from error
    for name, content in contents.items():
        _verify(entry, name, content, str(folder / name))
    return contents


def require(entry: Dataset, root: Path) -> None:
    """Raise, with their names, when raw files are missing below the root."""
    folder = root / entry.folder
    absent = [name for name in entry.files if not (folder / name).is_file()]
    if absent:
        raise InputError(f"{entry.name}: no {', '.join(absent)} in {folder}: put the raw files there, or set SGCL_DATA "
                         f"or pass --data-root with the folder that holds {entry.folder}{_fetched(entry)}")


def stamp(entry: Dataset, root: Path) -> str:
    """Sizes and times of the plain files below the root: another stamp, other files."""
    found = [(root / entry.folder / name).stat() for name in entry.plain]
    return hashlib.sha256(repr([(file.st_size, file.st_mtime_ns) for file in found]).encode()).hexdigest()


def missing(entry: Dataset) -> InputError:
    """The error for a dataset that is neither cached nor looked for anywhere."""
    return InputError(f"{entry.name}: no raw files: put {', '.join(entry.files)} into {entry.folder} below a "
                      f"folder of your choice, and set SGCL_DATA or pass --data-root with that folder{_fetched(entry)}")


def download(entry: Dataset) -> dict[str, bytes]:
    """File name to verified contents, from the addresses the dataset is published under."""
    if entry.address is None:
        raise missing(entry)
    contents = {}
    for name in entry.checksums:
        url = entry.address(name)
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
                contents[name] = answer.read()
        except (OSError, urllib.error.URLError) as error:
            raise _offline(entry, url, error) from error
        _verify(entry, name, contents[name], url)
    return contents


def fetch(entry: Dataset, root: Path) -> None:
    """Download the plain files below ``root``, a folder of our own, piece by piece."""
    if entry.archive is not None:
        url, inside = entry.archive
        with tempfile.NamedTemporaryFile(dir=root, suffix=".zip") as packed:
            _copy(entry, url, Path(packed.name))
            _unpack(entry, url, Path(packed.name), inside, root)
    elif entry.address is not None:
        for name in entry.plain:
            _copy(entry, entry.address(name), root / entry.folder / name)
    else:
        raise missing(entry)


def _verify(entry: Dataset, name: str, content: bytes, where: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != entry.checksums[name]:
        raise InputError(f"{entry.name}: {where} is not the published file: its SHA256 is {found}, expected "
                         f"{entry.checksums[name]}; get the file again")


def _fetched(entry: Dataset) -> str:
    return "" if entry.address is None and entry.archive is None else "; or have them fetched (--download)"


def _copy(entry: Dataset, url: str, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer, to.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except (OSError, urllib.error.URLError) as error:
        raise _offline(entry, url, error) from error


def _offline(entry: Dataset, url: str, error: Exception) -> InputError:
    return InputError(f"{entry.name}: cannot download {url}: {error}; or put {', '.join(entry.files)} into "
                      f"{entry.folder} below a folder, and set SGCL_DATA or pass --data-root with that folder")


def _unpack(entry: Dataset, url: str, packed: Path, inside: str, root: Path) -> None:
    """The plain files out of an archive, and nothing else that it may hold."""
    try:
        with zipfile.ZipFile(packed) as archive:
            for name in entry.plain:
                to = root / entry.folder / name
                to.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(f"{inside}/{name}") as member, to.open("wb") as file:
                    shutil.copyfileobj(member, file)
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise InputError(f"{entry.name}: {url} is not the archive expected: {error}") from error
