"""What the nodes of a graph say together: their sum, mean or maximum."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from sgcl.graph import Graph

Readout = Literal["sum", "mean", "max"]


def readout(h: Tensor, graph: Graph, kind: Readout = "sum") -> Tensor:
    """(N, D) of the nodes of a collection give (G, D) of its graphs; a graph without nodes gets zeros."""
    out = h.new_zeros(graph.num_graphs, h.size(1))
    graph_of = graph.graph_of                                              # (N,)
    if kind == "max":
        return out.scatter_reduce(0, graph_of[:, None].expand_as(h), h, "amax", include_self=False)
    total = out.index_add(0, graph_of, h)
    if kind == "sum" or graph.graph_ptr is None:
        return total if kind == "sum" else total / max(graph.num_nodes, 1)
    return total / graph.graph_ptr.diff().clamp(min=1)[:, None]
