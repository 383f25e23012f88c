import math

import pytest
import torch
from collections_of import circles, seeded

from sgcl import Graph, InputError
from sgcl.methods import BGRLGraphs
from sgcl.views import Compose, DropEdges, MaskFeatures


def made(**chosen) -> BGRLGraphs:
    torch.manual_seed(0)
    return BGRLGraphs(3, **{"hidden_channels": 4, "dropout": 0.0, **chosen})


@pytest.fixture
def graph() -> Graph:
    return circles()


def cosine(a, b):
    a, b = a.tolist(), b.tolist()
    inner = sum(x * y for x, y in zip(a, b, strict=True))
    return inner / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def test_the_loss_is_the_formula_in_loops(graph):
    method = made(view1=DropEdges(0.2), view2=Compose((DropEdges(0.7), MaskFeatures(0.4)))).double()
    graph = graph.replace(x=graph.x.double())
    with torch.no_grad():
        for parameter in method.target.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    views = method.augment(graph, seeded())
    h = [method.predictor(method.online.projector(method.online(view))) for view in views]
    t = [method.target.projector(method.target(view)) for view in views]
    total = 0.0
    for online, target in ((h[0], t[1]), (h[1], t[0])):
        for start, stop in ((0, 5), (5, 12), (12, 16)):
            whole = sum(target[i] for i in range(start, stop))
            total -= sum(cosine(online[i], whole) for i in range(start, stop)) / 16 / 2
    assert method.loss(views).item() == pytest.approx(total, rel=1e-5)


def test_a_prediction_that_agrees_costs_less_than_one_that_disagrees(graph):
    same = graph.replace(x=torch.ones(16, 3))                             # every node says what its graph says
    method = made(view1=Compose(), view2=Compose()).eval()
    views = method.augment(same, seeded())
    for sign in (1, -1):
        method.predictor = torch.nn.Linear(4, 4, bias=False)
        method.predictor.weight.data = sign * torch.eye(4)
        assert method.loss(views).item() == pytest.approx(-sign, abs=1e-5)


def test_the_target_begins_as_a_copy_without_dropout_and_gets_no_gradient(graph):
    method = made(dropout=0.3)
    pairs = list(zip(method.target.parameters(), method.online.parameters(), strict=True))
    assert all(torch.equal(slow, fast) for slow, fast in pairs)
    rates = [[side.encoder.dropout, side.projector[3].p] for side in (method.online, method.target)]
    assert rates == [[0.3, 0.3], [0.0, 0.0]]
    assert method.predictor[3].p == 0.3
    method.loss(method.augment(graph, seeded())).backward()
    assert all(slow.grad is None and not slow.requires_grad for slow, _ in pairs)
    learning = {id(parameter) for group in method.parameter_groups(0.1, 0.0) for parameter in group["params"]}
    assert learning == {id(p) for p in [*method.online.parameters(), *method.predictor.parameters()]}


def test_the_target_follows_by_the_momentum_all_along():
    method = made(momentum=0.9)
    pairs = list(zip(method.target.parameters(), method.online.parameters(), strict=True))
    for progress in (0.1, 1.0):
        with torch.no_grad():
            for _, fast in pairs:
                fast.add_(1.0)
        before = [slow.clone() for slow, _ in pairs]
        method.after_step(progress)
        for (slow, fast), old in zip(pairs, before, strict=True):
            assert torch.allclose(slow, 0.9 * old + 0.1 * fast, atol=1e-6)


def test_an_embedding_is_the_sum_of_the_nodes_before_the_projector(graph):
    method = made(dropout=0.5).eval()
    h = method.online.norm(method.online.encoder(graph).nodes)
    assert torch.allclose(method.embed(graph)[1], sum(h[i] for i in range(5, 12)), atol=1e-5)
    with torch.no_grad():
        method.online.projector[0].weight.add_(1.0)
    assert torch.allclose(method.embed(graph)[1], sum(h[i] for i in range(5, 12)), atol=1e-5)


@pytest.mark.parametrize(("chosen", "message"), [
    ({"momentum": 2.0}, "BGRLGraphs: momentum is 2.0, expected a probability"),
    ({"dropout": 3.0}, "dropout is 3.0, expected a probability"),
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)
