import networkx
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.readers import read_graph, to_networkx, to_scipy, write_graph
from sgcl.readers.ids import as_integers, decimal_among

SIGNS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
TEXT = st.text(SIGNS, min_size=1, max_size=4).filter(lambda text: text == text.strip(" "))
IDS = st.one_of(st.lists(TEXT, min_size=3, max_size=8, unique=True),
                st.lists(st.integers(-2**63, 2**63 - 1), min_size=3, max_size=8, unique=True))


@st.composite
def graphs(draw):
    """A graph as the reader gives it: ids of either kind, weights or none, the last node without edges."""
    ids = np.array(sorted(draw(IDS)))
    if ids.dtype.kind == "U":  # text files cannot tell '7' from 7, and take '7.0' for a mistake
        assume(as_integers(ids.tolist()) is None and decimal_among(ids.tolist()) is None)
    node = st.integers(0, len(ids) - 2)
    edges = draw(st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1]), max_size=12))
    edges.append((0, 1))
    if draw(st.booleans()):
        edges += [edge[::-1] for edge in edges]
    edges = sorted(set(edges), key=lambda edge: (min(edge), max(edge), edge[0] > edge[1]))
    x = torch.tensor([[draw(st.floats(-2.0**99, 2.0**99, width=32))] for _ in ids])
    y = [draw(st.integers(-1, 1)) for _ in ids[2:]]
    data = Data(x=x, edge_index=torch.tensor(edges).T, num_nodes=len(ids), ids=ids, y=torch.tensor([*y, 0, 1]),
                classes=draw(st.sampled_from([np.array(["blue", "red"]), np.array([3, 17])])))
    if draw(st.booleans()):
        weight = st.floats(2.0**-60, 2.0**60, width=32).filter(lambda value: value != 1)
        pair_weight = {tuple(sorted(edge)): draw(weight) for edge in edges}
        data.edge_weight = torch.tensor([pair_weight[tuple(sorted(edge))] for edge in edges])
    return data


def assert_equal(read, data, *, features=True):
    assert read.ids.tolist() == data.ids.tolist()
    assert read.ids.dtype.kind == data.ids.dtype.kind
    assert torch.equal(read.edge_index, data.edge_index)
    assert ("edge_weight" in read) == ("edge_weight" in data)
    assert "edge_weight" not in data or torch.equal(read.edge_weight, data.edge_weight)
    assert read.num_nodes == data.num_nodes
    if features:
        assert torch.equal(read.x, data.x)
        assert torch.equal(read.y, data.y)
        assert read.classes.tolist() == data.classes.tolist()


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet"])
@given(graphs())
def test_round_trip_by_tables(tmp_path_factory, kind, data):
    folder = tmp_path_factory.mktemp("trip")
    files = {name: folder / f"{name}.{kind}" for name in ("edges", "features", "labels")}
    write_graph(files["edges"], data, features=files["features"], labels=files["labels"])
    assert_equal(read_graph(**files), data)


@given(graphs())
def test_round_trip_by_graphml(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("trip") / "g.graphml"
    write_graph(file, data)
    assert_equal(read_graph(file), data, features=False)


@given(graphs())
def test_round_trip_by_networkx(data):
    graph = to_networkx(data)
    assert_equal(read_graph(graph), data, features=False)
    both = {tuple(edge) for edge in data.edge_index.T.tolist()}
    assert graph.is_directed() == any(edge[::-1] not in both for edge in both)


@given(graphs())
def test_round_trip_by_scipy(data):
    read = read_graph(to_scipy(data), ids=data.ids, features=data.x)
    assert_equal(read, data, features=False)
    assert torch.equal(read.x, data.x)


@given(graphs())
def test_round_trip_by_pyg(data):
    assert_equal(read_graph(data.clone()), data)


@given(graphs())
def test_networkx_reads_the_graphml(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("trip") / "g.graphml"
    write_graph(file, data)
    graph = networkx.read_graphml(file)
    assert set(graph) == {str(name) for name in data.ids.tolist()}
    names = [str(name) for name in data.ids.tolist()]
    assert set(graph.edges()) == {(names[one], names[other]) for one, other in data.edge_index.T.tolist()}


def pair(**attributes):
    return Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2, **attributes)


def test_a_graph_without_ids_is_written_by_number(tmp_path):
    write_graph(tmp_path / "e.csv", pair())
    assert (tmp_path / "e.csv").read_text() == "source,target\n0,1\n"


def test_names_of_features_are_kept_unless_one_is_that_of_the_ids(tmp_path):
    for names, kept in ((["b", "a"], ["b", "a"]), (["id", "a"], ["x0", "x1"])):
        data = pair(x=torch.tensor([[1.0, 2.0], [3.0, 4.0]]), feature_names=names)
        write_graph(tmp_path / "e.csv", data, features=tmp_path / "x.csv")
        read = read_graph(tmp_path / "e.csv", features=tmp_path / "x.csv")
        assert read.feature_names == kept
        assert torch.equal(read.x, data.x)


def test_sparse_features_are_written_out(tmp_path):
    write_graph(tmp_path / "e.csv", pair(x=torch.eye(2).to_sparse()), features=tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "id,x0,x1\n0,1.0,0.0\n1,0.0,1.0\n"


@pytest.mark.parametrize(("data", "arguments", "message"), [
    (Data(edge_index=torch.tensor([[0], [1]]), num_nodes=4), {"edges": "e.csv"},
     r"2 nodes have no edges, which e\.csv cannot hold; give features= or labels= too, or write \.graphml"),
    (pair(), {"edges": "e.xlsx"}, r"e\.xlsx: cannot tell what to write; .* end in \.csv, \.tsv or \.parquet"),
    (pair(), {"edges": "e.csv", "features": "x.csv"}, "the graph has no features to write"),
    (pair(), {"edges": "e.csv", "labels": "y.csv"}, "the graph has no labels to write"),
    (pair(ids=np.array(["a", "b\nc"])), {"edges": "e.csv"}, r"the id 'b\\nc' holds signs that text files do not keep"),
    (pair(ids=np.array(["a", " b"])), {"edges": "e.csv"}, "spaces around it"),
    (pair(), {"edges": "missing/e.csv"}, r"cannot write .*e\.csv: No such file or directory"),
    (pair(), {"edges": "missing/e.parquet"}, r"cannot write .*e\.parquet: No such file"),
    (pair(), {"edges": "missing/e.graphml"}, r"cannot write .*e\.graphml: No such file"),
])
def test_what_cannot_be_written_is_told_and_leaves_nothing(data, arguments, message, tmp_path):
    files = {name: tmp_path / file for name, file in arguments.items()}
    with pytest.raises(InputError, match=message):
        write_graph(files.pop("edges"), data, **files)
    assert list(tmp_path.iterdir()) == []
