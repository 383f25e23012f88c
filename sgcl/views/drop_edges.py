"""Drop edges at random."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sgcl.errors import check_rate
from sgcl.graph import Graph
from sgcl.sparse import CSR
from sgcl.views.base import View


@dataclass(frozen=True)
class DropEdges(View):
    """Each undirected edge goes with probability ``p``, both directions at once, independently of the others.

    A' = A * (1 - M), M symmetric, M_ij ~ Bernoulli(p). What stays keeps its weight.

    Args:
        p: probability of dropping an edge; 0.5 in the paper, 0.3 in its published code.
    """

    p: float = 0.5

    def __post_init__(self) -> None:
        check_rate("DropEdges", "p", self.p)

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        return graph if self.p == 0 else graph.replace(adj=drop_edges(graph.adj, self.p, generator))


def drop_edges(adj: CSR, p: float, generator: torch.Generator) -> CSR:
    """The symmetric ``adj`` without the edges that fall to p, in time and memory O(N + E)."""
    draws = torch.rand(adj.nnz // 2, generator=generator, dtype=torch.float64)
    return adj.keep_edges((draws >= p).to(adj.device))
