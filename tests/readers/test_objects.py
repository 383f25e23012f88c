import networkx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

from sgcl.readers import read_graph

NO_FEATURES = "no features: give a file, or one of degree, learned, ones, spectral, walk"


def test_a_matrix_gives_directed_weighted_edges_and_isolated_nodes():
    data = read_graph(scipy.sparse.csr_array(np.array([[0, 2, 0], [3, 1, 0], [0, 0, 0]])))
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]
    assert data.edge_weight.tolist() == [2, 3]
    assert data.ids.tolist() == [0, 1, 2]
    assert data.notes == ["1 self-loop is left out", NO_FEATURES]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_matrix_with_ids_is_reordered_by_them_with_its_features(form):
    matrix = scipy.sparse.coo_array(([1, 1], ([0, 1], [1, 2])), shape=(4, 4)).asformat(form)
    data = read_graph(matrix, ids=["d", "b", "a", "c"], features=np.array([[4], [2], [1], [3]]))
    assert data.ids.tolist() == ["a", "b", "c", "d"]
    assert data.edge_index.tolist() == [[1, 3], [0, 1]]  # b to a, d to b
    assert data.x.tolist() == [[1], [2], [3], [4]]
    assert "edge_weight" not in data


def test_weights_of_a_matrix_can_be_left_aside_and_the_matrix_stays():
    matrix = scipy.sparse.csr_array(np.array([[0, 5], [5, 0]]))
    assert "edge_weight" not in read_graph(matrix, weight=False)
    assert matrix.toarray().tolist() == [[0, 5], [5, 0]]


def test_a_saved_matrix_is_read_like_the_matrix(tmp_path):
    matrix = scipy.sparse.random_array((6, 6), density=0.4, rng=0)
    scipy.sparse.save_npz(tmp_path / "a.npz", matrix)
    np.save(tmp_path / "ids.npy", np.array([5, 3, 1, 0, 2, 9]))
    held = read_graph(matrix, ids=[5, 3, 1, 0, 2, 9])
    read = read_graph(tmp_path / "a.npz", ids=tmp_path / "ids.npy")
    assert torch.equal(read.edge_index, held.edge_index)
    assert torch.equal(read.edge_weight, held.edge_weight)
    assert read.ids.tolist() == [0, 1, 2, 3, 5, 9]


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.MultiGraph, networkx.DiGraph, networkx.MultiDiGraph])
def test_networkx_graphs_of_all_kinds(kind):
    graph = kind([("b", "a"), ("a", "c"), ("b", "b")])
    graph.add_node("Z")
    data = read_graph(graph)
    assert data.ids.tolist() == ["Z", "a", "b", "c"]
    both = [[1, 2, 1, 3], [2, 1, 3, 1]]
    assert data.edge_index.tolist() == ([[2, 1], [1, 3]] if graph.is_directed() else both)
    assert data.notes[0] == "1 self-loop is left out"


def test_parallel_edges_are_merged_and_their_weights_added():
    graph = networkx.MultiGraph([(1, 0), (0, 1), (1, 2)])
    assert "1 duplicate edge is merged" in read_graph(graph).notes
    networkx.set_edge_attributes(graph, 0.5, "w")
    data = read_graph(graph, weight="w")
    assert data.edge_weight.tolist() == [1, 1, 0.5, 0.5]


def test_integers_of_numpy_are_ids_too():
    graph = networkx.Graph([(np.int64(7), np.int64(3))])
    assert read_graph(graph).ids.tolist() == [3, 7]


def test_a_data_is_handed_back_with_ids_and_notes_and_itself_unchanged():
    data = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[2, 0], [1, 1]]), y=torch.tensor([0, 1, 0]), extra="kept")
    read = read_graph(data)
    assert read.ids.tolist() == [0, 1, 2]
    assert torch.equal(read.edge_index, data.edge_index)
    assert read.x is data.x
    assert read.extra == "kept"
    assert read.notes == ["2 of 2 edges are given in one direction only: both directions are used"]
    assert "ids" not in data
    assert "notes" not in data


def test_files_go_by_the_ids_of_a_data_in_whatever_order_they_are(tmp_path):
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3, ids=np.array(["c", "a", "b"]))
    (tmp_path / "x.csv").write_text("id,f\na,1\nb,2\nc,3\n")
    (tmp_path / "y.csv").write_text("id,label\nb,blue\nc,red\n")
    read = read_graph(data, features=tmp_path / "x.csv", labels=tmp_path / "y.csv")
    assert read.ids.tolist() == ["c", "a", "b"]
    assert read.x.tolist() == [[3], [1], [2]]
    assert read.y.tolist() == [1, -1, 0]


def test_text_ids_of_a_data_meet_digits_in_a_file(tmp_path):
    data = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
    (tmp_path / "x.csv").write_text("id,f\n10,1\n9,2\n")
    read = read_graph(data, ids=["9", "10"], features=tmp_path / "x.csv")
    assert read.x.tolist() == [[2], [1]]
