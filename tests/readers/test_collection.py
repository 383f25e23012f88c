"""Collections of one's own: folders of edge lists, the TU format, PyG and NetworkX graphs, and bad ones."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.readers import label_graphs, read_collection, read_graph

PATH, STAR = "source,target\na,b\nb,c\n", "source,target\n1,2\n1,3\n1,4\n"
TU = {"A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n", "graph_indicator": "1\n1\n1\n2\n2\n3\n",
      "graph_labels": "1\n-1\n1\n", "node_labels": "3\n3\n5\n3\n5\n4\n", "node_attributes": "0.5\n1\n1.5\n2\n2.5\n3\n"}


@pytest.fixture
def folder(tmp_path):
    """Files by name in a folder called graphs, and its path."""
    def put(files, name="graphs"):
        (tmp_path / name).mkdir(exist_ok=True)
        for file, text in files.items():
            (tmp_path / name / file).write_text(text)
        return tmp_path / name
    return put


def tu(folder, *without, **changes):
    parts = {part: text for part, text in {**TU, **changes}.items() if part not in without}
    return folder({f"MY_{part}.txt": text for part, text in parts.items()})


def dense(x):
    return x if x.layout == torch.strided else x.to_dense()


def test_a_folder_of_edge_lists_by_hand(folder, tmp_path):
    where = folder({"10.csv": PATH, "9.tsv": STAR.replace(",", "\t"), "README.md": "mine", ".hidden": ""})
    (tmp_path / "labels.csv").write_text("id,label\n9,tree\n10,path\n")
    data = read_collection(where, labels=tmp_path / "labels.csv")
    assert data.ids.tolist() == [9, 10]                                    # numbers, so by size
    assert data.batch.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert data.edge_index.tolist() == [[0, 0, 0, 4, 5], [1, 2, 3, 5, 6]]
    assert dense(data.x).shape == (7, 65)
    assert dense(data.x).argmax(1).tolist() == [3, 1, 1, 1, 1, 2, 1]
    assert data.y.tolist() == [1, 0]
    assert data.classes.tolist() == ["path", "tree"]
    assert "README.md is left out: no graph by the end of its name" in data.notes
    assert Graph.from_data(data).graph_ptr.tolist() == [0, 4, 7]


def test_text_ids_labels_inside_the_folder_and_graphs_left_without(folder):
    where = folder({"b.csv": PATH, "a.csv": STAR, "labels.csv": "graph,kind\nb,x\n"})
    data = read_collection(where, labels=where / "labels.csv", id_column="graph", label_column="kind")
    assert data.ids.tolist() == ["a", "b"]
    assert data.y.tolist() == [-1, 0]
    assert "1 of 2 graphs have no label: they are embedded but not scored" in data.notes
    without = read_collection(where)
    assert without.ids.tolist() == ["a", "b"]
    assert without.get("y") is None
    assert "labels.csv is not taken as a graph: give it as labels= (--labels)" in without.notes


def test_features_of_a_folder_of_tables(folder):
    where = folder({"a.csv": PATH, "b.csv": "source,target\n"})
    tables = folder({"a.csv": "id,u,v\nc,5,6\na,1,2\nb,3,4\n", "b.csv": "id,v,u\nz,8,7\n"}, "features")
    data = read_collection(where, features=tables)
    assert data.x.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]             # nodes by id, columns by name
    assert data.feature_names == ["u", "v"]
    assert data.batch.tolist() == [0, 0, 0, 1]
    assert "1 of 2 graphs have no edges" in data.notes


def test_features_made_from_the_graphs_are_those_of_each_by_itself(folder):
    where = folder({"a.csv": PATH, "b.csv": STAR})
    for features in ("degree", "walk", "ones"):
        alone = [dense(read_graph(where / name, features=features).x) for name in ("a.csv", "b.csv")]
        assert torch.allclose(dense(read_collection(where, features=features).x), torch.cat(alone))


@given(st.lists(random_data(max_nodes=5), min_size=1, max_size=4))
def test_a_list_of_pyg_graphs_is_the_collection_that_an_estimator_takes(graphs):
    ours, theirs = Graph.from_data(read_collection(graphs)), Graph.from_data(graphs)
    assert torch.equal(ours.x, theirs.x)
    assert torch.equal(ours.adj.to_dense(), theirs.adj.to_dense())
    assert torch.equal(ours.graph_ptr, theirs.graph_ptr)


def test_lists_of_networkx_and_pyg_graphs():
    data = read_collection([nx.path_graph(3), nx.empty_graph(2), nx.star_graph(3)])
    assert data.batch.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert dense(data.x).argmax(1).tolist() == [1, 2, 1, 0, 0, 3, 1, 1, 1]
    assert data.ids.tolist() == [0, 1, 2]
    assert "1 of 3 graphs have no edges" in data.notes
    pair = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([3]))
    data = read_collection([pair, Data(x=torch.ones(1, 2))])
    assert data.y.tolist() == [3, -1]
    assert data.x.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert read_collection([pair], features="ones").x.tolist() == [[1], [1]]
    weighted = nx.Graph()
    weighted.add_edge(0, 1, weight=2.0)
    assert read_collection([weighted, nx.path_graph(2)]).edge_weight.tolist() == [2, 2, 1, 1]


def test_a_folder_in_the_tu_format(folder):
    where = tu(folder)
    data = read_collection(where)
    assert data.ids.tolist() == [1, 2, 3]
    assert data.x.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert data.feature_names == ["label 3", "label 4", "label 5"]
    assert data.y.tolist() == [1, 0, 1]
    assert data.classes.tolist() == [-1, 1]
    assert data.notes == ["1 of 3 graphs have no edges"]
    more = read_collection(where, attributes=True)
    assert more.x[:, 0].tolist() == [0.5, 1, 1.5, 2, 2.5, 3]
    assert more.feature_names == ["attribute 0", "label 3", "label 4", "label 5"]
    assert dense(read_collection(where, features="degree").x).argmax(1).tolist() == [1, 2, 1, 1, 1, 0]


def test_the_tu_format_without_labels_of_graphs_or_nodes(folder):
    data = read_collection(tu(folder, "graph_labels", "node_labels"))
    assert data.get("y") is None
    assert data.num_graphs == 3
    assert dense(data.x).argmax(1).tolist() == [1, 2, 1, 1, 1, 0]


def test_labels_of_a_table_take_the_place_of_its_own(folder, tmp_path):
    (tmp_path / "other.csv").write_text("id,label\n3,b\n1,a\n")
    data = read_collection(tu(folder))
    assert label_graphs(data, tmp_path / "other.csv").y.tolist() == [0, -1, 1]
    assert data.y.tolist() == [1, 0, 1]


@pytest.mark.parametrize(("files", "options", "message"), [
    ({}, {}, "the collection is empty: .* holds no files that end in"),
    ({"README.md": ""}, {}, "the collection is empty"),
    ({"a.csv": PATH, "b.csv": "source,target\n"}, {}, r"graph 'b' of the collection has no nodes \(1 of 2 graphs\)"),
    ({"a.csv": "source,target\n1,1\n", "b.csv": "source,target\n2,2\n"}, {}, "no graph of the collection has an edge"),
    ({"a.csv": PATH, "a.tsv": PATH}, {}, "a.csv and a.tsv are both called 'a': give each graph one file"),
    ({"a.csv": PATH}, {"features": "degre"}, "no folder or features named 'degre'.*degree"),
    ({"a.csv": PATH}, {"features": "spectral"}, "spectral features differ from graph to graph: .* degree, walk, ones"),
    ({"a.csv": PATH}, {"attributes": True}, r"\(--attributes\) is for collections in the TU format: leave it out"),
    ({"a.csv": "source,target\n1,2,3\n"}, {}, "a.csv"),
    ({"X_graph_labels.txt": "", "Y_graph_labels.txt": ""}, {}, "several collections, X and Y: give each its own")])
def test_bad_folders_are_told_in_one_line(folder, files, options, message):
    with pytest.raises(InputError, match=message) as error:
        read_collection(folder(files), **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("tables", "message"), [
    ({"a.csv": "id,u\na,1\nb,1\nc,1\n"}, r"has no features for graph 'b' \(1 of 2 graphs missing\)"),
    ({"a.csv": "id,u\na,1\nb,1\nc,1\n", "b.csv": "id,u,v\n1,1,1\n2,1,1\n3,1,1\n4,1,1\n"},
     "graph 'b' has 2 features, graph 'a' has 1: all graphs need the same columns"),
    ({"a.csv": "id,u\na,1\nb,1\nc,1\n", "b.csv": "id,v\n1,1\n2,1\n3,1\n4,1\n"}, "graph 'b' has 1 features"),
    ({"a.csv": "id,u\na,1\nb,1\n", "b.csv": "id,u\n1,1\n"}, "node 'c' is not in")])
def test_bad_features_name_the_graph(folder, tables, message):
    where = folder({"a.csv": PATH, "b.csv": STAR})
    with pytest.raises(InputError, match=message):
        read_collection(where, features=folder(tables, "features"))


@pytest.mark.parametrize(("text", "message"), [
    ("id,label\na,1\nq,2\n", "labels.csv, line 3: graph 'q' is not in the collection; leave the row out, or add"),
    ("id,label\na,1\na,2\n", "labels.csv, line 3: graph 'a' is there a second time; give each graph one row"),
    ("id,kind\na,1\n", "label")])
def test_bad_labels_are_told_in_one_line(folder, tmp_path, text, message):
    where = folder({"a.csv": PATH, "b.csv": STAR})
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_collection(where, labels=tmp_path / "labels.csv")


@pytest.mark.parametrize(("without", "changes", "message"), [
    (["A"], {}, "MY_A.txt cannot be read"),
    (["graph_indicator"], {}, "MY_graph_indicator.txt cannot be read"),
    ([], {"A": "1, 2\n2; 3\n"}, "MY_A.txt: row 2 is not 2 whole numbers between commas"),
    ([], {"A": "1, 2\n2, 9\n"}, "MY_A.txt names nodes 0 to 8, but there are 6"),
    ([], {"graph_indicator": "1\n1\n1\n3\n3\n3\n"}, "does not count graphs 1 to 3 in order"),
    ([], {"graph_labels": "1\n2\n1\n2\n"}, "graph 4 of the collection has no nodes"),
    ([], {"node_labels": "1\n"}, "MY_node_labels.txt has 1 rows, expected 6"),
    ([], {"node_labels": "0\n0\n0\n0\n0\n99999999\n"}, "labels run from 0 to 99999999"),
    ([], {"A": "1, 4\n"}, "edges from one graph to another")])
def test_damaged_tu_files_are_told_in_one_line(folder, without, changes, message):
    with pytest.raises(InputError, match=message) as error:
        Graph.from_data(read_collection(tu(folder, *without, **changes)))
    assert "\n" not in str(error.value)


def test_features_that_do_not_go_together(folder):
    tables = folder({"a.csv": "id,u\na,1\n"}, "features")
    with pytest.raises(InputError, match=r"in the TU format, holds its own features: leave .*features out"):
        read_collection(tu(folder), features=tables)
    with pytest.raises(InputError, match="the list holds its own features"):
        read_collection([nx.path_graph(2)], features=tables)
    with pytest.raises(InputError, match="goes before the collection's own features: leave features="):
        read_collection(tu(folder), features="degree", attributes=True)


@pytest.mark.parametrize(("graphs", "message"), [
    ([], "the collection is empty: it has no graphs"),
    (7, "cannot read a collection from int"),
    ([7], "cannot read a graph from int"),
    ("nowhere", "nowhere is no folder: a collection is one"),
    ([nx.path_graph(2), nx.empty_graph(0)], "graph 1 of the collection has no nodes"),
    ([nx.empty_graph(3)], "no graph of the collection has an edge"),
    ([nx.path_graph(2), Data(x=torch.ones(1, 2))], "graph '0' has no node features, but others have")])
def test_bad_lists_are_told_in_one_line(graphs, message):
    with pytest.raises(InputError, match=message):
        read_collection(graphs)


def test_an_npy_for_each_graph(folder, tmp_path):
    where = folder({"a.csv": "0,1\n", "b.csv": "0,1\n1,2\n"})
    (tmp_path / "x").mkdir()
    np.save(tmp_path / "x" / "a.npy", np.eye(2, dtype=np.float32))
    np.save(tmp_path / "x" / "b.npy", np.ones((3, 2), dtype=np.float32))
    assert read_collection(where, features=tmp_path / "x").x.tolist() == [[1, 0], [0, 1], [1, 1], [1, 1], [1, 1]]
