"""One of several views for each graph of a collection."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from sgcl.graph import Graph, join
from sgcl.views.base import View


def one_of(views: Sequence[View], graph: Graph, generator: torch.Generator) -> Graph:
    """Each graph as one of the views makes it, drawn uniformly for each; the order of the graphs is kept.

    Graphs of one view go through it together. Without views, the collection is left as it is. ``n_id`` holds the
    numbers that the nodes had in ``graph``, or in what it was taken from.
    """
    if len(views) <= 1:
        return views[0](graph, generator) if views else graph
    drawn = torch.randint(len(views), (graph.num_graphs,), generator=generator)                     # (G,)
    if graph.graph_ptr is None:
        return views[int(drawn)](graph, generator)
    groups = [(drawn == number).nonzero().view(-1).to(graph.device) for number in range(len(views))]
    parts = [view(graph.take(group), generator) for view, group in zip(views, groups, strict=True) if len(group)]
    return join(parts).take(torch.cat(groups).argsort())
