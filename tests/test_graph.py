import numpy as np
import pytest
import torch
from hypothesis import given
from strategies import random_data
from torch_geometric.data import Data, HeteroData

from sgcl import Graph, InputError
from sgcl.graph import largest_component, one_column_each, prepare, scale_columns, scale_rows
from sgcl.sparse import SparseFeatures


@given(random_data())
def test_the_adjacency_is_symmetric_without_loops_and_says_what_the_edges_say(data):
    before = data.edge_index.clone()
    expected = np.zeros((data.num_nodes, data.num_nodes))
    for i, j in data.edge_index.T.tolist():
        if i != j:
            expected[i, j] = expected[j, i] = 1
    if not expected.any():
        with pytest.raises(InputError, match="self-loops"):
            Graph.from_data(data)
        return
    graph = Graph.from_data(data)
    assert np.array_equal(graph.adj.to_dense().numpy(), expected)
    assert graph.num_edges == expected.sum() / 2
    assert torch.equal(data.edge_index, before)


@given(random_data(weighted=True))
def test_weights_of_repeated_edges_add_up_and_the_larger_direction_wins(data):
    expected = np.zeros((data.num_nodes, data.num_nodes))
    for (i, j), weight in zip(data.edge_index.T.tolist(), data.edge_weight.tolist(), strict=True):
        if i != j:
            expected[i, j] += weight
    graph = Graph.from_data(data)
    assert np.allclose(graph.adj.to_dense().numpy(), np.maximum(expected, expected.T), atol=1e-6)


def test_isolated_nodes_are_nodes(path):
    path.x = torch.randn(5, 2)
    graph = Graph.from_data(path)
    assert graph.num_nodes == 5
    assert graph.adj.ptr.diff().tolist() == [1, 2, 1, 0, 0]


def test_mostly_empty_features_are_kept_sparse_and_equal():
    x = torch.zeros(6, 40)
    x[torch.arange(6), torch.arange(6) * 5] = torch.rand(6) + 1
    edge_index = torch.tensor([[0, 1], [1, 2]])
    graph = Graph.from_data(Data(x=x, edge_index=edge_index))
    assert isinstance(graph.x, SparseFeatures)
    assert torch.equal(graph.x.to_dense(), x)
    assert torch.equal(Graph.from_data(Data(x=x.to_sparse_csr(), edge_index=edge_index, num_nodes=6)).x.to_dense(), x)
    scale = torch.rand(40)
    assert torch.allclose(scale_columns(graph.x, scale).to_dense(), scale_columns(x, scale))
    assert torch.allclose(scale_rows(graph.x, scale[:6]).to_dense(), scale_rows(x, scale[:6]))
    assert torch.equal(scale_rows(x, torch.arange(6.0))[2], 2 * x[2])


def test_subgraph_keeps_the_original_numbers(ring):
    graph = Graph.from_data(ring)
    once = graph.subgraph(torch.tensor([3, 8, 9, 30]))
    twice = once.subgraph(torch.tensor([1, 2]))
    assert twice.n_id.tolist() == [8, 9]
    assert torch.equal(twice.x, ring.x[[8, 9]])
    assert twice.adj.to_dense().tolist() == [[0, 1], [1, 0]]


def test_largest_component_keeps_order_and_numbers():
    data = Data(x=torch.arange(6.0)[:, None], edge_index=torch.tensor([[0, 5, 2, 3], [1, 3, 3, 2]]),
                y=torch.arange(6))
    part = largest_component(data)
    assert part.n_id.tolist() == [2, 3, 5]
    assert part.y.tolist() == [2, 3, 5]
    assert part.x.view(-1).tolist() == [2, 3, 5]


@pytest.mark.parametrize("sparse", [False, True])
def test_largest_component_takes_ids_and_sparse_features_along(sparse):
    x = torch.eye(5)
    data = Data(x=x.to_sparse_csr() if sparse else x, edge_index=torch.tensor([[0, 4], [4, 2]]), num_nodes=5,
                ids=np.array(["a", "b", "c", "d", "e"]), notes=["as it came"], classes=np.array(["left"]))
    part = largest_component(data)
    assert part.ids.tolist() == ["a", "c", "e"]
    assert part.notes == ["as it came"]
    assert part.classes.tolist() == ["left"]
    assert part.num_nodes == 3
    features = Graph.from_data(part).x
    assert torch.equal(features if isinstance(features, torch.Tensor) else features.to_dense(), x[[0, 2, 4]])
    assert data.ids.tolist() == ["a", "b", "c", "d", "e"]


EDGES = torch.tensor([[0, 1], [1, 2]])


@pytest.mark.parametrize(("data", "message"), [
    (Data(x=torch.tensor([[1.0], [float("nan")], [0.0]]), edge_index=EDGES), r"NaN or infinite.*node 1, column 0"),
    (Data(x=torch.tensor([[1.0], [2.0], [float("inf")]]), edge_index=EDGES), "NaN or infinite"),
    (Data(x=torch.ones(2, 3), edge_index=EDGES), "names node 2, but nodes are numbered 0 to 1"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES - 1), "names node -1"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, num_nodes=4), "3 rows but the graph has 4 nodes"),
    (Data(x=torch.ones(0, 3), edge_index=EDGES), "empty"),
    (Data(x=torch.ones(3, 0), edge_index=EDGES), "no columns"),
    (Data(x=torch.ones(1, 3), edge_index=torch.tensor([[0], [0]])), "single node"),
    (Data(x=torch.ones(3), edge_index=EDGES), "must be an"),
    (Data(x=torch.ones(3, 3), edge_index=torch.empty(2, 0, dtype=torch.long)), "no edges"),
    (Data(x=torch.ones(3, 3)), "no edges"),
    (Data(x=torch.ones(3, 3), edge_index=torch.tensor([[1], [1]])), "besides self-loops"),
    (Data(x=torch.ones(3, 3), edge_index=torch.zeros(3, 2, dtype=torch.long)), "integer tensor"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES.float()), "integer tensor"),
    (Data(edge_index=EDGES), "no node features"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, edge_weight=torch.ones(3)), "3 entries for 2 edges"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, edge_weight=torch.tensor([1.0, -1.0])), "negative"),
    (HeteroData(), "heterogeneous"),
    ([1, 2], "expected a torch_geometric.data.Data")])
def test_bad_graphs_are_told_in_one_line(data, message):
    with pytest.raises(InputError, match=message) as error:
        Graph.from_data(data)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("x", "answer"), [
    (torch.eye(3), True), (torch.eye(4)[[0, 2, 3]], True), (torch.eye(3)[[0, 1, 1]], False),
    (torch.eye(3)[[1, 0, 2]], False), (torch.ones(2, 2).triu(), False), (torch.tensor([[1.0, 1], [0, 0]]), False)])
def test_nodes_with_a_column_each(x, answer):
    assert one_column_each(SparseFeatures.from_dense(x)) is answer
    assert not one_column_each(x)


def test_normalised_features_add_up_to_one_dense_and_sparse():
    x = torch.tensor([[1.0, -3.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    expected = torch.tensor([[0.25, -0.75, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    dense = prepare(Data(x=x, edge_index=EDGES), normalize_features=True)
    sparse = prepare(Graph(SparseFeatures.from_dense(x), dense.adj), normalize_features=True)
    assert torch.equal(dense.x, expected)
    assert torch.equal(sparse.x.to_dense(), expected)
