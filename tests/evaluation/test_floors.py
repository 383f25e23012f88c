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


def test_the_features_of_a_collection_are_summed_over_each_graph():
    graphs = [Data(x=torch.tensor([[1.0, 2.0], [3.0, 0.0]]), edge_index=torch.tensor([[0], [1]])),
              Data(x=torch.tensor([[0.0, 5.0]]))]
    collection = Graph.from_data(graphs)
    sparse = collection.replace(x=SparseFeatures.from_dense(collection.x).scale_columns(torch.tensor([1.0, 2.0])))
    assert raw_features(collection).tolist() == [[4, 2], [0, 5]]
    assert raw_features(sparse).tolist() == [[4, 4], [0, 10]]
