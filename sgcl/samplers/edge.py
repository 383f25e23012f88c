"""Batches from random edges (Zeng et al., GraphSAINT, 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers.base import Sampler, check_counts, fill, first_distinct
from sgcl.samplers.walk import step
from sgcl.sparse import CSR

_CONNECTED: WeakKeyDictionary[CSR, Tensor] = WeakKeyDictionary()  # the nodes with edges, for as long as a graph lives


@dataclass(frozen=True)
class RandomEdge(Sampler):
    """The ends of random edges, drawn with replacement with P(u, v) proportional to 1/deg(u) + 1/deg(v).

    A uniform node among those with edges and then a uniform neighbour give exactly that law, without a table of edges.
    Degrees count neighbours, whatever the edge weights. Nodes without edges are in no batch.

    Args:
        batch_size: nodes of a batch. Edges are added until there are so many; the last edge may lose an end.
            All nodes with edges if they are no more.
        batches: batches an epoch.
        edges: a budget of exactly so many draws instead, at most twice as many nodes, whatever ``batch_size`` says.
    """

    batch_size: int = 2000
    batches: int = 4
    edges: int | None = None

    def __post_init__(self) -> None:
        check_counts("RandomEdge", batch_size=self.batch_size, batches=self.batches, edges=self.edges)

    def nodes(self, graph: Graph, generator: torch.Generator) -> Tensor:
        if graph.adj.nnz == 0:
            raise InputError("RandomEdge: the graph has no edges to draw; use RandomNode")
        if self.edges is not None:
            return first_distinct(random_edges(graph.adj, self.edges, generator).view(-1))
        connected = _connected(graph.adj)
        if self.batch_size >= len(connected):
            return connected.clone()

        def draw(wanted: int) -> Tensor:
            return random_edges(graph.adj, -(-wanted // 2), generator).view(-1)

        return fill(self.batch_size, len(connected), draw)


def random_edges(adj: CSR, count: int, generator: torch.Generator) -> Tensor:
    """(count, 2) edges (u, v), P proportional to 1/deg(u) + 1/deg(v), drawn with replacement."""
    connected = _connected(adj)
    u = connected[torch.randint(len(connected), (count,), generator=generator).to(adj.device)]
    return torch.stack([u, step(adj, u, generator)], dim=1)


def _connected(adj: CSR) -> Tensor:
    """The nodes with edges, ascending, found once for a graph."""
    if adj not in _CONNECTED:
        _CONNECTED[adj] = adj.ptr.diff().nonzero().view(-1)
    return _CONNECTED[adj]
