"""Leave out nodes of each graph at random."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sgcl.errors import check_rate
from sgcl.graph import Graph
from sgcl.views.base import View
from sgcl.views.draw_nodes import draw_nodes, graph_sizes


@dataclass(frozen=True)
class DropNodes(View):
    """Of a graph of n nodes, ⌊p n⌋ go with their edges, every choice of them equally likely; at least one stays.

    Args:
        p: the share of the nodes that go.
    """

    p: float = 0.1

    def __post_init__(self) -> None:
        check_rate("DropNodes", "p", self.p)

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        if self.p == 0:
            return graph
        sizes = graph_sizes(graph)                                         # (G,)
        gone = draw_nodes(graph, (sizes.double() * self.p).long().minimum(sizes - 1), generator)
        return graph.subgraph((~gone).nonzero().view(-1))

    @property
    def keeps_nodes(self) -> bool:
        return False
