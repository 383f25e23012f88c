"""Raw files as bytes whose SHA256 is the expected one. Some of them are pickles: none is parsed before this check."""

import hashlib
import urllib.error
import urllib.request
from pathlib import Path

from sgcl.datasets.entry import Dataset
from sgcl.errors import InputError

_TIMEOUT = 60.0  # seconds without an answer before a download is given up


def present(entry: Dataset, root: Path) -> bool:
    """Whether every raw file lies below the root."""
    return all((root / entry.folder / name).is_file() for name in entry.checksums)


def read(entry: Dataset, root: Path) -> dict[str, bytes]:
    """File name to verified contents, from the folder below the root. The root is only read."""
    folder = root / entry.folder
    absent = [name for name in entry.checksums if not (folder / name).is_file()]
    if absent:
        raise InputError(f"{entry.name}: no {', '.join(absent)} in {folder}: put the raw files there, or set SGCL_DATA "
                         f"or pass --data-root with the folder that holds {entry.folder}")
    try:
        contents = {name: (folder / name).read_bytes() for name in entry.checksums}
    except OSError as error:
        raise InputError(f"{entry.name}: cannot read {error.filename}: {error.strerror}") from error
    for name, content in contents.items():
        _verify(entry, name, content, str(folder / name))
    return contents


def missing(entry: Dataset) -> InputError:
    """The error for a dataset that is neither cached nor looked for anywhere."""
    return InputError(f"{entry.name}: no raw files: put {', '.join(entry.checksums)} into {entry.folder} below a "
                      "folder of your choice, and set SGCL_DATA or pass --data-root with that folder")


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
            raise InputError(f"{entry.name}: cannot download {url}: {error}") from error
        _verify(entry, name, contents[name], url)
    return contents


def _verify(entry: Dataset, name: str, content: bytes, where: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != entry.checksums[name]:
        raise InputError(f"{entry.name}: {where} is not the published file: its SHA256 is {found}, expected "
                         f"{entry.checksums[name]}; get the file again")
