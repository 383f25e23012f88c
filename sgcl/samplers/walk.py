"""Batches from random walks (Zeng et al., GraphSAINT, 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sgcl.graph import Graph
from sgcl.samplers.base import Sampler, check_counts, fill, first_distinct, uniform_nodes
from sgcl.sparse import CSR


@dataclass(frozen=True)
class RandomWalk(Sampler):
    """All nodes that walks from random roots pass.

    A root is a uniform node, drawn with replacement; each of the ``length`` steps of its walk goes to a uniform
    neighbour, whatever the edge weights. A walker without neighbours stays where it is.

    Args:
        batch_size: nodes of a batch. Walks are added until there are so many; the last one is cut short.
            The whole graph if it is no larger.
        length: steps of a walk: 4 in the paper, 20 for ogbn-products, 3 in the published code.
        batches: batches an epoch.
        roots: exactly so many walks instead, at most ``roots * (length + 1)`` nodes, whatever ``batch_size`` says.
            The published code has 2000.
    """

    batch_size: int = 2000
    length: int = 4
    batches: int = 4
    roots: int | None = None

    def __post_init__(self) -> None:
        check_counts("RandomWalk", batch_size=self.batch_size, length=self.length, batches=self.batches,
                     roots=self.roots)

    def nodes(self, graph: Graph, generator: torch.Generator) -> Tensor:
        if self.roots is not None:
            return first_distinct(walks(graph, self.roots, self.length, generator).view(-1))
        if self.batch_size >= graph.num_nodes:
            return torch.arange(graph.num_nodes, device=graph.device)

        def draw(wanted: int) -> Tensor:
            return walks(graph, -(-wanted // (self.length + 1)), self.length, generator).view(-1)

        return fill(self.batch_size, graph.num_nodes, draw)


def walks(graph: Graph, roots: int, length: int, generator: torch.Generator) -> Tensor:
    """(roots, length + 1) the nodes of each walk, root first."""
    path = [uniform_nodes(graph, roots, generator)]
    for _ in range(length):
        path.append(step(graph.adj, path[-1], generator))
    return torch.stack(path, dim=1)


def step(adj: CSR, nodes: Tensor, generator: torch.Generator) -> Tensor:
    """(n,) a uniform neighbour of each of the (n,) nodes; a node without any stays."""
    if adj.nnz == 0:
        return nodes
    start = adj.ptr.index_select(0, nodes)
    degree = adj.ptr.index_select(0, nodes + 1) - start                    # (n,)
    draws = torch.rand(len(nodes), generator=generator, dtype=torch.float64).to(adj.device)
    entry = (start + (draws * degree).long()).clamp_(max=adj.nnz - 1)
    return torch.where(degree > 0, adj.idx.index_select(0, entry), nodes)
