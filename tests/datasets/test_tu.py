import dataclasses
import os

import pytest
import torch
from torch_geometric.datasets import TUDataset

from sgcl.datasets import DATASETS, available, load_collection, load_side_by_side, statistics
from sgcl.errors import InputError

ROOT = os.environ.get("SGCL_DATA")
# graphs, classes, nodes in all, undirected edges in all, node labels (or degrees), node attributes
TABLE = {"mutag": (188, 2, 3371, 3721, 7, 0), "ptc-mr": (344, 2, 4915, 5054, 18, 0),
         "imdb-binary": (1000, 2, 19773, 96531, 65, 0), "proteins": (1113, 2, 43471, 81044, 3, 1),
         "enzymes": (600, 6, 19580, 37282, 3, 18)}
FILES = {"A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n4, 5\n4, 4\n", "graph_indicator": "1\n1\n1\n2\n2\n3\n",
         "graph_labels": "1\n-1\n1\n", "node_labels": "3\n3\n5\n3\n5\n4\n",
         "node_attributes": "0.5\n1\n1.5\n2\n2.5\n3\n"}


@pytest.fixture
def tiny_collection(tmp_path, monkeypatch):
    """Three graphs, a path of three nodes, an edge and a single node, under the name of MUTAG."""
    def put(*without, numbers=(6, 3, 3, 2, 3), **changes):
        folder = tmp_path / "TUDataset/MUTAG/raw"
        folder.mkdir(parents=True, exist_ok=True)
        parts = {part: text for part, text in {**FILES, **changes}.items() if part not in without}
        for old in folder.iterdir():
            old.unlink()
        for part, text in parts.items():
            (folder / f"MUTAG_{part}.txt").write_text(text)
        names = ("nodes", "edges", "features", "classes", "graphs")
        monkeypatch.setitem(DATASETS, "mutag", dataclasses.replace(
            DATASETS["mutag"], plain=tuple(f"MUTAG_{part}.txt" for part in parts),
            **dict(zip(names, numbers, strict=True))))
        return tmp_path
    return put


def test_three_graphs_by_hand(tiny_collection):
    root = tiny_collection()
    for _ in range(2):  # parsed, then cached
        path, edge, single = load_collection("mutag", root)
        assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
        assert edge.edge_index.tolist() == [[0, 1], [1, 0]]
        assert single.edge_index.shape == (2, 0)
        assert path.x.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
        assert single.x.tolist() == [[0, 1, 0]]
        assert [graph.y.tolist() for graph in (path, edge, single)] == [[1], [0], [1]]


def test_attributes_come_in_front(tiny_collection):
    _, edge, _ = load_collection("mutag", tiny_collection(), attributes=True)
    assert edge.x.tolist() == [[2, 1, 0, 0], [2.5, 0, 0, 1]]
    with pytest.raises(InputError, match="mutag has no node attributes: leave attributes=True \\(--attributes\\) out"):
        load_collection("mutag", tiny_collection("node_attributes"), attributes=True)


def test_side_by_side_and_one_by_one_are_the_same_graphs(tiny_collection):
    root = tiny_collection()
    for _ in range(2):  # parsed, then cached
        data, graphs = load_side_by_side("mutag", root), load_collection("mutag", root)
        assert data.batch.tolist() == [0, 0, 0, 1, 1, 2]
        assert data.feature_names == ["label 3", "label 4", "label 5"]
        assert torch.equal(data.x, torch.cat([graph.x for graph in graphs]))
        assert statistics(data) == statistics(graphs)
    named = load_side_by_side("mutag", root, attributes=True).feature_names
    assert named == ["attribute 0", "label 3", "label 4", "label 5"]


def test_degrees_stand_in_for_labels(tiny_collection):
    path, _, single = load_collection("mutag", tiny_collection("node_labels", numbers=(6, 3, 65, 2, 3)))
    assert path.x.argmax(1).tolist() == [1, 2, 1]
    assert single.x.argmax(1).tolist() == [0]
    assert path.x.sum(1).tolist() == [1, 1, 1]


def test_degrees_are_capped(tiny_collection):
    star = "".join(f"1, {leaf}\n{leaf}, 1\n" for leaf in range(2, 72))
    root = tiny_collection("node_labels", "node_attributes", A=star, graph_indicator="1\n" * 71, graph_labels="1\n",
                           numbers=(71, 70, 65, 1, 1))
    (graph,) = load_collection("mutag", root)
    assert graph.x.argmax(1).tolist() == [64] + [1] * 70


@pytest.mark.parametrize(("changes", "message"), [
    ({"graph_indicator": "1\n2\n1\n2\n2\n3\n"}, "graph_indicator.txt does not count graphs 1 to 3 in order"),
    ({"graph_indicator": "1\n1\n1\n2\n2\n4\n"}, "graph_indicator.txt does not count graphs 1 to 3 in order"),
    ({"A": "1, 2\n2, 7\n"}, "MUTAG_A.txt names nodes 0 to 6, but there are 6"),
    ({"node_labels": "1\n"}, "MUTAG_node_labels.txt has 1 rows, expected 6"),
    ({"node_attributes": "1\n"}, "MUTAG_node_attributes.txt has 1 rows, expected 6"),
    ({"A": "1, 2\n"}, r"mutag: the raw files hold \(6, 1, 3, 2, 3\) nodes, edges, features and classes, and graphs, "
                      r"the published ones \(6, 3, 3, 2, 3\)")])
def test_files_that_do_not_fit_together(tiny_collection, changes, message):
    with pytest.raises(InputError, match=message):
        load_collection("mutag", tiny_collection(**changes))


def real(*names):
    return [pytest.param(name, marks=pytest.mark.skipif(not ROOT or not available(name, ROOT),
                                                        reason=f"needs SGCL_DATA: {name}")) for name in names]


@pytest.mark.parametrize("name", real(*TABLE))
def test_the_published_numbers(name):
    graphs, classes, nodes, edges, features, _ = TABLE[name]
    found = statistics(load_collection(name, ROOT))
    assert (found["graphs"], found["classes"], found["nodes"], found["edges"]) == (graphs, classes, nodes, edges)
    assert found["features"] == features == DATASETS[name].features
    published = DATASETS[name].published
    assert found["mean_nodes"] == pytest.approx(published["mean_nodes"], abs=0.06)
    assert published["mean_edges"] == pytest.approx(found["mean_edges"] * (1 if name == "ptc-mr" else 2), abs=0.11)


@pytest.mark.parametrize("name", real("mutag", "enzymes"))
def test_the_graphs_are_those_of_pyg(name, tmp_path):
    folder = DATASETS[name].folder.split("/")[1]
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "raw").symlink_to(os.path.abspath(os.path.join(ROOT, DATASETS[name].folder)))
    attributes = TABLE[name][5] > 0
    theirs = TUDataset(str(tmp_path), folder, use_node_attr=attributes)
    ours = load_collection(name, ROOT, attributes=attributes)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.edge_index, other.edge_index)
        assert torch.equal(one.y, other.y)
