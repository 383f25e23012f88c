"""Views one after the other, and views as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.registry import Registry
from sgcl.views.base import View
from sgcl.views.drop_edges import DropEdges
from sgcl.views.flip_edges import FlipEdges
from sgcl.views.mask_features import MaskFeatures
from sgcl.views.noise_features import NoiseFeatures

VIEWS = Registry("view", {"drop-edges": DropEdges, "mask-features": MaskFeatures, "flip-edges": FlipEdges,
                          "noise-features": NoiseFeatures}, "sgcl.views")


@dataclass(frozen=True)
class Compose(View):
    """The given views in order, each on the result of the one before. ``Compose()`` leaves a graph as it is.

    Args:
        views: any sequence of views; kept as a tuple.
    """

    views: Sequence[View] = ()

    def __post_init__(self) -> None:
        views = tuple(self.views) if isinstance(self.views, Sequence) else (self.views,)
        for view in views:
            if not isinstance(view, View):
                raise InputError(f"Compose: {view!r} is not a view; give e.g. Compose([DropEdges(), MaskFeatures()])")
        object.__setattr__(self, "views", views)

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        for view in self.views:
            graph = view(graph, generator)
        return graph


def describe_view(view: View) -> list[dict[str, Any]]:
    """A view as JSON: the name and the settings of each part, in order."""
    if isinstance(view, Compose):
        return [spec for part in view.views for spec in describe_view(part)]
    return [VIEWS.describe(view)]


def build_view(specs: Sequence[Mapping[str, Any] | str] | Mapping[str, Any] | str) -> Compose:
    """What :func:`describe_view` wrote down, as one :class:`Compose`; a bare name takes that view's defaults."""
    parts = [specs] if isinstance(specs, (str, Mapping)) else specs
    return Compose(tuple(VIEWS.build(part) for part in parts))
