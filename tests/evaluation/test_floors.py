import torch
from torch_geometric.data import Data

from sgcl.evaluation import raw_features
from sgcl.graph import Graph
from sgcl.sparse import SparseFeatures


def test_dense_features_are_passed_on(path):
    assert torch.equal(raw_features(path), path.x)
    assert torch.equal(raw_features(Graph.from_data(path)), path.x)


def test_sparse_features_are_written_out():
    x = torch.zeros(20, 12)
    x[3, 4], x[19, 0] = 2.0, -1.0
    graph = Graph.from_data(Data(x=x, edge_index=torch.tensor([[0], [1]])))
    assert isinstance(graph.x, SparseFeatures)
    assert torch.equal(raw_features(graph), x)
