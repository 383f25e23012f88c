"""What every method promises; asked of SGCL with every smoothing, both similarities, one set of weights and two."""

import copy

import pytest
import torch
from torch_geometric.data import Data

from sgcl import Estimator, Graph
from sgcl.estimator import estimator_for
from sgcl.methods import METHODS
from sgcl.smoothing import SMOOTHINGS
from sgcl.sparse import CSR, SparseFeatures

CASES = [(name, {}) for name in METHODS] + [
    ("sgcl", {"smoothing": smoothing, "similarity": similarity, "shared": shared})
    for smoothing in SMOOTHINGS for similarity in ("cosine", "correlation") for shared in (True, False)]

every_case = pytest.mark.parametrize(
    ("name", "chosen"), CASES, ids=["-".join([name, *map(str, chosen.values())]) for name, chosen in CASES])


def estimator(name: str, chosen: dict, **more) -> Estimator:
    return estimator_for(name)(**{"hidden_channels": 8, "epochs": 2, "lr": 0.01, **chosen, **more})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


@every_case
def test_the_loss_is_a_finite_number_and_its_gradient_reaches_every_parameter(name, chosen, graph):
    method = estimator(name, chosen).untrained(graph.num_features)
    loss = method.loss(method.augment(graph, chance()))
    assert loss.shape == ()
    assert torch.isfinite(loss)
    loss.backward()
    for parameter_name, parameter in method.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert torch.isfinite(parameter.grad).all(), parameter_name
        assert parameter.grad.abs().max() > 0, parameter_name


@every_case
def test_steps_on_fixed_views_lower_the_loss(name, chosen, graph):
    method = estimator(name, chosen).untrained(graph.num_features)
    views = method.augment(graph, chance())
    optimizer = torch.optim.Adam(method.parameters(), lr=0.01)
    losses = []
    for _ in range(20):
        losses.append(method.loss(views))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert method.loss(views) < losses[0]


@every_case
def test_embeddings_are_finite_and_follow_the_nodes_when_they_are_renumbered(name, chosen, ring):
    new = torch.randperm(ring.num_nodes, generator=chance(1))             # node i becomes node new[i]
    x = torch.empty_like(ring.x)
    x[new] = ring.x
    renumbered = Data(x=x, edge_index=new[ring.edge_index])
    fitted = estimator(name, chosen).fit(ring)
    embedding = fitted.transform(ring)
    assert len(embedding) == ring.num_nodes
    assert embedding.isfinite().all()
    assert embedding.std(0).max() > 0
    assert torch.allclose(fitted.transform(renumbered)[new], embedding, atol=1e-5)


@every_case
def test_a_seed_settles_everything(name, chosen, ring):
    first, again, other = (estimator(name, chosen, seed=seed, dropout=0.2).fit(ring) for seed in (5, 5, 6))
    weights = first.method.state_dict()
    assert all(torch.equal(weights[key], value) for key, value in again.method.state_dict().items())
    assert torch.equal(first.transform(ring), again.transform(ring))
    assert [epoch.loss for epoch in first.history] == [epoch.loss for epoch in again.history]
    assert not torch.allclose(first.transform(ring), other.transform(ring))
    assert [epoch.loss for epoch in first.history] != [epoch.loss for epoch in other.history]


@every_case
def test_labels_change_nothing(name, chosen, ring):
    shuffled, without = ring.clone(), ring.clone()
    shuffled.y = ring.y[torch.randperm(len(ring.y), generator=chance(2))]
    del without.y
    expected = estimator(name, chosen).fit(ring)
    for data in (shuffled, without):
        fitted = estimator(name, chosen).fit(data)
        assert torch.equal(fitted.transform(data), expected.transform(ring))


@every_case
def test_the_input_is_left_as_it_is(name, chosen, ring, graph):
    data, before = ring.clone(), ring.clone()
    before_graph = copy.deepcopy(graph)
    estimator(name, chosen).fit(data).transform(data)
    estimator(name, chosen).fit(graph).transform(graph)
    assert data.keys() == before.keys()
    assert all(torch.equal(data[key], before[key]) for key in before.keys())  # noqa: SIM118 (not a dict)
    assert torch.equal(graph.x, before_graph.x)
    assert torch.equal(graph.adj.ptr, before_graph.adj.ptr)
    assert torch.equal(graph.adj.idx, before_graph.adj.idx)
    assert graph.adj.value is None
    assert graph.n_id is None


@every_case
def test_a_saved_model_comes_back_exactly(name, chosen, ring, tmp_path):
    fitted = estimator(name, chosen).fit(ring)
    fitted.save(tmp_path)
    loaded = Estimator.load(tmp_path)
    assert type(loaded) is type(fitted)
    assert loaded.settings == fitted.settings
    assert torch.equal(loaded.transform(ring), fitted.transform(ring))


@every_case
def test_sparse_and_dense_features_agree(name, chosen, graph):
    sparse = graph.replace(x=SparseFeatures.from_dense(graph.x))
    method = estimator(name, chosen).untrained(graph.num_features).eval()
    assert torch.allclose(method.embed(sparse), method.embed(graph), atol=1e-5)
    losses = [method.loss(method.augment(one, chance(3))) for one in (graph, sparse)]
    assert torch.allclose(*losses, rtol=1e-5)


@every_case
def test_a_batch_without_edges_trains(name, chosen, graph):
    nodes = graph.num_nodes
    lonely = graph.replace(adj=CSR(torch.zeros(nodes + 1, dtype=torch.long), torch.empty(0, dtype=torch.long),
                                   symmetric=True))
    method = estimator(name, chosen).untrained(graph.num_features)
    loss = method.loss(method.augment(lonely, chance()))
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(parameter.grad).all() for parameter in method.parameters())
    assert method.embed(lonely).isfinite().all()


@every_case
def test_isolated_nodes_and_self_loops_just_work(name, chosen, ring):
    data = Data(x=torch.cat([ring.x, torch.ones(2, ring.num_features)]),
                edge_index=torch.cat([ring.edge_index, torch.tensor([[0, 41], [0, 41]])], dim=1))
    without_loops = Data(x=data.x, edge_index=ring.edge_index)
    embedding = estimator(name, chosen).fit(data).transform(data)
    assert embedding.shape[0] == 42
    assert torch.equal(embedding, estimator(name, chosen).fit(without_loops).transform(without_loops))


@every_case
def test_what_augment_makes_is_a_tuple_of_parts_that_move_and_depends_on_the_generator_alone(name, chosen, graph):
    method = estimator(name, chosen).untrained(graph.num_features)
    views, again = method.augment(graph, chance(4)), method.augment(graph, chance(4))
    moved = type(views)(*(part.to("cpu") for part in views))
    assert method.loss(views) == method.loss(again) == method.loss(moved)
    assert method.loss(views) != method.loss(method.augment(graph, chance(5)))
