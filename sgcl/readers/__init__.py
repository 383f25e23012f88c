"""Own graphs: from files, SciPy, NetworkX or PyG to one form, and out again."""

from collections.abc import Mapping
from typing import Any

from torch_geometric.data import Data

from sgcl.readers.collection import label_graphs, read_collection
from sgcl.readers.read import read_graph
from sgcl.readers.structure import LEARNED, SPECTRAL, STRUCTURAL
from sgcl.readers.write import to_networkx, to_scipy, write_graph

__all__ = ["LEARNED", "SPECTRAL", "STRUCTURAL", "label_graphs", "read_collection", "read_files", "read_graph",
           "to_networkx", "to_scipy", "write_graph"]


def read_files(files: Mapping[str, Any]) -> Data:
    """What :func:`read_collection`, where a ``collection`` is among the arguments, or else :func:`read_graph` reads."""
    return read_collection(**files) if "collection" in files else read_graph(**files)
