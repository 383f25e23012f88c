"""Views: a graph in, the same nodes with other edges or features out, or some of them. One augmentation a file."""

from sgcl.views.base import View
from sgcl.views.compose import VIEWS, Compose, build_view, describe_view, parts_of
from sgcl.views.drop_edges import DropEdges
from sgcl.views.drop_nodes import DropNodes
from sgcl.views.flip_edges import FlipEdges
from sgcl.views.mask_features import MaskFeatures
from sgcl.views.mask_nodes import MaskNodes
from sgcl.views.noise_features import NoiseFeatures
from sgcl.views.one_of import one_of
from sgcl.views.subgraph import Subgraph

__all__ = [
    "VIEWS",
    "Compose",
    "DropEdges",
    "DropNodes",
    "FlipEdges",
    "MaskFeatures",
    "MaskNodes",
    "NoiseFeatures",
    "Subgraph",
    "View",
    "build_view",
    "describe_view",
    "one_of",
    "parts_of",
]
