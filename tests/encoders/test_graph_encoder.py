"""The encoder of whole graphs beside its layers by hand, and what it says of settings that make no sense."""

import pytest
import torch
from torch_geometric.data import Data

from sgcl.encoders import GraphEncoder
from sgcl.errors import InputError
from sgcl.graph import Graph


@pytest.fixture
def pair() -> list[Data]:
    """A path of three nodes and an edge."""
    x = torch.rand(5, 2, generator=torch.Generator().manual_seed(0)) + 0.1
    return [Data(x=x[:3], edge_index=torch.tensor([[0, 1], [1, 2]])),
            Data(x=x[3:], edge_index=torch.tensor([[0], [1]]))]


def by_hand(encoder: GraphEncoder, graph: Data) -> list[torch.Tensor]:
    """The GIN layers of one graph, dense: out(relu((x_i + sum over neighbours) W + b)), relu, norm."""
    adj = torch.zeros(graph.num_nodes, graph.num_nodes)
    adj[graph.edge_index[0], graph.edge_index[1]] = adj[graph.edge_index[1], graph.edge_index[0]] = 1
    h, layers = graph.x, []
    for layer, norm in zip(encoder.layers, encoder.norms, strict=True):
        h = norm(torch.relu(layer.out(torch.relu((h + adj @ h) @ layer.weight + layer.bias))))
        layers.append(h)
    return layers


@pytest.mark.parametrize("jump", ["concat", "last"])
def test_a_graph_is_the_readout_of_its_layers(pair, jump):
    torch.manual_seed(1)
    encoder = GraphEncoder(2, 4, num_layers=3, jump=jump)
    encoder(Graph.from_data(pair))                                         # the norms learn their averages
    encoder.eval()
    encoded = encoder(Graph.from_data(pair))
    layers = [by_hand(encoder, graph) for graph in pair]
    for number in range(3):
        assert torch.allclose(encoded.layers[number], torch.cat([one[number] for one in layers]), atol=1e-5)
    read = [torch.cat([h.sum(0) for h in (one if jump == "concat" else one[-1:])]) for one in layers]
    assert torch.allclose(encoded.graphs, torch.stack(read), atol=1e-5)
    assert encoded.graphs.shape == (2, encoder.out_channels)
    assert encoded.nodes is encoded.layers[-1]


@pytest.mark.parametrize("layer", ["gin", "gcn", "sage", "gat"])
@pytest.mark.parametrize("norm", ["after", "before", "none"])
def test_graphs_know_nothing_of_each_other_in_eval_mode(pair, layer, norm):
    torch.manual_seed(2)
    encoder = GraphEncoder(2, 4, layer=layer, norm=norm, readout="mean", linear_end=True).eval()
    together = encoder(Graph.from_data(pair)).graphs
    alone = torch.cat([encoder(Graph.from_data([graph])).graphs for graph in pair])
    assert torch.allclose(together, alone, atol=1e-6)


def test_what_is_prepared_stands_in_for_the_adjacency(pair):
    torch.manual_seed(3)
    encoder, graph = GraphEncoder(2, 4, layer="gcn").eval(), Graph.from_data(pair)
    empty = graph.adj.with_values(torch.zeros(graph.adj.nnz))
    assert not torch.allclose(encoder(graph, encoder._prepare(empty)).nodes, encoder(graph).nodes)
    assert torch.equal(encoder(graph, encoder._prepare(graph.adj)).nodes, encoder(graph).nodes)


@pytest.mark.parametrize(("settings", "message"), [
    ({"layer": "gni"}, "gin"), ({"activation": "rleu"}, "relu"), ({"norm": "befor"}, "before"),
    ({"readout": "summ"}, "sum"), ({"jump": "lst"}, "last"), ({"dropout": 1.5}, "dropout is 1.5"),
    ({"num_layers": 0}, "num_layers is 0, expected at least 1"), ({"hidden_channels": 0}, "hidden_channels is 0")])
def test_bad_settings_are_told_in_one_line(settings, message):
    with pytest.raises(InputError, match=message):
        GraphEncoder(2, **settings)
