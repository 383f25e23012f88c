import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

from sgcl import Graph, InputError
from sgcl.encoders import GATLayer, GCNLayer, GINLayer, SAGELayer
from sgcl.sparse import SparseFeatures


def both_ways(graph):
    """PyG's edge_index and weights of the prepared graph: message from row j to i is the same in a symmetric graph."""
    return torch.stack([graph.adj.idx, graph.adj.row]), graph.adj.value


def same(ours, theirs):
    assert torch.allclose(ours, theirs, atol=1e-5), (ours - theirs).abs().max()


@given(random_data(weighted=True), st.sampled_from([2, 9]))
def test_gcn_is_pygs(data, width):
    """Both orders of the product: out channels below and above the in channels."""
    graph = Graph.from_data(data)
    edge_index, weight = both_ways(graph)
    layer, twin = GCNLayer(4, width), GCNConv(4, width)
    twin.lin.weight.data = layer.weight.data.T.contiguous()
    twin.bias.data = layer.bias.data = torch.randn(width)
    same(layer(graph.x, layer.prepare(graph.adj)), twin(graph.x, edge_index, weight))


@given(random_data(), st.sampled_from([2, 9]))
def test_sage_is_pygs(data, width):
    graph = Graph.from_data(data)
    layer, twin = SAGELayer(4, width), SAGEConv(4, width)
    twin.lin_l.weight.data = layer.weight_neighbors.data.T.contiguous()
    twin.lin_r.weight.data = layer.weight.data.T.contiguous()
    twin.lin_l.bias.data = layer.bias.data = torch.randn(width)
    same(layer(graph.x, layer.prepare(graph.adj)), twin(graph.x, both_ways(graph)[0]))


@given(random_data())
def test_gin_is_pygs(data):
    graph = Graph.from_data(data)
    layer = GINLayer(4, 5)
    layer.eps.data = torch.tensor(0.3)
    first, second = torch.nn.Linear(4, 5), torch.nn.Linear(5, 5)
    twin = GINConv(torch.nn.Sequential(first, torch.nn.ReLU(), second), eps=0.3)
    layer.weight.data, layer.bias.data, layer.out = first.weight.data.T.contiguous(), first.bias.data, second
    same(layer(graph.x, layer.prepare(graph.adj)), twin(graph.x, both_ways(graph)[0]))


@given(random_data())
def test_gat_is_pygs(data):
    graph = Graph.from_data(data)
    layer, twin = GATLayer(4, 5), GATConv(4, 5)
    twin.lin.weight.data = layer.weight.data.T.contiguous()
    twin.att_src.data = layer.source.data.view(1, 1, -1)
    twin.att_dst.data = layer.target.data.view(1, 1, -1)
    same(layer(graph.x, layer.prepare(graph.adj)), twin(graph.x, both_ways(graph)[0]))


@given(random_data())
def test_gat_with_heads_is_pygs(data):
    graph = Graph.from_data(data)
    layer, twin = GATLayer(4, 6, heads=3), GATConv(4, 2, heads=3)
    twin.lin.weight.data = layer.weight.data.T.contiguous()
    twin.att_src.data = layer.source.data.view(1, 3, 2)
    twin.att_dst.data = layer.target.data.view(1, 3, 2)
    same(layer(graph.x, layer.prepare(graph.adj)), twin(graph.x, both_ways(graph)[0]))


def test_attention_drops_out_in_training_alone(ring):
    torch.manual_seed(0)
    graph = Graph.from_data(ring)
    layer = GATLayer(6, 4, heads=2, dropout=0.5)
    plain = GATLayer(6, 4, heads=2)
    plain.load_state_dict(layer.state_dict())
    dropped = [layer(graph.x, graph.adj) for _ in range(400)]
    expected = plain(graph.x, graph.adj)
    assert not torch.allclose(dropped[0], expected)
    assert torch.allclose(torch.stack(dropped).mean(0), expected, atol=0.25)
    assert torch.equal(layer.eval()(graph.x, graph.adj), expected)


@pytest.mark.parametrize(("heads", "dropout", "message"), [
    (3, 0.0, "heads is 3, expected a divisor of the width 4"), (0, 0.0, "heads is 0, expected a divisor"),
    (2, 1.5, "dropout is 1.5, expected a probability")])
def test_heads_that_do_not_share_the_width_are_told(heads, dropout, message):
    with pytest.raises(InputError, match=message):
        GATLayer(6, 4, heads=heads, dropout=dropout)


@pytest.mark.parametrize("kind", [GCNLayer, SAGELayer, GINLayer, GATLayer])
def test_sparse_features_give_what_dense_ones_give(kind, ring):
    graph = Graph.from_data(ring)
    layer = kind(6, 3)
    x = ring.x * (ring.x > 0)
    outputs = []
    for features in (x, SparseFeatures.from_dense(x)):
        layer.zero_grad()
        h = layer(features, layer.prepare(graph.adj))
        h.square().sum().backward()
        outputs.append([h.detach(), *(p.grad.clone() for p in layer.parameters())])
    for dense, sparse in zip(*outputs, strict=True):
        assert torch.allclose(dense, sparse, atol=1e-4)


@pytest.mark.parametrize("kind", [GCNLayer, SAGELayer, GINLayer, GATLayer])
def test_gradients_are_right_also_where_a_node_has_no_neighbour(kind, path):
    path.x = torch.randn(4, 2, dtype=torch.double)
    graph = Graph.from_data(path)
    layer = kind(2, 3).double()
    x = path.x.clone().requires_grad_()
    prepared = layer.prepare(graph.adj.with_values(torch.ones(4, dtype=torch.double), symmetric=True))
    assert torch.autograd.gradcheck(lambda x: layer(x, prepared), (x,))
