import gzip

import networkx
import pytest

from sgcl.readers import read_graph
from sgcl.readers.graphml import read_graphml

WEIGHTED = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>2.5</default></key>
  <key id="d1" for="edge" attr.name="colour" attr.type="string"><default>9</default></key>
  <key id="d2" for="node" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="undirected">
    <node id="b"><data key="d2">7</data></node>
    <node id="a"/> <node id="alone"/>
    <edge source="a" target="b"><data key="d1">3</data></edge>
    <edge source="b" target="c&amp;d"><data key="d0"> 4 </data><data key="d1">5</data></edge>
  </graph>
</graphml>
"""


def test_nodes_edges_weights_and_defaults(tmp_path):
    (tmp_path / "g.graphml").write_text(WEIGHTED)
    data = read_graph(tmp_path / "g.graphml")
    assert data.ids.tolist() == ["a", "alone", "b", "c&d"]
    assert data.edge_index.tolist() == [[0, 2, 2, 3], [2, 0, 3, 2]]
    assert data.edge_weight.tolist() == [2.5, 2.5, 4, 4]
    assert data.notes == [f"{tmp_path}/g.graphml: node attribute 'weight' not used",
                          f"{tmp_path}/g.graphml: edge attribute 'colour' not used",
                          "no features: give a file, or one of degree, learned, ones, spectral, walk"]


def test_weights_can_be_left_aside(tmp_path):
    (tmp_path / "g.graphml").write_text(WEIGHTED)
    assert read_graphml(tmp_path / "g.graphml", weight=False).weight is None
    assert read_graphml(tmp_path / "g.graphml", weight="colour").weight.tolist() == [3, 5]


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph])
def test_what_networkx_writes_is_read_as_networkx_holds_it(kind, tmp_path):
    graph = kind([("x", "y"), ("y", "z"), ("z", "x"), ("y", "x")])
    graph.add_node("w")
    networkx.set_edge_attributes(graph, {edge: number + 2 for number, edge in enumerate(graph.edges)}, "weight")
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    read, held = read_graph(tmp_path / "g.graphml"), read_graph(graph)
    assert read.ids.tolist() == held.ids.tolist() == ["w", "x", "y", "z"]
    assert read.edge_index.tolist() == held.edge_index.tolist()
    assert read.edge_weight.tolist() == held.edge_weight.tolist()


def test_ids_that_are_all_integers_are_integers_and_files_may_be_compressed(tmp_path):
    networkx.write_graphml(networkx.path_graph(11), tmp_path / "g.graphml")
    (tmp_path / "g.graphml.gz").write_bytes(gzip.compress((tmp_path / "g.graphml").read_bytes()))
    assert read_graph(tmp_path / "g.graphml.gz").ids.tolist() == list(range(11))
