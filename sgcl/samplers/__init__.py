"""Samplers: a graph in, sub-graphs with their nodes' original numbers out. A batch costs what it holds."""

from sgcl.registry import Registry
from sgcl.samplers.base import Sampler
from sgcl.samplers.edge import RandomEdge
from sgcl.samplers.ego import EgoGraph
from sgcl.samplers.full import FullGraph
from sgcl.samplers.graphs import WholeGraphs
from sgcl.samplers.node import RandomNode
from sgcl.samplers.saint import saint_coefficients
from sgcl.samplers.walk import RandomWalk

SAMPLERS = Registry("sampler", {"full": FullGraph, "walk": RandomWalk, "node": RandomNode, "edge": RandomEdge,
                                "ego": EgoGraph, "graphs": WholeGraphs}, "sgcl.samplers")

__all__ = [
    "SAMPLERS",
    "EgoGraph",
    "FullGraph",
    "RandomEdge",
    "RandomNode",
    "RandomWalk",
    "Sampler",
    "WholeGraphs",
    "saint_coefficients",
]
