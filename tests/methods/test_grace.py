import pytest
import torch
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import GRACE
from sgcl.views import Compose, DropEdges


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def made(**chosen) -> GRACE:
    torch.manual_seed(0)
    return GRACE(6, hidden_channels=8, **chosen)


def test_the_loss_and_its_gradient_are_those_of_the_formula(graph):
    method = made(temperature=0.3).double()
    views = method.augment(graph.replace(x=graph.x.double()), torch.Generator().manual_seed(0))
    u, v = (method.projector(method.encoder(view.x, view.adj)) for view in views)
    u, v = u / u.norm(dim=1, keepdim=True), v / v.norm(dim=1, keepdim=True)
    expected = torch.zeros((), dtype=torch.float64)
    for a, b in ((u, v), (v, u)):
        between, inside = (a @ b.T / 0.3).exp(), (a @ a.T / 0.3).exp()
        share = between.diagonal() / (between.sum(1) + inside.sum(1) - inside.diagonal())
        expected = expected - share.log().mean() / 2
    loss, weights = method.loss(views), list(method.parameters())
    assert loss.item() == pytest.approx(expected.item(), rel=1e-10)
    for ours, theirs in zip(torch.autograd.grad(loss, weights), torch.autograd.grad(expected, weights), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-10)


def test_each_view_is_made_by_its_own_setting(graph):
    views = made(view1=Compose(), view2=DropEdges(1.0)).augment(graph, torch.Generator())
    assert views.first.num_edges == graph.num_edges
    assert views.second.num_edges == 0


def test_widths_are_those_of_the_paper(graph):
    method = made(projection_channels=5)
    assert [layer.weight.shape for layer in method.encoder.layers] == [(6, 16), (16, 8)]
    assert (method.projector.first.out_features, method.projector.second.out_features) == (5, 8)
    assert method.embed(graph).shape == (40, 8)


def test_the_embedding_is_what_comes_before_the_projector(graph):
    method = made()
    assert torch.equal(method.embed(graph), method.encoder(graph.x, graph.adj))


@pytest.mark.parametrize(("chosen", "message"), [
    ({"temperature": 0.01}, "GRACE: temperature is 0.01, expected a finite number of at least 0.02"),
    ({"temperature": float("nan")}, "temperature is nan"),
    ({"projection_channels": 0}, "Projector: hidden_channels is 0, expected at least 1"),
    ({"activation": "rel"}, "no activation named 'rel'; did you mean 'relu'"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        GRACE(6, **chosen)
    assert "\n" not in str(error.value)
