import math

import pytest
import torch
import torch.nn.functional as F
from collections_of import circles, seeded

from sgcl import Graph, InputError
from sgcl.methods import CGRAGraphs
from sgcl.sparse import SparseFeatures


def made(**chosen) -> CGRAGraphs:
    torch.manual_seed(0)
    return CGRAGraphs(3, **{"hidden_channels": 4, "mlp_channels": 5, "projection_channels": 6, **chosen})


@pytest.fixture
def graph() -> Graph:
    return circles()


def test_the_loss_is_the_formula_in_loops(graph):
    method, graph = made(mask_rate=0.5, temperature=0.3).double(), graph.replace(x=graph.x.double())
    views = method.augment(graph, seeded())
    u = F.normalize(method.projector(method.target(views.graph))).tolist()
    v = F.normalize(method.projector(method.online(views.hidden))).tolist()

    def f(a, b):
        return math.exp(sum(x * y for x, y in zip(a, b, strict=True)) / 0.3)

    expected = -sum(math.log(f(u[g], v[g]) / sum(f(u[g], v[k]) for k in range(3) if k != g)) for g in range(3)) / 3
    assert method.loss(views).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_layer_counts_the_node_twice_and_each_neighbour_once(graph, sparse):
    layer = made().online.layers[0].eval()
    adj = graph.adj.to_dense()
    looped = adj + 2 * torch.eye(16)                                      # the node itself, and its loop
    inside = F.relu(layer.inner_norm(looped @ graph.x @ layer.inner.weight))
    expected = F.relu(layer.outer_norm(inside @ layer.outer.weight.T))
    x = SparseFeatures.from_dense(graph.x) if sparse else graph.x
    assert torch.allclose(layer(x, graph.adj), expected, atol=1e-5)
    assert layer.inner.bias is None
    assert layer.outer.bias is None


def test_a_share_of_all_nodes_is_hidden_from_the_online_encoder_alone(graph):
    views = made(mask_rate=0.5).augment(graph, seeded())
    assert views.graph is graph
    assert views.hidden.adj is graph.adj
    hidden = (views.hidden.x == 0).all(1)
    assert hidden.sum() == 8
    assert torch.equal(views.hidden.x[~hidden], graph.x[~hidden])
    assert torch.equal(made(mask_rate=0.0).augment(graph, seeded()).hidden.x, graph.x)


def test_the_target_starts_from_weights_of_its_own_gets_no_gradient_and_follows_by_the_momentum(graph):
    method = made(momentum=0.9)
    pairs = list(zip(method.target.parameters(), method.online.parameters(), strict=True))
    assert not torch.allclose(method.online.layers[0].inner.weight, method.target.layers[0].inner.weight)
    method.loss(method.augment(graph, seeded())).backward()
    assert all(slow.grad is None and not slow.requires_grad and fast.grad is not None for slow, fast in pairs)
    before = [slow.clone() for slow, _ in pairs]
    method.after_step(0.3)
    for (slow, fast), old in zip(pairs, before, strict=True):
        assert torch.allclose(slow, 0.9 * old + 0.1 * fast, atol=1e-6)


def test_an_embedding_is_the_sums_of_the_nodes_of_all_layers_of_the_online_encoder(graph):
    method = made().eval()
    first, second = method.online.layers
    h = first(graph.x, graph.adj)
    layers = (h, second(h, graph.adj))
    for number, nodes in enumerate((range(5), range(5, 12), range(12, 16))):
        expected = torch.cat([sum(h[i] for i in nodes) for h in layers])
        assert torch.allclose(method.embed(graph)[number], expected, atol=1e-5)


def test_the_projector_is_twice_as_wide_inside_as_the_embedding():
    method = made(num_layers=3)
    assert [layer.weight.shape for layer in (method.projector[0], method.projector[2])] == [(24, 12), (6, 24)]


@pytest.mark.parametrize(("chosen", "message"), [
    ({"mask_rate": 1.5}, "CGRAGraphs: mask_rate is 1.5, expected a probability"),
    ({"momentum": 2.0}, "CGRAGraphs: momentum is 2.0, expected a probability"),
    ({"temperature": 0.0}, "CGRAGraphs: temperature is 0.0, expected a finite number of at least 0.02"),
    ({"mlp_channels": 0}, "CGRAGraphs: mlp_channels is 0, expected at least 1"),
    ({"hidden_channels": 0}, "CGRAGraphs: hidden_channels is 0, expected at least 1"),
    ({"projection_channels": 0}, "CGRAGraphs: projection_channels is 0, expected at least 1"),
    ({"num_layers": 0}, "CGRAGraphs: num_layers is 0, expected at least 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)
