"""What a method must beat before it has learnt anything: the features themselves, as they are and propagated."""

import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.graph import Graph
from sgcl.sparse import spmm

_STEPS = 16    # of the propagation
_KEPT = 0.05   # the share of a node's own features in it


def raw_features(graph: Graph | Data) -> Tensor:
    """(N, F) the node features as an embedding, dense: 4 N F bytes, 0.5 GB for Coauthor CS. For a collection (G, F):
    their sums over the nodes of each graph."""
    graph = Graph.from_data(graph)
    x = graph.x
    if graph.graph_ptr is None:
        return x if isinstance(x, Tensor) else x.to_dense()
    total = torch.zeros(graph.num_graphs, graph.num_features)
    if isinstance(x, Tensor):
        return total.index_add(0, graph.graph_of, x)
    scaled = x.matrix.values() if x.scale is None else x.matrix.values() * x.scale[x.matrix.idx]
    return total.index_put((graph.graph_of[x.matrix.row], x.matrix.idx), scaled, accumulate=True)


def propagated_features(graph: Graph | Data) -> Tensor:
    r"""(N, F) the node features, averaged over neighbourhoods of every size: simple spectral graph convolution,

    .. math:: 0.05 X + \frac{0.95}{16} \sum_{k=1}^{16} S^k X, \quad S = D^{-1/2} (A + I) D^{-1/2},

    D the degrees of A + I. Nothing is learnt and nothing random. Time O((N + E) F), memory three times (N, F), dense.
    """
    graph = Graph.from_data(graph)
    step = x = raw_features(graph)                                         # (N, F)
    scale = (graph.adj.row_sum() + 1).rsqrt()                              # (N,)
    weight = graph.adj.values() * scale[graph.adj.row] * scale[graph.adj.idx]                           # (nnz,)
    total = x * _KEPT
    for _ in range(_STEPS):
        step = spmm(graph.adj, step, weight, scale.square()[:, None])
        total.add_(step, alpha=(1 - _KEPT) / _STEPS)
    return total
