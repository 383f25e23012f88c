"""What is known of a dataset before it is read: where it comes from, what it holds, how it is scored."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from torch_geometric.data import Data


@dataclass(frozen=True)
class Dataset:
    """One dataset.

    Args:
        name: the word a user types.
        title: its name in prose.
        citation: where it comes from, in one line.
        protocol: name of the evaluation protocol used unless another is asked for.
        nodes, edges, features, classes: what a correct reading gives; edges are undirected, without self-loops.
        loader: makes the ``Data``. Called with the folder that stands for the data root, which holds this dataset's
            raw files alone, or with nothing where there are no raw files.
        folder: where the raw files lie below the data root; empty for a dataset that is made, not read.
        address: file name to URL, for those who want the raw files downloaded.
    """

    name: str
    title: str
    citation: str
    protocol: str
    nodes: int
    edges: int
    features: int
    classes: int
    loader: Callable[..., Data]
    folder: str = ""
    address: Callable[[str], str] | None = None

    @property
    def checksums(self) -> Mapping[str, str]:
        """File name to SHA256, for every raw file the loader reads."""
        return _checksums()[self.folder] if self.folder else {}


@cache
def _checksums() -> dict[str, dict[str, str]]:
    text = files("sgcl.datasets").joinpath("checksums.json").read_text(encoding="utf-8")
    known: dict[str, dict[str, str]] = json.loads(text)
    return known
