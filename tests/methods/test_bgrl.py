import math

import pytest
import torch

from sgcl import Graph, InputError
from sgcl.encoders.prelu import PReLU
from sgcl.methods import BGRL
from sgcl.views import Compose, DropEdges, MaskFeatures


def made(**chosen) -> BGRL:
    torch.manual_seed(0)
    return BGRL(6, **{"hidden_channels": 8, "out_channels": 4, "predictor_channels": 5, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring) -> Graph:
    return Graph.from_data(ring)


def cosine(a, b):
    a, b = a.tolist(), b.tolist()
    inner = sum(x * y for x, y in zip(a, b, strict=True))
    return inner / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def test_the_loss_is_the_formula_in_loops(graph):
    method = made(view1=DropEdges(0.2), view2=Compose((DropEdges(0.7), MaskFeatures(0.5)))).double()
    graph = graph.replace(x=graph.x.double())
    first, second = method.augment(graph, chance())
    q1, q2 = (method.predictor(method.online(view.x, view.adj)) for view in (first, second))
    t1, t2 = (method.target(view.x, view.adj) for view in (first, second))
    expected = 2 - sum(cosine(q1[i], t2[i]) + cosine(q2[i], t1[i]) for i in range(40)) / 40
    assert method.loss(method.augment(graph, chance())).item() == pytest.approx(expected, rel=1e-10)


def test_a_prediction_that_agrees_costs_less_than_one_that_disagrees(graph):
    method = made(view1=Compose(), view2=Compose())
    method.target.load_state_dict(method.online.state_dict())
    views = method.augment(graph, chance())
    for sign, expected in ((1, 0), (-1, 4)):
        method.predictor = torch.nn.Linear(4, 4, bias=False)
        method.predictor.weight.data = sign * torch.eye(4)
        assert method.loss(views).item() == pytest.approx(expected, abs=1e-5)


def test_the_target_gets_no_gradient_and_the_optimiser_does_not_see_it(graph):
    method = made()
    method.loss(method.augment(graph, chance())).backward()
    assert all(parameter.grad is None and not parameter.requires_grad for parameter in method.target.parameters())
    learning = {id(parameter) for group in method.parameter_groups(0.1, 0.0) for parameter in group["params"]}
    assert learning == {id(p) for p in [*method.online.parameters(), *method.predictor.parameters()]}


def test_the_online_encoder_drops_out_and_the_target_does_not(graph):
    method = made(dropout=1.0)                                            # before the second of its two layers
    views = method.augment(graph, chance())
    loss = method.loss(views)
    loss.backward()
    assert method.online.layers[0].weight.grad.abs().max() == 0
    method.target.layers[0].weight.normal_()
    assert not torch.allclose(method.loss(views), loss)


def test_the_target_starts_from_weights_of_its_own():
    method = made()
    assert not torch.allclose(method.online.layers[0].weight, method.target.layers[0].weight)


@pytest.mark.parametrize(("progress", "moved"), [
    (0.0, 0.1), (0.25, 0.1 * (1 + math.cos(math.pi / 4)) / 2), (0.5, 0.05), (1.0, 0.0)])
def test_the_target_follows_ever_more_slowly(progress, moved):
    method = made(momentum=0.9)
    fast, slow = ([p.clone() for p in part.parameters()] for part in (method.online, method.target))
    method.after_step(progress)
    for before, now, towards in zip(slow, method.target.parameters(), fast, strict=True):
        assert torch.allclose(now, (1 - moved) * before + moved * towards, atol=1e-7)
    assert all(torch.equal(a, b) for a, b in zip(fast, method.online.parameters(), strict=True))


def test_statistics_of_the_batch_norms_are_not_averaged(graph):
    method = made(momentum=0.0)
    method.loss(method.augment(graph, chance()))
    before = [buffer.clone() for buffer in method.target.buffers()]
    method.after_step(0.0)                                                # parameters are now those of the online one
    assert all(torch.equal(a, b) for a, b in zip(before, method.target.buffers(), strict=True))
    assert all(torch.equal(a, b) for a, b in zip(method.target.parameters(), method.online.parameters(), strict=True))


def test_the_embedding_is_the_online_encoder_s_on_its_running_averages(graph):
    method = made().eval()
    assert torch.equal(method.embed(graph), method.online(graph.x, graph.adj))
    assert method.embed(graph).shape == (40, 4)
    assert [norm.least for norm in method.online.norms] == [0.01, 0.01]


@pytest.mark.parametrize(("chosen", "message"), [
    ({"momentum": 1.5}, r"BGRL: momentum is 1.5, expected a number in \[0, 1\]"),
    ({"momentum": float("nan")}, "momentum is nan"),
    ({"predictor_channels": 0}, "BGRL: predictor_channels is 0, expected at least 1"),
    ({"out_channels": 0}, "out_channels is 0, expected at least 1"),
    ({"activation": "rel"}, "did you mean 'relu'")])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)


def test_each_view_is_made_by_its_own_setting(graph):
    views = made(view1=Compose(), view2=DropEdges(1.0)).augment(graph, chance())
    assert views.first.num_edges == graph.num_edges
    assert views.second.num_edges == 0


def test_the_gradient_reaches_the_online_weights_through_both_predictions(graph):
    method = made(view1=DropEdges(0.2), view2=Compose((DropEdges(0.7), MaskFeatures(0.5)))).double()
    graph = graph.replace(x=graph.x.double())
    first, second = method.augment(graph, chance())
    online, target = ([part(view.x, view.adj) for view in (first, second)] for part in (method.online, method.target))
    q1, q2 = map(method.predictor, online)
    expected = 2 - (torch.cosine_similarity(q1, target[1]) + torch.cosine_similarity(q2, target[0])).mean()
    weights = [*method.online.parameters(), *method.predictor.parameters()]
    loss = method.loss(method.augment(graph, chance()))
    for ours, theirs in zip(torch.autograd.grad(loss, weights), torch.autograd.grad(expected, weights), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-10)


def test_the_predictor_is_a_layer_with_prelu_and_a_linear_one():
    first, between, last = made().predictor
    assert isinstance(between, PReLU)
    assert first.out_features == last.in_features
