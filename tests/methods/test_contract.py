"""What every method for nodes promises; asked of SGCL with every smoothing, and with two sets of weights in
both similarities.

A method enters by being in METHODS. Only what a signature cannot tell is written down here, by name.
"""

import copy
import re

import pytest
import torch
from torch_geometric.data import Data

from sgcl import Estimator, Graph, InputError
from sgcl.checkpoints import Checkpoints
from sgcl.estimator import estimator_for
from sgcl.methods import METHODS, Method
from sgcl.samplers import FullGraph, RandomWalk
from sgcl.settings import known
from sgcl.smoothing import SMOOTHINGS
from sgcl.sparse import CSR, SparseFeatures
from sgcl.trainer import Epoch

SMALL: dict[str, dict] = {              # sizes for forty nodes, beside hidden_channels
    "bgrl": {"out_channels": 6, "predictor_channels": 8},
    "g-bt": {"out_channels": 6},
    "graphmae2": {"heads": 2},
    "greet": {"neighbors": 3},
    "grlc": {"negatives": 3},
    "gscl": {"samples": 2, "outside": 8},
}
FLAT: dict[str, str] = {                # parameters whose gradient is 0 whatever the data, a pattern
    "bgrl": r"online\.layers\.\d\.bias",  # a column is standardised afterwards
    "cgra": r"online\.layers\.\d\.bias",
    "cca-ssg": r"encoder\.layers\.1\.bias",
    "g-bt": r"encoder\.layers\.\d\.bias",
}
ADVERSARIAL: set[str] = set()           # a step need not lower the loss
PHASES: dict[str, int] = {"greet": 3}   # epochs until every parameter has had its turn
WHOLE_GRAPH: dict[str, str] = {}        # no batches: what the message says

NODE_METHODS = [name for name in METHODS if METHODS[name].level == "node"]

CASES = [(name, {}) for name in NODE_METHODS] + [("sgcl", {"smoothing": smoothing}) for smoothing in SMOOTHINGS] + [
    ("sgcl", {"smoothing": "bilateral", "similarity": similarity, "shared": False})
    for similarity in ("cosine", "correlation")]

every_case = pytest.mark.parametrize(
    ("name", "chosen"), CASES, ids=["-".join([name, *map(str, chosen.values())]) for name, chosen in CASES])


def estimator(name: str, chosen: dict, **more) -> Estimator:
    small = {"hidden_channels": 8, "epochs": 2, "lr": 0.01, **SMALL.get(name, {}), **chosen, **more}
    return estimator_for(name)(**{key: value for key, value in small.items() if key in known(name)})


def begun(name: str, chosen: dict, graph: Graph) -> Method:
    """The method as it is when the first batch comes."""
    method = estimator(name, chosen).untrained(graph.num_features)
    torch.manual_seed(0)
    method.start(graph)
    with torch.no_grad():
        method.eval().before_epoch(graph, 1, 20, chance(9))
    return method.train()


def loss_of(method: Method, views: tuple) -> torch.Tensor:
    """The loss, with the same dropout each time."""
    torch.manual_seed(0)
    return method.loss(views)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


@every_case
def test_the_loss_is_a_finite_number_and_its_gradient_reaches_every_parameter(name, chosen, graph):
    method = begun(name, chosen, graph)
    loss = loss_of(method, method.augment(graph, chance()))
    assert loss.shape == ()
    assert torch.isfinite(loss)
    loss.backward()
    for epoch in range(2, 1 + PHASES.get(name, 1)):
        with torch.no_grad():
            method.before_epoch(graph, epoch, 20, chance(9))
        loss_of(method, method.augment(graph, chance())).backward()
    stepped = {id(parameter) for group in method.parameter_groups(0.01, 0.0) for parameter in group["params"]}
    for parameter_name, parameter in method.named_parameters():
        assert (id(parameter) in stepped) == parameter.requires_grad, parameter_name
        if not parameter.requires_grad:                                   # a moving average
            assert parameter.grad is None, parameter_name
            continue
        assert parameter.grad is not None, parameter_name
        assert torch.isfinite(parameter.grad).all(), parameter_name
        flat = name in FLAT and re.fullmatch(FLAT[name], parameter_name)
        assert (parameter.grad.abs().max() < 1e-5) if flat else (parameter.grad.abs().max() > 0), parameter_name


@every_case
def test_steps_on_fixed_views_lower_the_loss(name, chosen, graph):
    if name in ADVERSARIAL:
        pytest.skip("one part of the method works against the other")
    method = begun(name, chosen, graph)
    views = method.augment(graph, chance())
    optimizer = torch.optim.Adam(method.parameter_groups(0.01, 0.0), lr=0.01)
    losses = []
    for step in range(20):
        losses.append(loss_of(method, views))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
        method.after_step((step + 1) / 20)
    assert loss_of(method, views) < losses[0]


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
    methods = [begun(name, chosen, one).eval() for one in (graph, sparse)]
    assert torch.allclose(methods[0].embed(sparse), methods[0].embed(graph), atol=1e-5)
    losses = [method.loss(method.augment(one, chance(3))) for method, one in zip(methods, (graph, sparse), strict=True)]
    assert torch.allclose(*losses, rtol=1e-5)


@every_case
def test_a_batch_without_edges_trains(name, chosen, graph):
    nodes = graph.num_nodes
    lonely = graph.replace(adj=CSR(torch.zeros(nodes + 1, dtype=torch.long), torch.empty(0, dtype=torch.long),
                                   symmetric=True))
    method = begun(name, chosen, lonely)
    loss = method.loss(method.augment(lonely, chance()))
    loss.backward()
    assert torch.isfinite(loss)
    assert all(parameter.grad.isfinite().all() for parameter in method.parameters() if parameter.grad is not None)
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
    method = begun(name, chosen, graph)
    views, again = method.augment(graph, chance(4)), method.augment(graph, chance(4))
    moved = type(views)(*(part.to("cpu") for part in views))
    assert loss_of(method, views) == loss_of(method, again) == loss_of(method, moved)
    assert loss_of(method, views) != loss_of(method, method.augment(graph, chance(5)))


@pytest.mark.parametrize("name", NODE_METHODS)
def test_a_part_of_a_larger_graph_is_a_graph_of_its_own(name, graph):
    part = graph.subgraph(torch.arange(10, 40))
    sampler = FullGraph() if name in WHOLE_GRAPH else RandomWalk(batch_size=16, length=3, batches=2)
    fitted, expected = (estimator(name, {}, sampler=sampler).fit(one) for one in (part, part.replace(n_id=None)))
    assert torch.equal(fitted.transform(part), expected.transform(part))


@pytest.mark.parametrize("name", NODE_METHODS)
def test_training_cut_off_within_an_epoch_goes_on_exactly(name, ring, tmp_path):
    sampler = FullGraph(batches=2) if name in WHOLE_GRAPH else RandomWalk(batch_size=16, length=3, batches=2)

    def training() -> Estimator:
        return estimator(name, {}, sampler=sampler, epochs=4, dropout=0.2, schedule="cosine")

    def cut_off(epoch: Epoch) -> None:
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    whole = training().fit(ring)
    with pytest.raises(KeyboardInterrupt):
        training().fit(ring, callbacks=[cut_off], checkpoint=Checkpoints(tmp_path, every=0))
    assert max(file.name for file in tmp_path.iterdir()).startswith("epoch-000001-batch-000001")  # within epoch 2
    resumed = training().fit(ring, checkpoint=Checkpoints(tmp_path, every=0, resume=True))
    weights = whole.method.state_dict()
    assert all(torch.equal(weights[key], value) for key, value in resumed.method.state_dict().items())
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]
    assert torch.equal(resumed.transform(ring), whole.transform(ring))


@pytest.mark.parametrize("name", NODE_METHODS)
def test_batches_of_walks_train_or_the_method_says_why_not(name, ring):
    walks = estimator(name, {}, sampler=RandomWalk(batch_size=16, length=3, batches=2))
    if name in WHOLE_GRAPH:
        with pytest.raises(InputError, match=WHOLE_GRAPH[name]):
            walks.fit(ring)
        return
    embedding = walks.fit(ring).transform(ring)
    assert len(embedding) == ring.num_nodes
    assert embedding.isfinite().all()
    assert embedding.std(0).max() > 0
