"""Methods: one paper a file, all on the contract of :class:`Method`."""

from sgcl.methods.augcl import AUGCL
from sgcl.methods.base import Method
from sgcl.methods.bgrl import BGRL
from sgcl.methods.cca_ssg import CCASSG
from sgcl.methods.cgra import CGRA
from sgcl.methods.dgi import DGI
from sgcl.methods.gbt import GBT
from sgcl.methods.grace import GRACE
from sgcl.methods.graphmae2 import GraphMAE2
from sgcl.methods.graphs import (
    ADGCL,
    AUGCLGraphs,
    BGRLGraphs,
    CGRAGraphs,
    GraphCL,
    InfoGraph,
    LaGraph,
    MVGRLGraphs,
    ProGCLGraphs,
    SGCLGraphs,
)
from sgcl.methods.greet import GREET
from sgcl.methods.grlc import GRLC
from sgcl.methods.gscl import GSCL
from sgcl.methods.mvgrl import MVGRL
from sgcl.methods.progcl import ProGCL
from sgcl.methods.sgcl import SGCL
from sgcl.registry import Registry

METHODS = Registry("method", {
    "sgcl": SGCL,
    "dgi": DGI,
    "grace": GRACE,
    "mvgrl": MVGRL,
    "bgrl": BGRL,
    "g-bt": GBT,
    "cca-ssg": CCASSG,
    "progcl": ProGCL,
    "augcl": AUGCL,
    "cgra": CGRA,
    "grlc": GRLC,
    "graphmae2": GraphMAE2,
    "greet": GREET,
    "gscl": GSCL,
    "sgcl-graphs": SGCLGraphs,
    "infograph": InfoGraph,
    "graphcl": GraphCL,
    "mvgrl-graphs": MVGRLGraphs,
    "ad-gcl": ADGCL,
    "bgrl-graphs": BGRLGraphs,
    "lagraph": LaGraph,
    "progcl-graphs": ProGCLGraphs,
    "augcl-graphs": AUGCLGraphs,
    "cgra-graphs": CGRAGraphs,
}, "sgcl.methods")

__all__ = [
    "ADGCL",
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
    "METHODS",
    "MVGRL",
    "SGCL",
    "AUGCLGraphs",
    "BGRLGraphs",
    "CGRAGraphs",
    "GraphCL",
    "GraphMAE2",
    "InfoGraph",
    "LaGraph",
    "MVGRLGraphs",
    "Method",
    "ProGCL",
    "ProGCLGraphs",
    "SGCLGraphs",
]
