"""Methods for collections: a paper a file, embeddings of whole graphs, (G, D)."""

from sgcl.methods.graphs.adgcl import ADGCL
from sgcl.methods.graphs.augcl import AUGCLGraphs
from sgcl.methods.graphs.bgrl import BGRLGraphs
from sgcl.methods.graphs.cgra import CGRAGraphs
from sgcl.methods.graphs.graphcl import GraphCL
from sgcl.methods.graphs.infograph import InfoGraph
from sgcl.methods.graphs.lagraph import LaGraph
from sgcl.methods.graphs.mvgrl import MVGRLGraphs
from sgcl.methods.graphs.progcl import ProGCLGraphs
from sgcl.methods.graphs.sgcl import SGCLGraphs

__all__ = [
    "ADGCL",
    "AUGCLGraphs",
    "BGRLGraphs",
    "CGRAGraphs",
    "GraphCL",
    "InfoGraph",
    "LaGraph",
    "MVGRLGraphs",
    "ProGCLGraphs",
    "SGCLGraphs",
]
