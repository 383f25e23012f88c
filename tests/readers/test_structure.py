import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.data import Data

from sgcl.encoders import SAGELayer
from sgcl.graph import Graph
from sgcl.readers import STRUCTURAL, read_graph, structure
from sgcl.readers.structure import adjacency, degree, learned, spectral, walk


def path_of_three():
    return adjacency(torch.tensor([[0, 1], [1, 2]]), None, 4)  # 0 - 1 - 2, and 3 alone


def test_degrees_one_hot_and_capped():
    assert degree(path_of_three()).to_dense().nonzero().tolist() == [[0, 1], [1, 2], [2, 1], [3, 0]]
    star = adjacency(torch.stack([torch.zeros(70, dtype=torch.long), torch.arange(1, 71)]), None, 71)
    assert degree(star).shape == (71, 65)
    assert degree(star).to_dense()[0].nonzero().item() == 64


def test_the_first_steps_of_a_walk():
    x = walk(path_of_three()).double().numpy()
    one, two = np.log(2), np.log(3)
    assert x[:, 0] == pytest.approx([one, two, one, 0])
    assert x[:, 1] == pytest.approx([two, one, two, 0])  # from the ends to the middle and back
    assert x[:, 2] == pytest.approx([0, 0, 0, 0], abs=1e-3)
    assert x.shape == (4, 17)


@given(random_data(weighted=True))
def test_the_walk_is_what_powers_of_the_matrix_say(data):
    adj = adjacency(data.edge_index, data.edge_weight, data.num_nodes)
    dense = adj.toarray()
    total = dense.sum(1, keepdims=True)
    p = np.where(total > 0, dense / np.where(total > 0, total, 1), np.eye(len(dense)))
    s = np.log1p((dense > 0).sum(1))
    expected = [s]
    for k in range(1, 9):
        mean, square = np.linalg.matrix_power(p, k) @ s, np.linalg.matrix_power(p, k) @ s**2
        expected += [mean, np.sqrt(np.maximum(square - mean**2, 0))]
    assert np.allclose(walk(adj).numpy(), np.stack(expected, 1), atol=1e-3)


@given(random_data(weighted=True))
def test_the_adjacency_is_that_of_the_graph(data):
    expected = Graph.from_data(data).adj.to_scipy(dtype="float32")
    assert abs(adjacency(data.edge_index, data.edge_weight, data.num_nodes).astype("float32") - expected).max() < 1e-6


def test_learned_features_are_a_column_for_each_node():
    x = learned(path_of_three())
    assert x.layout == torch.sparse_csr
    assert torch.equal(x.to_dense(), torch.eye(4))


def test_the_first_layer_of_a_model_with_learned_features_is_a_table_of_their_vectors():
    data = Data(x=learned(path_of_three()), edge_index=torch.tensor([[0, 1], [1, 2]]))
    graph = Graph.from_data(data)
    layer = SAGELayer(4, 3)
    h = layer(graph.x, layer.prepare(graph.adj))
    assert torch.allclose(h[3], layer.weight[3])                           # of a node without neighbours
    assert torch.allclose(h[0], layer.weight[0] + layer.weight_neighbors[1])


def random_adjacency(num_nodes):
    pairs = torch.randint(num_nodes, (2, 4 * num_nodes), generator=torch.Generator().manual_seed(0))
    return adjacency(pairs, None, num_nodes)


def test_spectral_features_are_eigenvectors_in_descending_order(monkeypatch):
    adj = random_adjacency(300)
    x = spectral(adj).double().numpy() / np.sqrt(300)
    scale = 1 / np.sqrt(adj.sum(axis=1))
    matrix = scale[:, None] * adj.toarray() * scale
    value = (x * (matrix @ x)).sum(0)
    assert np.allclose(matrix @ x, value * x, atol=1e-4)
    assert np.allclose(value, np.linalg.eigvalsh(matrix)[::-1][:32], atol=1e-4)
    assert (x[np.abs(x).argmax(0), np.arange(32)] > 0).all()
    monkeypatch.setattr(structure, "_DENSE_BELOW", 1000)
    assert np.allclose(x, spectral(adj).numpy() / np.sqrt(300), atol=1e-3)


def test_spectral_features_of_a_small_graph_end_in_zeros():
    x = spectral(path_of_three())
    assert x.shape == (4, 32)
    assert not x[:, 4:].any()
    assert x[:, 0].tolist() == pytest.approx([1, 2**0.5, 1, 0], abs=1e-5)  # sqrt(degree), of length sqrt(N)


@pytest.mark.parametrize("num_nodes", [20, 300])
@pytest.mark.parametrize("word", STRUCTURAL)
def test_features_are_the_same_each_time_and_finite(word, num_nodes):
    pairs = torch.randint(num_nodes, (2, num_nodes), generator=torch.Generator().manual_seed(1))  # many components
    adj = adjacency(pairs, None, num_nodes)
    first, again = STRUCTURAL[word](adj).to_dense(), STRUCTURAL[word](adj).to_dense()
    assert torch.equal(first, again)
    assert torch.isfinite(first).all()


@given(random_data(), st.sampled_from(["degree", "walk", "ones"]), st.integers(0, 2**32 - 1))
def test_features_go_with_the_node_not_with_its_number(data, word, seed):
    order = np.random.default_rng(seed).permutation(data.num_nodes)
    moved = torch.from_numpy(order)[data.edge_index]
    x = STRUCTURAL[word](adjacency(data.edge_index, None, data.num_nodes)).to_dense()
    y = STRUCTURAL[word](adjacency(moved, None, data.num_nodes)).to_dense()
    assert torch.allclose(x, y[order], atol=1e-3)


@pytest.mark.parametrize("word", STRUCTURAL)
def test_a_graph_with_made_features_can_be_trained_on(word, tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,a\nc,d\n")
    data = read_graph(tmp_path / "e.csv", features=word)
    graph = Graph.from_data(data)
    assert graph.num_features == data.x.shape[1]
    assert graph.num_edges == 4
