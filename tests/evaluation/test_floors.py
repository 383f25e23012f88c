import torch
from hypothesis import given
from strategies import random_data
from torch_geometric.data import Data

from sgcl.evaluation import propagated_features, raw_features
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


@given(random_data(weighted=True))
def test_propagated_features_are_the_formula(data):
    graph = Graph.from_data(data)
    loops = graph.adj.to_dense().double() + torch.eye(graph.num_nodes)
    step = loops / (loops.sum(1)[:, None] * loops.sum(1)).sqrt()
    x = raw_features(graph).double()
    expected = 0.05 * x + 0.95 / 16 * sum(torch.matrix_power(step, k) @ x for k in range(1, 17))
    before = raw_features(graph).clone()
    assert torch.allclose(propagated_features(data).double(), expected, rtol=1e-4, atol=1e-5)
    assert torch.equal(raw_features(graph), before)


def test_sparse_features_are_propagated_as_dense_ones():
    x = torch.zeros(20, 12)
    x[3, 4], x[19, 0] = 2.0, -1.0
    graph = Graph.from_data(Data(x=x, edge_index=torch.tensor([[3, 19], [1, 3]])))
    assert isinstance(graph.x, SparseFeatures)
    assert torch.allclose(propagated_features(graph), propagated_features(graph.replace(x=x)))
