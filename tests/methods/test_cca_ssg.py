import pytest
import torch

from sgcl import Graph, InputError
from sgcl.methods import CCASSG
from sgcl.views import Compose, DropEdges, MaskFeatures


def made(**chosen) -> CCASSG:
    torch.manual_seed(0)
    return CCASSG(6, **{"hidden_channels": 4, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring) -> Graph:
    return Graph.from_data(ring)


def test_the_loss_is_the_formula_from_the_encoder_s_output_on(graph):
    method = made(view1=DropEdges(0.2), view2=Compose((DropEdges(0.7), MaskFeatures(0.5))),
                  decorrelation=0.3).double()
    graph = graph.replace(x=graph.x.double())
    views = method.augment(graph, chance())
    h1, h2 = (method.encoder(view.x, view.adj).detach() for view in views)
    c = torch.corrcoef(torch.cat([h1, h2], dim=1).T)                      # (2D, 2D)
    agreement = sum(2 - 2 * float(c[i, 4 + i]) for i in range(4))         # ||z1 - z2||² / N of a column
    repeated = sum(float(c[k + i, k + j]) ** 2 for k in (0, 4) for i in range(4) for j in range(4) if i != j)
    assert method.loss(views).item() == pytest.approx(agreement + 0.3 * repeated, rel=1e-8)


def test_its_weights_are_twice_those_of_the_published_loss(graph):
    """- tr(Z1ᵀ Z2 / N) + 1e-3 (...) is half of the loss here, less a constant, at 2e-3."""
    method = made().double()
    assert method.decorrelation == 2e-3
    views = method.augment(graph.replace(x=graph.x.double()), chance())
    h1, h2 = (method.encoder(view.x, view.adj) for view in views)
    z1, z2 = ((h - h.mean(0)) / h.std(0, correction=0) for h in (h1, h2))
    identity = torch.eye(4)
    published = -(z1.T @ z2 / 40).trace() + 1e-3 * sum((z.T @ z / 40 - identity).square().sum() for z in (z1, z2))
    assert method.loss(views).item() == pytest.approx(2 * published.item() + 2 * 4, rel=1e-8)


def test_the_encoder_ends_in_a_linear_layer(graph):
    method = made()
    shifted = method.embed(graph)
    torch.nn.init.constant_(method.encoder.layers[-1].bias, -1.0)
    assert torch.allclose(method.embed(graph), shifted - 1, atol=1e-6)


@pytest.mark.parametrize(("chosen", "message"), [
    ({"decorrelation": -0.1}, "CCASSG: decorrelation is -0.1, expected a finite number of at least 0"),
    ({"decorrelation": float("nan")}, "decorrelation is nan"),
    ({"num_layers": 0}, "num_layers is 0, expected at least 1")])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)


def test_a_batch_of_one_node_is_told(graph):
    method = made()
    with pytest.raises(InputError, match="a batch of 1 node has no correlations: draw larger batches"):
        method.loss(method.augment(graph.subgraph(torch.tensor([3])), chance()))


def test_each_view_is_made_by_its_own_setting(graph):
    views = made(view1=Compose(), view2=DropEdges(1.0)).augment(graph, chance())
    assert views.first.num_edges == graph.num_edges
    assert views.second.num_edges == 0
