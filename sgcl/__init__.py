"""Node and graph embeddings without labels, by smoothed graph contrastive learning."""

from sgcl.errors import InputError
from sgcl.estimator import SGCL, Estimator
from sgcl.graph import Graph
from sgcl.readers import read_graph, write_graph
from sgcl.smoothing import Bilateral, Diffusion, HeatKernel, Identity, PageRank, Taubin

load = Estimator.load

__all__ = [
    "SGCL",
    "Bilateral",
    "Diffusion",
    "Estimator",
    "Graph",
    "HeatKernel",
    "Identity",
    "InputError",
    "PageRank",
    "Taubin",
    "load",
    "read_graph",
    "write_graph",
]
