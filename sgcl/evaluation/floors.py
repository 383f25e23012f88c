"""What a method must beat before it has learnt anything: the features themselves."""

import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.graph import Graph


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
