"""Small stand-ins for a large graph: a piece of it, which keeps how neighbours are joined, and a random graph with its
degrees, which keeps how many there are."""

from __future__ import annotations

import torch
from torch import Tensor

from sgcl.graph import Graph
from sgcl.samplers import EgoGraph
from sgcl.sparse import CSR


def piece(adj: CSR, size: int, generator: torch.Generator) -> tuple[Tensor, CSR]:
    """``size`` nodes of the graph, all that is near a few of them, and the edges among them: (size,), (size, size)."""
    nodes = EgoGraph(hops=size, batch_size=size).nodes(Graph(torch.empty(adj.shape[0], 1), adj), generator)
    return nodes, adj.submatrix(nodes)


def shuffled(adj: CSR, size: int, generator: torch.Generator) -> tuple[Tensor, CSR]:
    """``size`` random nodes with the degrees that they have in the graph (as far as ``size`` nodes allow) and edges
    between random ones of them, of the graph's weights: (size,), (size, size)."""
    nodes = torch.randperm(adj.shape[0], generator=generator)[:size]
    ends = torch.repeat_interleave(adj.ptr.diff()[nodes].clamp(max=size - 1))
    row, col = ends[torch.randperm(len(ends), generator=generator)[:len(ends) // 2 * 2]].view(2, -1)
    row, col = row[row != col], col[row != col]
    value = None
    if adj.value is not None:
        value = adj.value[torch.randint(adj.nnz, (len(row),), generator=generator)].repeat(2)
    return nodes, CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), value, shape=(size, size), symmetric=True)
