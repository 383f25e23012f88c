"""Node and graph embeddings without labels, by smoothed graph contrastive learning."""

from sgcl.errors import InputError
from sgcl.estimator import (
    AUGCL,
    BGRL,
    CCASSG,
    CGRA,
    DGI,
    GBT,
    GRACE,
    GREET,
    GRLC,
    GSCL,
    MVGRL,
    SGCL,
    Estimator,
    GraphMAE2,
    ProGCL,
    SGCLGraphs,
)
from sgcl.graph import Graph
from sgcl.readers import read_collection, read_graph, write_graph
from sgcl.smoothing import Bilateral, Diffusion, HeatKernel, Identity, PageRank, Taubin

load = Estimator.load

__all__ = [
    "AUGCL",
    "BGRL",
    "CCASSG",
    "CGRA",
    "DGI",
    "GBT",
    "GRACE",
    "GREET",
    "GRLC",
    "GSCL",
    "MVGRL",
    "SGCL",
    "Bilateral",
    "Diffusion",
    "Estimator",
    "Graph",
    "GraphMAE2",
    "HeatKernel",
    "Identity",
    "InputError",
    "PageRank",
    "ProGCL",
    "SGCLGraphs",
    "Taubin",
    "load",
    "read_collection",
    "read_graph",
    "write_graph",
]
