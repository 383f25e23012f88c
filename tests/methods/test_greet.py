import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import GREET, greet
from sgcl.methods.greet import many_positives_loss, nearest_features, walk_returns
from sgcl.samplers import RandomNode
from sgcl.sparse import CSR, SparseFeatures
from sgcl.views import DropEdges


def made(**chosen) -> GREET:
    torch.manual_seed(0)
    return GREET(6, **{"hidden_channels": 5, "neighbors": 3, **chosen})


def begun(graph: Graph, **chosen) -> GREET:
    method = made(**chosen)
    method.start(graph)
    return method


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def turn(method: GREET, epoch: int) -> GREET:
    method.before_epoch(None, epoch, 100, chance())
    return method


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def dense_weights(method: GREET, views) -> torch.Tensor:
    """(N, N) w at the edges, from a linear map of both ends in both orders, as the paper has it."""
    told, num_nodes = method.discriminator, views.graph.num_nodes
    e = torch.relu(torch.cat([views.graph.x, views.codes], dim=1)
                   @ torch.cat([told.features.weight, told.codes.weight.T]) + told.features.bias)
    v, b = 2 * torch.cat([told.score.weight[0], torch.zeros(5)]), 2 * told.score.bias  # any split of 2v over both ends
    w = torch.zeros(num_nodes, num_nodes)
    for i, j, noise in zip(views.graph.adj.row.tolist(), views.graph.adj.idx.tolist(), views.noise, strict=True):
        score = (torch.cat([e[i], e[j]]) @ v + b + torch.cat([e[j], e[i]]) @ v + b) / 2
        w[i, j] = torch.sigmoid(score + noise)
    return w


def dense_embeddings(method: GREET, adj: torch.Tensor, w: torch.Tensor, x1, x2) -> tuple[torch.Tensor, torch.Tensor]:
    def smoothing(weights):
        loops = adj * weights + torch.eye(len(adj))
        return loops / (loops.sum(1)[:, None] * loops.sum(1)).sqrt()

    high = smoothing(1 - w)
    high = torch.eye(len(adj)) - method.alpha * (high - torch.diag(high.diagonal()))
    h1, h2 = (torch.relu(x @ layer.weight + layer.bias) for x, layer in ((x1, method.low), (x2, method.high)))
    for _ in range(method.num_layers):
        h1, h2 = smoothing(w) @ h1, high @ h2
    return h1, h2


def slow_contrast(u: torch.Tensor, v: torch.Tensor, positives: torch.Tensor, temperature: float) -> float:
    total = 0.0
    for i in range(len(u)):
        score = [float(F.cosine_similarity(u[i], v[j], dim=0)) / temperature for j in range(len(v))]
        others = [math.exp(score[j]) for j in range(len(v)) if not positives[i, j]]
        near = [score[j] for j in range(len(v)) if positives[i, j]]
        total += math.log(sum(others)) - sum(near) / len(near)
    return total / len(u)


@pytest.mark.parametrize("chosen", [{}, {"projector_layers": 2, "alpha": 0.7, "num_layers": 3}], ids=str)
def test_the_encoders_loss_is_the_formula(graph, chosen):
    method = begun(graph, **chosen).eval()
    with torch.no_grad():
        views = method.augment(graph, chance())
        w = dense_weights(method, views)
        h1, h2 = dense_embeddings(method, graph.adj.to_dense(), w, views.first.x, views.second.x)
        u, v = method.low_projector(h1).double(), method.high_projector(h2).double()
        positives = views.positives.to_dense()
        expected = (slow_contrast(u, v, positives, 0.2) + slow_contrast(v, u, positives, 0.2)) / 2
        assert method.loss(views).item() == pytest.approx(expected, rel=1e-5)


def test_the_discriminators_loss_is_the_formula(graph):
    method = turn(begun(graph, margin1=0.3, margin2=0.6), 3)              # in training: nothing is dropped here
    with torch.no_grad():
        views = method.augment(graph, chance())
        w = dense_weights(method, views)
        h = torch.cat(dense_embeddings(method, graph.adj.to_dense(), w, graph.x, graph.x), dim=1).double()
        pairs = list(zip(views.others.row.tolist(), views.others.idx.tolist(), strict=True))
        total = 0.0
        for i, j, pick in zip(graph.adj.row.tolist(), graph.adj.idx.tolist(), views.picked.tolist(), strict=True):
            edge, (a, b) = F.cosine_similarity(h[i], h[j], dim=0), pairs[pick]
            other = F.cosine_similarity(h[a], h[b], dim=0)
            total += max(0, w[i, j] - 0.5) * max(0, other - edge + 0.3)
            total += max(0, 0.5 - w[i, j]) * max(0, edge - other + 0.6)
        assert method.loss(views).item() == pytest.approx(float(total) / graph.adj.nnz / 2, rel=1e-5)


def test_weights_begin_as_those_of_linear_layers():
    """Xavier's are larger, and so learn more slowly at the same rate."""
    torch.manual_seed(0)
    method = GREET(1000, hidden_channels=64)
    told = method.discriminator
    for layer, width in ((method.low, 1000), (method.high, 1000), (told.features, 1016), (told.codes, 1016),
                         (told.score, 256)):
        assert 0.8 < layer.weight.abs().max() * width**0.5 <= 1
        assert layer.bias is None or 0 < layer.bias.abs().max() * width**0.5 <= 1


def test_encoders_and_discriminator_learn_in_turn(graph):
    method = begun(graph, encoder_steps=2)
    for epoch, told in ((1, False), (2, False), (3, True), (4, False), (6, True)):
        method.zero_grad(set_to_none=True)
        turn(method, epoch).loss(method.augment(graph, chance())).backward()
        for name, parameter in method.named_parameters():
            assert (parameter.grad is not None) == (name.startswith("discriminator") == told), (epoch, name)
            if parameter.grad is not None:
                assert parameter.grad.abs().max() > 0, (epoch, name)
    assert turn(begun(graph, encoder_steps=1), 2).discriminating
    assert "discriminating" in method.state_dict()


def test_the_discriminator_learns_through_the_cosines_too(graph):
    """Its gradient is that of the whole loss, by differences."""
    method = turn(begun(graph).double(), 3)
    wide = graph.replace(x=graph.x.double())
    views = method.augment(wide, chance())._replace(codes=walk_returns(graph.adj).double())
    views = views._replace(noise=views.noise.double())
    weight = method.discriminator.score.weight
    slope = torch.autograd.grad(method.loss(views), weight)[0]
    small = 1e-6
    for place in range(3):
        losses = []
        for step in (small, -2 * small):
            with torch.no_grad():
                weight[0, place] += step
                losses.append(method.loss(views).item())
        with torch.no_grad():
            weight[0, place] += small
        assert slope[0, place].item() == pytest.approx((losses[0] - losses[1]) / (2 * small), rel=1e-3, abs=1e-7)


def test_parameter_groups_hold_all_and_give_the_discriminator_its_learning_rate():
    for given_lr, expected in ((None, 0.01), (1e-4, 1e-4)):
        method = made(discriminator_lr=given_lr)
        encoders, told = method.parameter_groups(0.01, 0.0)
        assert told["lr"] == expected
        assert len(encoders["params"]) + len(told["params"]) == len(list(method.parameters()))


@settings(max_examples=20)
@given(random_data(weighted=True))
def test_walk_returns_are_the_diagonals_of_powers(data):
    adj = Graph.from_data(data).adj
    degree = adj.to_dense().sum(1)
    walk = torch.where(degree > 0, 1 / degree, 0.0)[:, None] * adj.to_dense()
    expected = torch.stack([torch.linalg.matrix_power(walk, k).diagonal() for k in range(1, 17)], dim=1)
    assert torch.allclose(walk_returns(adj), expected, atol=1e-5)


def test_walk_returns_of_a_large_graph_are_estimated(graph, monkeypatch):
    exact = walk_returns(graph.adj)
    monkeypatch.setattr(greet, "_BLOCK", 40 * 7)
    assert torch.allclose(walk_returns(graph.adj), exact, atol=1e-6)
    monkeypatch.setattr(greet, "_EXACT", 10)
    estimate = walk_returns(graph.adj)
    assert torch.equal(estimate, walk_returns(graph.adj))
    assert 0 < (estimate - exact).abs().max() < 0.15
    assert (estimate - exact).mean().abs() < 0.02
    assert not estimate[:, 0].any()        # no loops


@settings(max_examples=20)
@given(st.integers(2, 9), st.integers(0, 5), st.integers(0, 10**6), st.sampled_from([3, 1000]), st.booleans())
def test_nearest_features_are_those_of_the_largest_cosines(num_nodes, count, seed, block, sparse):
    x = torch.randn(num_nodes, 4, generator=chance(seed))
    x[0] = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greet, "_BLOCK", block)
        found = nearest_features(SparseFeatures.from_dense(x) if sparse else x, count).to_dense().bool()
    for i in range(num_nodes):
        cosine = {j: float(F.cosine_similarity(x[i], x[j], dim=0)) for j in range(num_nodes) if j != i}
        nearest = sorted((j for j in cosine if cosine[j] > 1e-7), key=lambda j: -cosine[j])[:count]
        assert found[i].nonzero().view(-1).tolist() == sorted([i, *nearest])


def test_noise_is_one_for_both_directions_and_bounded(graph):
    method = begun(graph)
    noise = method.augment(graph, chance()).noise
    assert torch.equal(noise, noise[graph.adj.perm])
    assert len(noise.unique()) == graph.num_edges
    assert noise.abs().max() <= math.log((1 - 1e-4) / 1e-4) + 1e-3
    assert not torch.equal(noise, method.augment(graph, chance(1)).noise)


def test_embeddings_have_no_noise(graph):
    method = begun(graph).eval()
    with torch.no_grad():
        views = method.augment(graph, chance())
        w = dense_weights(method, views._replace(noise=torch.zeros(graph.adj.nnz)))
        expected = torch.cat(dense_embeddings(method, graph.adj.to_dense(), w, graph.x, graph.x), dim=1)
        assert torch.allclose(method.embed(graph), expected, atol=1e-5)


def test_an_anchor_without_negatives_is_left_out():
    u = F.normalize(torch.randn(3, 2)).requires_grad_()
    positives = CSR.from_coo(torch.tensor([0, 0, 0, 1, 2]), torch.tensor([0, 1, 2, 1, 2]), shape=(3, 3))
    loss = many_positives_loss(u, u, positives, 0.5)
    full = slow_contrast(u[1:2].detach(), u.detach(), torch.tensor([[0, 1, 0]]), 0.5)
    full += slow_contrast(u[2:3].detach(), u.detach(), torch.tensor([[0, 0, 1]]), 0.5)
    assert loss.item() == pytest.approx(full / 3, rel=1e-5)
    loss.backward()
    assert u.grad.isfinite().all()


@pytest.mark.parametrize(("rates", "silent", "heard"), [((1.0, 0.0), "low", "high"), ((0.0, 1.0), "high", "low")])
def test_each_encoder_drops_edges_and_loops_by_its_own_rate_in_training(graph, rates, silent, heard):
    method = begun(graph, edge_dropout1=rates[0], edge_dropout2=rates[1])
    views = method.augment(graph, chance())
    method.loss(views).backward()
    assert getattr(method, silent).weight.grad.abs().max() == 0            # loops too, as published
    assert getattr(method, heard).weight.grad.abs().max() > 0
    method.eval().loss(views).backward()
    assert getattr(method, silent).weight.grad.abs().max() > 0


def test_a_batch_has_the_codes_and_neighbours_of_the_whole_graph(graph):
    method = begun(graph)
    batch = RandomNode(batch_size=15)(graph, chance())
    views = method.augment(batch, chance())
    assert torch.equal(views.codes, walk_returns(graph.adj)[batch.n_id])
    whole = nearest_features(graph.x, 3).to_dense()
    assert torch.equal(views.positives.to_dense(), whole[batch.n_id][:, batch.n_id])


def test_a_view_that_changes_edges_is_told(graph):
    for name in ("view1", "view2"):
        with pytest.raises(InputError, match=f"GREET: {name} changes edges.*; use views of features"):
            begun(graph, **{name: DropEdges(0.5)}).augment(graph, chance())


@pytest.mark.parametrize(("chosen", "message"), [
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
    ({"num_layers": 0}, "num_layers is 0, expected at least 1"),
    ({"neighbors": -1}, "neighbors is -1, expected at least 0"),
    ({"encoder_steps": 0}, "encoder_steps is 0, expected at least 1"),
    ({"projector_layers": 3}, "projector_layers is 3, expected 1 or 2"),
    ({"alpha": -0.5}, "alpha is -0.5, expected a finite number of at least 0"),
    ({"margin1": float("nan")}, "margin1 is nan, expected a finite number"),
    ({"margin2": -1.0}, "margin2 is -1.0, expected a finite number of at least 0"),
    ({"discriminator_lr": 0.0}, "discriminator_lr is 0.0, expected a finite number above 0"),
    ({"edge_dropout1": 2.0}, "edge_dropout1 is 2.0, expected a probability"),
    ({"edge_dropout2": 2.0}, "edge_dropout2 is 2.0, expected a probability"),
    ({"temperature": 0.0}, "GREET: temperature is 0.0, expected a finite number of at least 0.02"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)
