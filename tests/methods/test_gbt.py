import pytest
import torch

from sgcl import Graph, InputError
from sgcl.encoders.norm import BatchNorm
from sgcl.methods import GBT
from sgcl.views import Compose, DropEdges, MaskFeatures


def made(**chosen) -> GBT:
    torch.manual_seed(0)
    return GBT(6, **{"hidden_channels": 8, "out_channels": 4, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring) -> Graph:
    return Graph.from_data(ring)


@pytest.mark.parametrize("weight", [None, 0.7])
def test_the_loss_is_the_formula_from_the_encoder_s_output_on(graph, weight):
    method = made(view1=DropEdges(0.2), view2=Compose((DropEdges(0.7), MaskFeatures(0.5))),
                  off_diagonal=weight).double()
    graph = graph.replace(x=graph.x.double())
    views = method.augment(graph, chance())
    h1, h2 = (method.encoder(view.x, view.adj).detach() for view in views)
    c = torch.corrcoef(torch.cat([h1, h2], dim=1).T)[:4, 4:]              # (D, D)
    expected = sum(float((1 - c[i, j]) ** 2 if i == j else (0.25 if weight is None else weight) * c[i, j] ** 2)
                   for i in range(4) for j in range(4))
    assert method.loss(views).item() == pytest.approx(expected, rel=1e-8)


def test_the_encoder_ends_in_a_linear_layer(graph):
    method = made().eval()
    assert len(method.encoder.layers) == 2
    assert len(method.encoder.norms) == len(method.encoder.activations) == 1
    assert isinstance(method.encoder.norms[0], BatchNorm)
    shifted = method.embed(graph)
    torch.nn.init.constant_(method.encoder.layers[-1].bias, -1.0)
    assert torch.allclose(method.embed(graph), shifted - 1, atol=1e-6)


@pytest.mark.parametrize(("chosen", "message"), [
    ({"off_diagonal": -0.1}, "GBT: off_diagonal is -0.1, expected a finite number of at least 0"),
    ({"off_diagonal": float("inf")}, "off_diagonal is inf"),
    ({"out_channels": 0}, "out_channels is 0, expected at least 1")])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)


def test_a_batch_of_one_node_is_told(graph):
    method = made(num_layers=1)
    with pytest.raises(InputError, match="a batch of 1 node has no correlations: draw larger batches"):
        method.loss(method.augment(graph.subgraph(torch.tensor([3])), chance()))


def test_each_view_is_made_by_its_own_setting(graph):
    views = made(view1=Compose(), view2=DropEdges(1.0)).augment(graph, chance())
    assert views.first.num_edges == graph.num_edges
    assert views.second.num_edges == 0
