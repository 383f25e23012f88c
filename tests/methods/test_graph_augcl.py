import math

import pytest
import torch
from collections_of import rings_and_paths, seeded

from sgcl import InputError
from sgcl.checkpoints import Checkpoints
from sgcl.estimator import AUGCLGraphs as Estimator
from sgcl.losses import graph_nce
from sgcl.methods import AUGCLGraphs
from sgcl.methods.pair_classifier import PairClassifier
from sgcl.samplers import WholeGraphs
from sgcl.trainer import Epoch
from sgcl.views import Compose


def made(**chosen) -> AUGCLGraphs:
    torch.manual_seed(0)
    return AUGCLGraphs(4, **{"hidden_channels": 8, "passes": 3, **chosen})


def trained(**chosen) -> AUGCLGraphs:
    method = made(**chosen).eval()
    with torch.no_grad():
        method.before_epoch(rings_and_paths(), 3, 4, seeded(1))
    return method.train()


def projections(method: AUGCLGraphs, *graphs) -> list[torch.Tensor]:
    z = [method.head(method.embed(graph)).detach() for graph in graphs]
    return [rows / rows.norm(dim=1, keepdim=True) for rows in z]


def slow_loss(classifier: PairClassifier, u: torch.Tensor, v: torch.Tensor, temperature: float = 0.2) -> float:
    """Loops over anchors and the others; the classifier sees one pair at a time, as one row."""
    def abstains(i, k):
        h = torch.relu(classifier.first(torch.cat([u[i], v[k]])))
        return float(classifier.third(torch.relu(classifier.second(h))).softmax(0)[2])

    total = 0.0
    for i in range(len(u)):
        weight = {k: abstains(i, k) for k in range(len(v)) if k != i}
        mean = sum(weight.values()) / len(weight)
        p = math.exp(float(u[i] @ v[i]) / temperature)
        q = sum(weight[k] / mean * math.exp(float(u[i] @ v[k]) / temperature) for k in weight)
        total -= math.log(p / (p + q))
    return total / len(u)


def test_before_there_are_weights_all_negatives_count_alike():
    graph, method = rings_and_paths(), made()
    for epoch in (1, 2, 4):
        method.before_epoch(graph, epoch, 4, seeded())
    views = method.augment(graph, seeded(2))
    assert not method.weighs
    assert torch.allclose(method.loss(views), graph_nce(*projections(method, *views), positive_in=True))


def test_then_it_is_the_formula_and_the_classifier_is_left_alone():
    graph, method = rings_and_paths(), trained()
    views = method.augment(graph, seeded(2))
    expected = slow_loss(method.classifier, *projections(method, *views))
    loss = method.loss(views)
    assert method.weighs
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-5)
    assert expected != pytest.approx(float(graph_nce(*projections(method, *views), positive_in=True)), rel=1e-4)
    loss.backward()
    assert all(parameter.grad is None for parameter in method.classifier.parameters())
    assert all(parameter.grad.abs().max() > 0 for parameter in method.parameters() if parameter.requires_grad)


def test_the_classifier_sees_every_graph_in_each_pass_and_the_encoder_rests(monkeypatch):
    monkeypatch.setattr("sgcl.methods.graphs.graphcl._SIZE", 4)
    rounds = []
    monkeypatch.setattr(PairClassifier, "learn", lambda self, given, *_: rounds.extend(given))
    method = trained(view2=Compose(), passes=2).eval()
    embedding, = projections(method, rings_and_paths())
    assert [len(anchors) for anchors, _ in rounds] == [3, 3, 3, 3]
    for first, second in (rounds[:2], rounds[2:]):
        seen = torch.cat([first[0], second[0]])
        assert torch.equal(first[0], first[1])                            # both views are the graphs here
        nearest = torch.cdist(seen, embedding).argmin(1)
        assert sorted(nearest.tolist()) == list(range(6))
        torch.testing.assert_close(seen, embedding[nearest], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("pretrain", "epochs", "first"), [(0.5, 4, 3), (0.5, 5, 3), (0.0, 4, 1), (1.0, 4, None)])
def test_the_weights_come_after_their_share_of_the_epochs(pretrain, epochs, first):
    method, seen = made(pretrain=pretrain, passes=1), []
    for epoch in range(1, epochs + 1):
        with torch.no_grad():
            method.before_epoch(rings_and_paths(), epoch, epochs, seeded())
        seen.append(bool(method.weighs))
    assert seen == [first is not None and epoch >= first for epoch in range(1, epochs + 1)]


def test_training_cut_off_after_the_weights_came_goes_on_exactly(tmp_path):
    graph = rings_and_paths()

    def training() -> Estimator:
        return Estimator(hidden_channels=8, pretrain=0.3, epochs=5, passes=2, sampler=WholeGraphs(3))

    def cut_off(epoch: Epoch) -> None:
        if epoch.epoch == 3:
            raise KeyboardInterrupt

    whole = training().fit(graph)
    with pytest.raises(KeyboardInterrupt):
        training().fit(graph, callbacks=[cut_off], checkpoint=Checkpoints(tmp_path / "run", every=0))
    resumed = training().fit(graph, checkpoint=Checkpoints(tmp_path / "run", every=0, resume=True))
    assert whole.method.weighs
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]
    assert torch.equal(resumed.transform(graph), whole.transform(graph))
    whole.save(tmp_path / "model")
    loaded = Estimator.load(tmp_path / "model")
    assert all(torch.equal(value, loaded.method.state_dict()[name])
               for name, value in whole.method.state_dict().items())


@pytest.mark.parametrize(("chosen", "message"), [
    ({"temperature": 0.0}, "AUGCLGraphs: temperature is 0.0"),
    ({"pretrain": 1.5}, "AUGCLGraphs: pretrain is 1.5, expected a probability"),
    ({"reward": 1.0}, "AUGCLGraphs: reward is 1.0, expected a number above 1 and at most 2"),
    ({"passes": 0}, "AUGCLGraphs: passes is 0, expected at least 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message):
        AUGCLGraphs(4, **chosen)
