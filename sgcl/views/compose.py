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
from sgcl.views.drop_nodes import DropNodes
from sgcl.views.flip_edges import FlipEdges
from sgcl.views.mask_features import MaskFeatures
from sgcl.views.mask_nodes import MaskNodes
from sgcl.views.noise_features import NoiseFeatures
from sgcl.views.subgraph import Subgraph

VIEWS = Registry("view", {"drop-edges": DropEdges, "mask-features": MaskFeatures, "flip-edges": FlipEdges,
                          "noise-features": NoiseFeatures, "drop-nodes": DropNodes, "mask-nodes": MaskNodes,
                          "subgraph": Subgraph}, "sgcl.views")


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

    @property
    def keeps_nodes(self) -> bool:
        return all(view.keeps_nodes for view in self.views)


def parts_of(view: View) -> tuple[View, ...]:
    """The views that a :class:`Compose` is made of, in order; any other view is its own only part."""
    return tuple(part for inner in view.views for part in parts_of(inner)) if isinstance(view, Compose) else (view,)


def describe_view(view: View) -> list[dict[str, Any]]:
    """A view as JSON: the name and the settings of each part, in order."""
    return [VIEWS.describe(part) for part in parts_of(view)]


def build_view(specs: Sequence[Mapping[str, Any] | str] | Mapping[str, Any] | str) -> Compose:
    """What :func:`describe_view` wrote down, as one :class:`Compose`; a bare name takes that view's defaults."""
    parts = [specs] if isinstance(specs, (str, Mapping)) else specs
    return Compose(tuple(VIEWS.build(part) for part in parts))
