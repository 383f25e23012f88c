"""Views: a graph in, the same nodes with other edges or features out. One augmentation a file."""

from sgcl.views.base import View
from sgcl.views.compose import VIEWS, Compose, build_view, describe_view
from sgcl.views.drop_edges import DropEdges
from sgcl.views.flip_edges import FlipEdges
from sgcl.views.mask_features import MaskFeatures
from sgcl.views.noise_features import NoiseFeatures

__all__ = [
    "VIEWS",
    "Compose",
    "DropEdges",
    "FlipEdges",
    "MaskFeatures",
    "NoiseFeatures",
    "View",
    "build_view",
    "describe_view",
]
