"""What is known of a dataset before it is read: where it comes from, what it holds, how it is scored."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
            Classes are tasks where a node has several labels. A collection counts the nodes and edges of all graphs.
        loader: makes the ``Data``. Called with the folder that stands for the data root, or with nothing where there
            are no raw files. Where there are checksums, that folder is a private copy that holds this dataset's raw
            files alone; otherwise it may be the root itself, and nothing is written there.
        folder: where the raw files lie below the data root; empty for a dataset that is made, not read.
        address: file name to URL, for those who want the raw files downloaded.
        plain: raw files without a known checksum. They are texts and arrays, never pickles, so nothing in them can
            run; that they are the published ones is checked by the numbers above.
        archive: URL of a zip file with the plain files, and the folder inside it, instead of an address for each.
        listed: ``edges`` counts the rows of the edge list as it is published, whatever their direction, repeats and
            loops included.
        task: ``"node"`` for one graph, ``"graph"`` for a collection of graphs, each with a label.
        graphs: how many graphs there are.
        metric: what the literature scores it by.
        split: sizes of the train, validation and test masks, where one split comes with the data.
        licence: what is known of the terms of use, in one line.
        published: the numbers of the paper's tables, or of the dataset's own paper, which may count differently:
            nodes, edges, features, classes, components, homophily, mean_degree, diameter; graphs, mean_nodes and
            mean_edges for a collection.
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
    plain: tuple[str, ...] = ()
    archive: tuple[str, str] | None = None
    listed: bool = False
    task: str = "node"
    graphs: int = 1
    metric: str = "accuracy"
    split: tuple[int, int, int] | None = None
    licence: str = ""
    published: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def checksums(self) -> Mapping[str, str]:
        """File name to SHA256, for every raw file that has one."""
        return _checksums()[self.folder] if self.folder and not self.plain else {}

    @property
    def files(self) -> tuple[str, ...]:
        """Every raw file the loader reads, by its path inside ``folder``."""
        return self.plain or tuple(self.checksums)


@cache
def _checksums() -> dict[str, dict[str, str]]:
    text = files("sgcl.datasets").joinpath("checksums.json").read_text(encoding="utf-8")
    known: dict[str, dict[str, str]] = json.loads(text)
    return known
