"""Methods for collections: a paper a file, embeddings of whole graphs, (G, D)."""

from sgcl.methods.graphs.augcl import AUGCLGraphs
from sgcl.methods.graphs.graphcl import GraphCL
from sgcl.methods.graphs.infograph import InfoGraph
from sgcl.methods.graphs.progcl import ProGCLGraphs
from sgcl.methods.graphs.sgcl import SGCLGraphs

__all__ = [
    "AUGCLGraphs",
    "GraphCL",
    "InfoGraph",
    "ProGCLGraphs",
    "SGCLGraphs",
]
