"""Own graphs: from files, SciPy, NetworkX or PyG to one form, and out again."""

from sgcl.readers.read import read_graph
from sgcl.readers.structure import LEARNED, SPECTRAL, STRUCTURAL
from sgcl.readers.write import to_networkx, to_scipy, write_graph

__all__ = ["LEARNED", "SPECTRAL", "STRUCTURAL", "read_graph", "to_networkx", "to_scipy", "write_graph"]
