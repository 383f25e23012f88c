import pytest
import torch
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl import ProGCL as Estimator
from sgcl.checkpoints import Checkpoints
from sgcl.losses import heaviest, info_nce
from sgcl.losses.infonce import unit_rows
from sgcl.methods import ProGCL
from sgcl.methods.beta_mixture import BetaMixture
from sgcl.samplers import RandomNode
from sgcl.trainer import Epoch


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def begun(graph: Graph, **chosen) -> ProGCL:
    torch.manual_seed(0)
    method = ProGCL(6, **{"hidden_channels": 8, "start_epoch": 3, "temperature": 0.3, **chosen})
    method.start(graph)
    return method


def fitted(graph: Graph, **chosen) -> ProGCL:
    """After the start, with a mixture and past projections made up for the test."""
    method = begun(graph, **chosen)
    method.mixture.copy_(torch.tensor([[3.0, 9.0], [7.0, 2.0], [0.8, 0.2]]))
    if method.frozen:
        method.past.copy_(torch.stack([unit_rows(torch.randn(40, 8)) for _ in range(2)]))
    return method


def projections(method: ProGCL, *graphs: Graph) -> list[torch.Tensor]:
    return [unit_rows(method.projector(method.embed(graph)).detach()) for graph in graphs]


def weight_of(method: ProGCL, u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """(N, N) the probability of the lower kind times x; in single precision, where near ties rank as in the method."""
    x = (u @ v.T + 1) / 2
    return (BetaMixture(*method.mixture.double()).lower(x) * x).double()


def dense_loss(method: ProGCL, u: torch.Tensor, v: torch.Tensor, weight: torch.Tensor, order: torch.Tensor) -> float:
    """Both schemes as written, all pairs at once."""
    u, v, nobody = u.double(), v.double(), torch.eye(len(u), dtype=torch.bool)
    total = 0.0
    for a, b, w in ((u, v, weight), (v, u, weight.T)):
        w = w.masked_fill(nobody, 0)
        between, inside = (torch.exp(a @ c.T / method.temperature) for c in (b, a))
        p = between.diagonal()
        if method.scheme == "weight":
            q = (w * (between + inside)).sum(1) / (w.sum(1) / (len(u) - 1))
        else:
            heaviest = w.argsort(1, descending=True)[:, :len(order)].sort(1).values
            s, w = (a @ b.T).gather(1, heaviest), w.gather(1, heaviest).clamp(min=1e-12)
            mixed = (w * s + w[:, order] * s[:, order]) / (w + w[:, order])
            q = (between + inside).masked_fill(nobody, 0).sum(1) + (mixed / method.temperature).exp().sum(1)
        total += float((1 + q / p).log().mean()) / 2
    return total


@pytest.mark.parametrize("scheme", ["weight", "mix"])
def test_until_the_start_it_is_grace(graph, scheme):
    method = begun(graph, scheme=scheme)
    for epoch in (1, 2, 4):
        method.before_epoch(graph, epoch, 5, chance())
    views = method.augment(graph, chance(2))
    z1, z2 = projections(method, views.first, views.second)
    assert not method.mixture.any()
    assert torch.allclose(method.loss(views), info_nce(z1, z2, temperature=method.temperature))


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("chosen", [{"scheme": "weight"}, {"scheme": "mix"}, {"scheme": "mix", "mixed": 7}], ids=str)
def test_from_the_start_on_it_is_the_formula(graph, frozen, chosen):
    method = fitted(graph, frozen=frozen, **chosen)
    views = method.augment(graph, chance(2))
    u, v = projections(method, views.first, views.second)
    seen = method.past if frozen else (u, v)
    expected = dense_loss(method, u, v, weight_of(method, *seen), views.order)
    assert float(method.loss(views).detach()) == pytest.approx(expected, rel=1e-5)
    swapped = dense_loss(method, u, v, weight_of(method, *seen).T, views.order)
    assert swapped != pytest.approx(expected, rel=1e-5)                    # whose weights they are matters


def test_the_mixture_is_fitted_once_to_a_hundred_columns(graph):
    method, generator = begun(graph), chance(1)
    with torch.no_grad():
        method.before_epoch(graph, 3, 5, chance(1))
    u, v = projections(method, method.view1(graph, generator), method.view2(graph, generator))
    x = (u @ v[torch.randint(40, (100,), generator=generator)].T + 1) / 2
    expected = torch.stack(BetaMixture.fit(x.view(-1), prior=0.05)).float()
    assert torch.allclose(method.mixture, expected)
    assert torch.equal(method.past, torch.stack([u, v]))
    method.before_epoch(graph, 4, 5, chance(7))
    assert torch.allclose(method.mixture, expected)


def test_weights_begin_after_a_fifth_of_the_epochs_unless_told_when(ring):
    for epochs in (1, 4, 5, 9, 10):
        begins = []
        model = Estimator(hidden_channels=8, epochs=epochs)
        model.fit(ring, callbacks=[lambda epoch: begins.append(bool(model.method.mixture.any()))])  # noqa: B023
        assert begins.index(True) == epochs // 5
    with pytest.raises(InputError, match="ProGCL: its weights begin in epoch 4 of 3, and until then it is GRACE: take"):
        Estimator(hidden_channels=8, start_epoch=4, epochs=3).fit(ring)


def test_a_batch_weighs_its_own_nodes(graph):
    method = fitted(graph)
    nodes = torch.tensor([3, 4, 9, 20, 21, 35])
    views = method.augment(graph.subgraph(nodes), chance(2))
    u, v = projections(method, views.first, views.second)
    expected = dense_loss(method, u, v, weight_of(method, *method.past[:, nodes]), views.order)
    assert float(method.loss(views).detach()) == pytest.approx(expected, rel=1e-5)


def test_frozen_weights_of_the_whole_graph_are_ranked_once(graph, monkeypatch):
    calls = []
    monkeypatch.setattr("sgcl.methods.progcl.heaviest", lambda *given: calls.append(given[1:]) or heaviest(*given))
    method = fitted(graph, scheme="mix", mixed=7)
    whole, part = method.augment(graph, chance()), method.augment(graph.subgraph(torch.arange(9)), chance())
    for views in (whole, whole, part, part):
        method.loss(views)
    assert calls == [(40, 7), (9, 7), (9, 7)]
    method.start(graph)
    method.loss(whole)
    assert calls[3:] == [(40, 7)]
    method = fitted(graph, scheme="mix", mixed=7, frozen=False)
    method.loss(whole), method.loss(whole)
    assert len(calls) == 6


def test_no_more_is_mixed_than_there_are_negatives(graph):
    assert len(begun(graph, scheme="mix").augment(graph, chance()).order) == 39
    assert len(begun(graph, scheme="mix", mixed=5).augment(graph, chance()).order) == 5
    assert len(begun(graph).augment(graph, chance()).order) == 0


@pytest.mark.parametrize("scheme", ["weight", "mix"])
def test_gradients_reach_every_parameter_once_fitted(graph, scheme):
    method = fitted(graph, scheme=scheme)
    method.loss(method.augment(graph, chance())).backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in method.parameters())


@pytest.mark.parametrize("scheme", ["weight", "mix"])
def test_it_trains_past_the_start_in_batches_and_comes_back_from_a_folder(ring, scheme, tmp_path):
    estimator = Estimator(hidden_channels=8, scheme=scheme, start_epoch=2, epochs=3,
                          sampler=RandomNode(batch_size=20, batches=2)).fit(ring)
    estimator.save(tmp_path)
    loaded = Estimator.load(tmp_path)
    assert estimator.method.mixture.any()
    assert torch.equal(loaded.method.mixture, estimator.method.mixture)
    assert torch.equal(loaded.transform(ring), estimator.transform(ring))


@pytest.mark.parametrize("scheme", ["weight", "mix"])
def test_training_cut_off_after_the_fit_goes_on_exactly(ring, scheme, tmp_path):
    def training() -> Estimator:
        return Estimator(hidden_channels=8, scheme=scheme, start_epoch=2, epochs=5, lr=0.01)

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
    ({"temperature": 0.01}, "ProGCL: temperature is 0.01"),
    ({"scheme": "mixed"}, "no ProGCL scheme named 'mixed'; did you mean 'mix'"),
    ({"start_epoch": 0}, "ProGCL: start_epoch is 0, expected at least 1"),
    ({"mixed": 0}, "ProGCL: mixed is 0, expected at least 1"),
    ({"prior": 1.0}, "ProGCL: prior is 1.0, expected a share between 0 and 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        ProGCL(6, **chosen)
    assert "\n" not in str(error.value)


def test_widths_are_those_of_the_paper():
    method = ProGCL(6, hidden_channels=8, projection_channels=5)
    assert [layer.weight.shape for layer in method.encoder.layers] == [(6, 16), (16, 8)]
    assert (method.projector.first.out_features, method.projector.second.out_features) == (5, 8)
