"""Own graphs: from files, SciPy, NetworkX or PyG to one form, and out again."""

from sgcl.readers.collection import label_graphs, read_collection, read_files
from sgcl.readers.read import read_graph
from sgcl.readers.structure import LEARNED, SPECTRAL, STRUCTURAL
from sgcl.readers.write import to_networkx, to_scipy, write_graph

__all__ = ["LEARNED", "SPECTRAL", "STRUCTURAL", "label_graphs", "read_collection", "read_files", "read_graph",
           "to_networkx", "to_scipy", "write_graph"]
