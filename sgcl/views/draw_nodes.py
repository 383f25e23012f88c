"""Nodes of each graph by number: so many at random, or the first by some key."""

from __future__ import annotations

import torch
from torch import Tensor

from sgcl.graph import Graph


def graph_sizes(graph: Graph) -> Tensor:
    """(G,) the nodes of each graph."""
    if graph.graph_ptr is None:
        return torch.tensor([graph.num_nodes], device=graph.device)
    return graph.graph_ptr.diff()


def draw_nodes(graph: Graph, counts: Tensor, generator: torch.Generator) -> Tensor:
    """(N,) true for so many (G,) nodes of each graph, every choice of them equally likely."""
    key = torch.rand(graph.num_nodes, generator=generator, dtype=torch.float64).to(graph.device)
    return first_nodes(graph, key, counts)


def first_nodes(graph: Graph, key: Tensor, counts: Tensor) -> Tensor:
    """(N,) true for so many (G,) nodes of each graph, those of the least (N,) keys."""
    graph_of = graph.graph_of                                              # (N,)
    order = key.argsort(stable=True)
    order = order[graph_of[order].argsort(stable=True)]                    # graph by graph, by key inside each
    start = 0 if graph.graph_ptr is None else graph.graph_ptr[graph_of]
    rank = torch.arange(graph.num_nodes, device=graph.device) - start
    return torch.zeros_like(rank, dtype=torch.bool).index_put_((order,), rank < counts[graph_of])
