"""Keep a connected piece of each graph, grown from a random node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse.csgraph
import torch
from torch import Tensor

from sgcl.errors import check_rate
from sgcl.graph import Graph
from sgcl.views.base import View
from sgcl.views.draw_nodes import first_nodes, graph_sizes


@dataclass(frozen=True)
class Subgraph(View):
    """A connected piece of each graph: ⌊share n⌋ + 1 of its n nodes, or all in reach if they are fewer.

    It grows from a random node, each time by a random one among the neighbours of those taken, though not step by step:
    with a waiting time t_v ~ Exp(1) on each node, node v is reached at the time d_v = t_v + min d_u over its neighbours
    u, 0 at the start. As such times have no memory, the next node to be reached is any of the neighbours, equally
    likely; the nodes of the least d are kept. O((N + E) log N).

    Args:
        share: of the nodes that are kept, beside the first one.
    """

    share: float = 0.2

    def __post_init__(self) -> None:
        check_rate("Subgraph", "share", self.share)

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        sizes = graph_sizes(graph)                                         # (G,)
        reached = _reached(graph, sizes, generator)                        # (N,)
        kept = first_nodes(graph, reached, (sizes.double() * self.share).long() + 1) & reached.isfinite()
        return graph.subgraph(kept.nonzero().view(-1))

    @property
    def keeps_nodes(self) -> bool:
        return False


def _reached(graph: Graph, sizes: Tensor, generator: torch.Generator) -> Tensor:
    """(N,) when each node is reached from the first of its graph; infinite where it cannot be."""
    draws = torch.rand(len(sizes), generator=generator, dtype=torch.float64).to(graph.device)
    start = 0 if graph.graph_ptr is None else graph.graph_ptr[:-1]
    first = start + (draws * sizes).long()                                 # (G,)
    waiting = torch.rand(graph.num_nodes, generator=generator, dtype=torch.float64).neg_().log1p_().neg_()
    ways = graph.adj.to_scipy()
    ways.data = waiting.clamp_(min=1e-12).numpy()[ways.indices]            # from any neighbour to v it takes t_v
    time = scipy.sparse.csgraph.dijkstra(ways, indices=first.cpu().numpy().astype(np.int32), min_only=True)
    return torch.from_numpy(time).to(graph.device)
