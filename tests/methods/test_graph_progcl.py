import math

import pytest
import torch
from collections_of import collection_of, rings_and_paths, seeded

from sgcl import InputError
from sgcl.checkpoints import Checkpoints
from sgcl.estimator import ProGCLGraphs as Estimator
from sgcl.losses import graph_nce
from sgcl.losses.infonce import unit_rows
from sgcl.methods import ProGCLGraphs
from sgcl.methods.beta_mixture import BetaMixture
from sgcl.samplers import WholeGraphs
from sgcl.trainer import Epoch
from sgcl.views import Compose

MIXTURE = torch.tensor([[3.0, 9.0], [7.0, 2.0], [0.8, 0.2]])


def made(**chosen) -> ProGCLGraphs:
    torch.manual_seed(0)
    return ProGCLGraphs(4, **{"hidden_channels": 8, "start_epoch": 3, **chosen})


def fitted(**chosen) -> ProGCLGraphs:
    method = made(**chosen)
    method.mixture.copy_(MIXTURE)
    return method


def lower(x: float) -> float:
    """The probability of the first kind, by the densities themselves."""
    alpha, beta, share = MIXTURE.tolist()
    density = [c * math.gamma(a + b) / math.gamma(a) / math.gamma(b) * x ** (a - 1) * (1 - x) ** (b - 1)
               for a, b, c in zip(alpha, beta, share, strict=True)]
    return density[0] / sum(density)


def slow_loss(z1: torch.Tensor, z2: torch.Tensor, scheme: str, order: list[int], temperature: float = 0.2) -> float:
    cosine = torch.nn.functional.cosine_similarity(z1[:, None], z2[None], dim=2).tolist()
    total = 0.0
    for i, row in enumerate(cosine):
        others = [k for k in range(len(row)) if k != i]
        weight = {k: lower((row[k] + 1) / 2) * (row[k] + 1) / 2 for k in others}
        mean = sum(weight.values()) / len(others)
        p = math.exp(row[i] / temperature)
        if scheme == "weight":
            q = sum(weight[k] / mean * math.exp(row[k] / temperature) for k in others)
        else:
            q = sum(math.exp(row[k] / temperature) for k in others)
            heaviest = sorted(others, key=lambda k: -weight[k])
            for here, there in enumerate(order):
                a, b = heaviest[here], heaviest[there]
                q += math.exp((weight[a] * row[a] + weight[b] * row[b]) / (weight[a] + weight[b]) / temperature)
        total -= math.log(p / (p + q))
    return total / len(cosine)


@pytest.mark.parametrize("scheme", ["weight", "mix"])
def test_until_the_start_all_negatives_count_alike(scheme):
    graph, method = rings_and_paths(), made(scheme=scheme)
    for epoch in (1, 2, 4):
        method.before_epoch(graph, epoch, 5, seeded())
    views = method.augment(graph, seeded(2))
    z1, z2 = (method.head(method.embed(view)) for view in views[:2])
    assert not method.mixture.any()
    assert torch.allclose(method.loss(views), graph_nce(z1, z2, positive_in=True))


@pytest.mark.parametrize("scheme", ["weight", "mix"])
def test_from_the_start_on_it_is_the_formula(scheme):
    graph, method = rings_and_paths(), fitted(scheme=scheme)
    views = method.augment(graph, seeded(2))
    z1, z2 = (method.head(method.embed(view)).detach().double() for view in views[:2])
    loss = method.loss(views)
    assert float(loss.detach()) == pytest.approx(slow_loss(z1, z2, scheme, views.order.tolist()), rel=1e-4)
    loss.backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in method.parameters())


def test_at_most_half_a_batch_is_mixed():
    graph = rings_and_paths()
    assert len(made(scheme="mix").augment(graph, seeded()).order) == 3
    assert len(made(scheme="mix", mixed=2).augment(graph, seeded()).order) == 2
    assert len(made().augment(graph, seeded()).order) == 0


def test_the_mixture_is_fitted_once_to_cosines_inside_batches(monkeypatch):
    monkeypatch.setattr("sgcl.methods.graphs.graphcl._SIZE", 3)
    monkeypatch.setattr("sgcl.methods.graphs.progcl._APART", -1.0)
    graph, method = rings_and_paths(), made(view2=Compose()).eval()
    with torch.no_grad():
        method.before_epoch(graph, 3, 5, seeded(1))
        u = unit_rows(method.head(method.embed(graph)))
    first, second = torch.randperm(6, generator=seeded(1)).split(3)
    x = torch.stack([(u[i] @ u[k] + 1) / 2 for batch in (first, second) for i in batch for k in batch if i != k])
    expected = torch.stack(BetaMixture.fit(x, prior=0.05)).float()
    torch.testing.assert_close(method.mixture, expected, rtol=1e-2, atol=0)  # the fit magnifies rounding
    expected = method.mixture.clone()
    method.before_epoch(graph, 4, 5, seeded(7))
    assert torch.equal(method.mixture, expected)


def test_cosines_of_one_kind_are_told_and_change_nothing():
    same = collection_of([(5, [(0, 1), (1, 2), (2, 3), (3, 4)])] * 6)
    assert torch.equal(same.x[:5], same.x[5:10])
    method = made(view2=Compose()).eval()
    message = "^ProGCLGraphs: the cosines between graphs are of one kind, so all negatives count alike; a later start_"
    with torch.no_grad(), pytest.warns(UserWarning, match=message):
        method.before_epoch(same, 3, 5, seeded(1))
    assert not method.mixture.any()


@pytest.mark.filterwarnings("ignore:ProGCLGraphs")
@pytest.mark.parametrize("scheme", ["weight", "mix"])
def test_training_cut_off_after_the_fit_goes_on_exactly(scheme, tmp_path, monkeypatch):
    monkeypatch.setattr("sgcl.methods.graphs.progcl._APART", -1.0)
    graph = rings_and_paths()

    def training() -> Estimator:
        return Estimator(hidden_channels=8, scheme=scheme, start_epoch=2, epochs=5, sampler=WholeGraphs(3))

    def cut_off(epoch: Epoch) -> None:
        if epoch.epoch == 3:
            raise KeyboardInterrupt

    whole = training().fit(graph)
    with pytest.raises(KeyboardInterrupt):
        training().fit(graph, callbacks=[cut_off], checkpoint=Checkpoints(tmp_path / "run", every=0))
    resumed = training().fit(graph, checkpoint=Checkpoints(tmp_path / "run", every=0, resume=True))
    assert whole.method.mixture.any()
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]
    assert torch.equal(resumed.transform(graph), whole.transform(graph))
    whole.save(tmp_path / "model")
    assert torch.equal(Estimator.load(tmp_path / "model").method.mixture, whole.method.mixture)


@pytest.mark.parametrize(("chosen", "message"), [
    ({"temperature": 0.01}, "ProGCLGraphs: temperature is 0.01"),
    ({"scheme": "mixed"}, "no ProGCLGraphs scheme named 'mixed'; did you mean 'mix'"),
    ({"start_epoch": 0}, "ProGCLGraphs: start_epoch is 0, expected at least 1"),
    ({"mixed": 0}, "ProGCLGraphs: mixed is 0, expected at least 1"),
    ({"prior": 1.0}, "ProGCLGraphs: prior is 1.0, expected a share between 0 and 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message):
        ProGCLGraphs(4, **chosen)
