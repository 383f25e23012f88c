import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from sgcl.graph import Graph, largest_component
from sgcl.readers import read_graph


def write(folder, **files):
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content)
    return {name: folder / f"{name}.csv" for name in files}


def test_edges_features_and_labels_under_text_ids(tmp_path):
    data = read_graph(**write(tmp_path, edges="source,target,weight\nbob,ann,2\ncy,bob,0.5\n",
                              features="id,age,size\ncy,3,30\nann,1,10\ndan,4,40\nbob,2,20\n",
                              labels="id,label\ndan,red\nann,blue\nbob,red\n"))
    assert data.ids.tolist() == ["ann", "bob", "cy", "dan"]
    assert data.x.tolist() == [[1, 10], [2, 20], [3, 30], [4, 40]]
    assert data.edge_index.tolist() == [[1, 2], [0, 1]]
    assert data.edge_weight.tolist() == [2, 0.5]
    assert data.y.tolist() == [0, 1, -1, 1]
    assert data.classes.tolist() == ["blue", "red"]
    assert data.num_nodes == 4
    assert data.notes == ["2 of 2 edges are given in one direction only: both directions are used"]
    graph = Graph.from_data(data)
    assert graph.adj.to_dense().tolist() == [[0, 2, 0, 0], [2, 0, 0.5, 0], [0, 0.5, 0, 0], [0, 0, 0, 0]]


def test_integers_are_ordered_by_size_and_text_by_code_point(tmp_path):
    given = write(tmp_path, edges="source,target\n10,9\n-3,10\n")
    assert read_graph(**given).ids.tolist() == [-3, 9, 10]
    given = write(tmp_path, edges="source,target\n10,9\nä,Z\nz,10\n")
    assert read_graph(**given).ids.tolist() == ["10", "9", "Z", "z", "ä"]


def test_a_file_of_text_ids_makes_all_ids_text(tmp_path):
    data = read_graph(**write(tmp_path, edges="source,target\n10,9\n9,2\n", features="id,f\n10,1\n9,2\n2,3\nx,4\n"))
    assert data.ids.tolist() == ["10", "2", "9", "x"]
    assert data.x.tolist() == [[1], [3], [2], [4]]
    assert data.edge_index.tolist() == [[0, 2], [2, 1]]


def test_an_edge_list_without_header_says_so(tmp_path):
    data = read_graph(**write(tmp_path, edges="3,1,0.5\n1,2,4\n"))
    assert data.edge_index.tolist() == [[0, 2], [1, 0]]
    assert data.edge_weight.tolist() == [4, 0.5]
    assert "line 1 is taken as an edge" in data.notes[0]


def test_a_list_in_the_form_of_snap(tmp_path):
    (tmp_path / "g.txt").write_text("# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n30\t1412\n30\t3352\n")
    data = read_graph(tmp_path / "g.txt")
    assert data.ids.tolist() == [30, 1412, 3352]
    assert data.edge_index.tolist() == [[0, 0], [1, 2]]


def test_columns_of_other_names_and_columns_not_used(tmp_path):
    files = write(tmp_path, edges="time,u,v,w\n5,a,b,2\n6,b,c,3\n", features="node,f\na,1\nb,2\nc,3\n",
                  labels="node,class\na,7\nb,5\n")
    data = read_graph(**files, source="u", target="v", weight="w", id_column="node", label_column="class")
    assert data.edge_weight.tolist() == [2, 3]
    assert data.classes.tolist() == [5, 7]
    assert data.y.tolist() == [1, 0, -1]
    assert data.notes[0] == f"{files['edges']}: column 'time' not used"
    assert "edge_weight" not in read_graph(files["edges"], source="u", target="v", weight=False)


def test_names_of_feature_columns_are_kept_and_go_with_the_features(tmp_path):
    files = write(tmp_path, edges="source,target\n0,1\n", features="age,id,visits,c\n1,0,2,9\n3,1,4,9\n5,2,6,9\n")
    data = read_graph(**files)
    assert data.feature_names == ["age", "visits", "c"]
    assert largest_component(data).feature_names == ["age", "visits", "c"]  # as many as nodes, and not cut with them
    assert read_graph(data).feature_names == ["age", "visits", "c"]
    assert read_graph(data, features="degree").get("feature_names") is None
    assert read_graph(data, features=np.eye(3)).get("feature_names") is None


def test_labels_alone_bring_isolated_nodes(tmp_path):
    data = read_graph(**write(tmp_path, edges="source,target\n5,7\n", labels="id,label\n7,b\n6,a\n"))
    assert data.ids.tolist() == [5, 6, 7]
    assert data.y.tolist() == [-1, 0, 1]
    assert data.x is None


def test_integer_labels_keep_the_order_of_integers_and_empty_ones_are_none(tmp_path):
    data = read_graph(**write(tmp_path, edges="source,target\na,b\nb,c\n", labels="id,label\na,10\nb,\nc,9\n"))
    assert data.classes.tolist() == [9, 10]
    assert data.y.tolist() == [1, -1, 0]


def test_array_features_go_by_integer_id(tmp_path):
    files = write(tmp_path, edges="source,target\n0,3\n")
    np.save(tmp_path / "x.npy", np.arange(10).reshape(5, 2))
    data = read_graph(**files, features=tmp_path / "x.npy")
    assert data.ids.tolist() == [0, 1, 2, 3, 4]
    assert data.x.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    np.savez(tmp_path / "x.npz", anything=np.arange(10).reshape(5, 2))
    assert torch.equal(read_graph(**files, features=tmp_path / "x.npz").x, data.x)
    assert torch.equal(read_graph(**files, features=data.x).x, data.x)
    assert torch.equal(read_graph(**files, features=data.x.to_sparse()).x.to_dense(), data.x)


def test_array_features_with_ids_of_their_rows(tmp_path):
    files = write(tmp_path, edges="source,target\na,b\n")
    data = read_graph(**files, features=np.array([[3.0], [1.0], [2.0]]), ids=["c", "a", "b"])
    assert data.ids.tolist() == ["a", "b", "c"]
    assert data.x.tolist() == [[1], [2], [3]]


def test_sparse_features_stay_sparse_and_follow_the_ids(tmp_path):
    files = write(tmp_path, edges="source,target\nb,a\n")
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csc_array(np.array([[0, 5.0, 0], [7, 0, 0]])))
    data = read_graph(**files, features=tmp_path / "x.npz", ids=["b", "a"])
    assert data.x.layout == torch.sparse_csr
    assert data.x.to_dense().tolist() == [[7, 0, 0], [0, 5, 0]]
    assert Graph.from_data(data).x.to_dense().tolist() == [[7, 0, 0], [0, 5, 0]]


def test_features_from_parquet_with_an_integer_id_beside_a_text_list(tmp_path):
    files = write(tmp_path, edges="source,target\n2,1\n")
    pq.write_table(pa.table({"f": [0.5, 1.5], "id": ["1", "2"]}), tmp_path / "x.parquet")
    data = read_graph(**files, features=tmp_path / "x.parquet")
    assert data.ids.tolist() == ["1", "2"]
    assert data.x.tolist() == [[0.5], [1.5]]


def test_a_word_is_a_word_and_no_features_are_noted(tmp_path):
    files = write(tmp_path, edges="source,target\na,b\nb,a\n")
    assert read_graph(**files, features="ones").x.tolist() == [[1], [1]]
    assert read_graph(**files).notes == ["no features: give a file, or one of degree, learned, ones, spectral, walk"]


def test_made_features_replace_those_of_a_data():
    data = Data(x=torch.zeros(2, 3), edge_index=torch.tensor([[0], [1]]))
    assert read_graph(data, features="ones").x.tolist() == [[1], [1]]


@st.composite
def tables(draw):
    """Rows of edges, features and labels, and the same rows in another order."""
    numbers = draw(st.lists(st.integers(-50, 2000), min_size=2, max_size=8, unique=True))
    as_text = draw(st.booleans())
    ids = [f"n{number}" for number in numbers] if as_text else [str(number) for number in numbers]
    node = st.sampled_from(ids)
    edges = draw(st.lists(st.tuples(node, node, st.floats(0, 9, width=16).map(str)), max_size=15))
    edges.append((ids[0], ids[1], "1.5"))
    features = [(one, str(place)) for place, one in enumerate(ids)]
    labels = [(one, draw(st.sampled_from(["x", "y", "10", "9"]))) for one in ids[:draw(st.integers(1, len(ids)))]]
    return [(rows, draw(st.permutations(rows))) for rows in (edges, features, labels)]


@given(tables(), st.sampled_from(["file", "degree", "walk", "spectral"]))
def test_the_order_of_the_rows_does_not_matter(tmp_path_factory, rows, features):
    folder = tmp_path_factory.mktemp("rows")
    headers = ("source,target,weight", "id,f", "id,label")
    graphs = []
    for order in (0, 1):
        edges, table, labels = ("\n".join([header, *(",".join(row) for row in both[order])])
                                for header, both in zip(headers, rows, strict=True))
        files = write(folder, edges=edges, features=table, labels=labels)
        if features != "file":
            files["features"] = features
        graphs.append(read_graph(**files))
    one, other = graphs
    for key in ("edge_index", "edge_weight", "y"):
        assert (key in one) == (key in other)
        assert key not in one or torch.equal(one[key], other[key])
    assert torch.equal(one.x.to_dense(), other.x.to_dense())
    assert one.ids.tolist() == other.ids.tolist()
    assert one.classes.tolist() == other.classes.tolist()
    assert one.notes == other.notes


@pytest.mark.parametrize("name", ["edges.csv", "edges.parquet"])
def test_many_rows_are_read_in_blocks(name, tmp_path, monkeypatch):
    """Blocks far smaller than the file give what one block gives."""
    rng = np.random.default_rng(0)
    ids = np.array([f"n{number:05d}" for number in range(3000)])
    table = pa.table({"source": ids[rng.integers(3000, size=20_000)], "target": ids[rng.integers(3000, size=20_000)]})
    pq.write_table(table, tmp_path / "edges.parquet")
    pa.csv.write_csv(table, tmp_path / "edges.csv")
    whole = read_graph(tmp_path / name)
    for setting in ("text_fast._TEXT_BLOCK", "parquet._TEXT_ROWS", "lines._SCAN"):
        monkeypatch.setattr(f"sgcl.readers.{setting}", 10_000)
    parts = read_graph(tmp_path / name)
    assert torch.equal(whole.edge_index, parts.edge_index)
    ends = [*table["source"].to_pylist(), *table["target"].to_pylist()]
    assert whole.ids.tolist() == parts.ids.tolist() == sorted(set(ends))
    pairs = {tuple(pair) for pair in zip(*table.to_pydict().values(), strict=True) if pair[0] != pair[1]}
    assert {(whole.ids[one], whole.ids[other]) for one, other in whole.edge_index.T.tolist()} == pairs
