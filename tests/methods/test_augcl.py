import itertools

import pytest
import torch
from torch_geometric.data import Data

from sgcl import AUGCL as Estimator
from sgcl import Graph, InputError
from sgcl.checkpoints import Checkpoints
from sgcl.losses import info_nce
from sgcl.methods import AUGCL
from sgcl.methods.pair_classifier import _upper_half
from sgcl.trainer import Epoch
from sgcl.views import Compose


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(**chosen) -> AUGCL:
    torch.manual_seed(0)
    return AUGCL(6, **{"hidden_channels": 8, **chosen})


def trained(graph: Graph, **chosen) -> AUGCL:
    method = made(**chosen)
    with torch.no_grad():
        method.before_epoch(graph, 3, 4, chance(1))
    return method


def projections(method: AUGCL, *graphs: Graph) -> list[torch.Tensor]:
    return [method.projector(method.embed(graph)).detach() for graph in graphs]


def slow_loss(method: AUGCL, z1: torch.Tensor, z2: torch.Tensor, groups: list[list[int]]) -> float:
    """Loops over anchors and their group; the classifier sees one pair at a time, as one row of 2D numbers."""
    def abstains(i, k):
        first, second, third = method.classifier.first, method.classifier.second, method.classifier.third
        h = torch.relu(first(torch.cat([z1[i], z2[k]])))
        return float(third(torch.relu(second(h))).softmax(0)[2])

    u, v = (z.double() / z.double().norm(dim=1, keepdim=True) for z in (z1, z2))
    total, tau = 0.0, method.temperature
    for group in groups:
        for i in group:
            others = [k for k in group if k != i]
            for a, b, weight in ((u, v, {k: abstains(i, k) for k in others}),
                                 (v, u, {k: abstains(k, i) for k in others})):
                mean = sum(weight.values()) / len(others)
                q = sum(weight[k] / mean * float(((a[i] @ b[k]) / tau).exp() + ((a[i] @ a[k]) / tau).exp())
                        for k in others) * (len(z1) - 1) / len(others)
                total += float(torch.log1p(q / ((a[i] @ b[i]) / tau).exp()))
    return total / (2 * len(z1))


def test_before_there_are_weights_it_is_grace(graph):
    method = made()
    for epoch in (1, 2, 4):
        method.before_epoch(graph, epoch, 4, chance())
    views = method.augment(graph, chance(2))
    z1, z2 = projections(method, views.first, views.second)
    assert not method.weighs
    assert torch.allclose(method.loss(views), info_nce(z1, z2, temperature=method.temperature))


@pytest.mark.parametrize(("candidates", "sizes"), [(1024, [40]), (15, [14, 13, 13])])
def test_then_it_is_the_formula_inside_each_group(graph, candidates, sizes):
    method = trained(graph, candidates=candidates)
    views = method.augment(graph, chance(2))
    z1, z2 = projections(method, views.first, views.second)
    ends = [0, *itertools.accumulate(sizes)]
    groups = [views.order[start:stop].tolist() for start, stop in itertools.pairwise(ends)]
    assert method.weighs
    assert float(method.loss(views).detach()) == pytest.approx(slow_loss(method, z1, z2, groups), rel=1e-5)


def test_the_groups_are_dealt_anew_each_step(graph):
    method = made()
    orders = [method.augment(graph, chance(seed)).order for seed in (0, 1)]
    assert torch.equal(orders[0].sort().values, torch.arange(40))
    assert not torch.equal(*orders)


@pytest.mark.parametrize(("pretrain", "epochs", "first"), [(0.5, 4, 3), (0.5, 5, 3), (0.0, 4, 1), (1.0, 4, None)])
def test_the_weights_come_after_their_share_of_the_epochs(graph, pretrain, epochs, first):
    method = made(pretrain=pretrain, passes=1)
    seen = []
    for epoch in range(1, epochs + 1):
        with torch.no_grad():
            method.before_epoch(graph, epoch, epochs, chance())
        seen.append(bool(method.weighs))
    assert seen == [first is not None and epoch >= first for epoch in range(1, epochs + 1)]


def test_the_classifier_learns_who_is_alike_and_is_then_left_alone(graph, monkeypatch):
    monkeypatch.setattr("sgcl.methods.pair_classifier._PAIRS", 64)
    method = trained(graph, passes=20, view1=Compose(), view2=Compose())
    u, v = projections(method, graph, graph)
    upper = _upper_half(torch.nn.functional.normalize(u) @ torch.nn.functional.normalize(v).T)
    alike = upper == upper.diagonal()[:, None]
    scores = method.classifier(u[:, None], v[None])                       # (40, 40, 3)
    assert ((scores[:, :, 1] > scores[:, :, 0]) == alike).float().mean() > 0.9
    before = {name: value.clone() for name, value in method.classifier.state_dict().items()}
    method.loss(method.augment(graph, chance())).backward()
    assert all(parameter.grad is None for parameter in method.classifier.parameters())
    assert all(parameter.grad.abs().max() > 0 for parameter in method.parameters() if parameter.requires_grad)
    method.before_epoch(graph, 4, 4, chance())
    assert all(torch.equal(before[name], value) for name, value in method.classifier.state_dict().items())


def test_a_high_reward_for_betting_leaves_less_abstaining(graph):
    def abstention(reward):
        method = trained(graph, reward=reward, passes=40, view1=Compose(), view2=Compose())
        return float(method.classifier.abstention(*projections(method, graph, graph)).mean())

    assert abstention(1.1) > abstention(2.0) + 0.1


def test_it_comes_back_from_a_folder_with_its_classifier(ring, tmp_path):
    fitted = Estimator(hidden_channels=8, epochs=4, passes=1, candidates=16).fit(ring)
    fitted.save(tmp_path)
    loaded = Estimator.load(tmp_path)
    assert loaded.method.weighs
    assert all(torch.equal(value, loaded.method.state_dict()[name])
               for name, value in fitted.method.state_dict().items())


def test_training_cut_off_after_the_weights_came_goes_on_exactly(ring, tmp_path):
    def training() -> Estimator:
        return Estimator(hidden_channels=8, pretrain=0.3, epochs=5, passes=1, lr=0.01)

    def cut_off(epoch: Epoch) -> None:
        if epoch.epoch == 3:
            raise KeyboardInterrupt

    whole = training().fit(ring)
    with pytest.raises(KeyboardInterrupt):
        training().fit(ring, callbacks=[cut_off], checkpoint=Checkpoints(tmp_path, every=0))
    resumed = training().fit(ring, checkpoint=Checkpoints(tmp_path, every=0, resume=True))
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]
    assert torch.equal(resumed.transform(ring), whole.transform(ring))


@pytest.mark.parametrize(("chosen", "message"), [
    ({"temperature": 0.0}, "AUGCL: temperature is 0.0"),
    ({"pretrain": 1.5}, "AUGCL: pretrain is 1.5, expected a probability"),
    ({"candidates": 2}, "AUGCL: candidates is 2, expected at least 3"),
    ({"reward": 1.0}, "AUGCL: reward is 1.0, expected a number above 1 and at most 2"),
    ({"reward": 2.1}, "AUGCL: reward is 2.1"),
    ({"passes": 0}, "AUGCL: passes is 0, expected at least 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        AUGCL(6, **chosen)
    assert "\n" not in str(error.value)
