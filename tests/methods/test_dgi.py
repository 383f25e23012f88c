import math

import pytest
import torch

from sgcl import Graph, InputError
from sgcl.methods import DGI
from sgcl.sparse import SparseFeatures


def made(**chosen) -> DGI:
    torch.manual_seed(0)
    return DGI(6, hidden_channels=4, **chosen)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring) -> Graph:
    return Graph.from_data(ring)


def test_the_corruption_keeps_the_edges_and_hands_features_to_other_nodes(graph):
    views = made().augment(graph, chance())
    assert views.real is graph
    assert views.fake.adj is graph.adj
    moved = (views.fake.x[:, None] == graph.x[None]).all(2)               # (N, N) which row came from which
    assert torch.equal(moved.sum(0), torch.ones(40, dtype=torch.long))
    assert torch.equal(moved.sum(1), torch.ones(40, dtype=torch.long))
    assert moved.diagonal().sum() < 10
    again, other = made().augment(graph, chance()), made().augment(graph, chance(1))
    assert torch.equal(again.fake.x, views.fake.x)
    assert not torch.equal(other.fake.x, views.fake.x)


def test_sparse_features_are_shuffled_alike(graph):
    sparse = graph.replace(x=SparseFeatures.from_dense(graph.x))
    assert torch.equal(made().augment(sparse, chance()).fake.x.to_dense(), made().augment(graph, chance()).fake.x)


def test_the_loss_and_its_gradient_are_those_of_the_formula(graph):
    method = made().double()
    graph = graph.replace(x=graph.x.double())
    views = method.augment(graph, chance())
    real, fake = (method.encoder(part.x, part.adj) for part in views)
    summary = 1 / (1 + torch.exp(-real.sum(0) / 40))
    total = 0.0
    for nodes, is_real in ((real, True), (fake, False)):
        for h in nodes:
            p = 1 / (1 + torch.exp(-(h @ method.weight @ summary + method.bias)))
            total = total - torch.log(p if is_real else 1 - p)
    loss = method.loss(views)
    assert loss.item() == pytest.approx((total / 80).item(), rel=1e-10)
    parameters = list(method.parameters())                                # the summary passes gradients on as well
    for ours, theirs in zip(torch.autograd.grad(loss, parameters, retain_graph=True),
                            torch.autograd.grad(total / 80, parameters), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_score_of_zero_costs_the_logarithm_of_two(graph):
    method = made()
    torch.nn.init.zeros_(method.weight)
    assert method.loss(method.augment(graph, chance())).item() == pytest.approx(math.log(2))


def test_the_embedding_is_the_encoder_s_output(graph):
    method = made()
    assert len(method.encoder.layers) == 1
    assert torch.equal(method.embed(graph), method.encoder(graph.x, graph.adj))


@pytest.mark.parametrize(("chosen", "message"), [
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
    ({"layer": "sagee"}, "did you mean 'sage'"), ({"dropout": -1.0}, "dropout is -1.0")])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        DGI(6, **chosen)
    assert "\n" not in str(error.value)
