"""What a method must beat before it has learnt anything: the features themselves."""

from torch import Tensor
from torch_geometric.data import Data

from sgcl.graph import Graph


def raw_features(graph: Graph | Data) -> Tensor:
    """(N, F) the node features as an embedding, dense: 4 N F bytes, 0.5 GB for Coauthor CS."""
    x = Graph.from_data(graph).x
    return x if isinstance(x, Tensor) else x.to_dense()
