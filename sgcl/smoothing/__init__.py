"""Graph to positives: filters that say who counts as a positive, and how much."""

from sgcl.registry import Registry
from sgcl.smoothing.base import Smoothing, edge_coverage
from sgcl.smoothing.bilateral import Bilateral
from sgcl.smoothing.diffusion import Diffusion
from sgcl.smoothing.heat import HeatKernel
from sgcl.smoothing.identity import Identity
from sgcl.smoothing.pagerank import PageRank
from sgcl.smoothing.taubin import Taubin

SMOOTHINGS = Registry("smoothing", {
    "taubin": Taubin,
    "bilateral": Bilateral,
    "diffusion": Diffusion,
    "identity": Identity,
    "heat": HeatKernel,
    "pagerank": PageRank,
}, "sgcl.smoothings")

__all__ = [
    "SMOOTHINGS",
    "Bilateral",
    "Diffusion",
    "HeatKernel",
    "Identity",
    "PageRank",
    "Smoothing",
    "Taubin",
    "edge_coverage",
]
