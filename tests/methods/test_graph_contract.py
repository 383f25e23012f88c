"""What every method for collections of graphs promises.

A method enters by being in METHODS. Only what a signature cannot tell is written down here, by name.
"""

import copy
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from sgcl import Estimator, Graph, InputError
from sgcl.checkpoints import Checkpoints
from sgcl.estimator import estimator_for
from sgcl.graph import side_by_side
from sgcl.methods import METHODS, Method
from sgcl.samplers import FullGraph, WholeGraphs
from sgcl.settings import known
from sgcl.smoothing import SMOOTHINGS
from sgcl.sparse import CSR, SparseFeatures
from sgcl.trainer import Epoch

SMALL: dict[str, dict] = {              # sizes and rates for a dozen small graphs, beside hidden_channels
    "lagraph": {"mask_rate": 0.3},
}
FLAT: dict[str, str] = {}               # parameters whose gradient is 0 whatever the data, a pattern
ADVERSARIAL = {"ad-gcl"}                # a step need not lower the loss
NO_CHANCE = {"infograph", "mvgrl-graphs"}  # views that nothing is drawn for

GRAPH_METHODS = [name for name in METHODS if METHODS[name].level == "graph"]
CASES = [(name, {}) for name in GRAPH_METHODS] + [("sgcl-graphs", {"smoothing": smoothing}) for smoothing in SMOOTHINGS]

every_method = pytest.mark.parametrize("name", GRAPH_METHODS)
every_case = pytest.mark.parametrize(
    ("name", "chosen"), CASES, ids=["-".join([name, *map(str, chosen.values())]) for name, chosen in CASES])


def dozen() -> list[Data]:
    """Rings and stars of 4 to 8 nodes, some with chords, features of their own and two classes."""
    chance, graphs = torch.Generator().manual_seed(3), []
    for number in range(12):
        nodes = torch.arange(4 + number % 5)
        ring = torch.stack([nodes, (nodes + 1) % len(nodes)])
        star = torch.stack([torch.zeros(len(nodes) - 1, dtype=torch.long), nodes[1:]])
        edges = ring if number % 2 else star
        x = torch.rand(len(nodes), 5, generator=chance) + torch.eye(5)[number % 2]
        graphs.append(Data(x=x, edge_index=torch.cat([edges, torch.tensor([[1], [3]])] if number % 3 else [edges], 1),
                           y=torch.tensor([number % 2])))
    return graphs


GRAPHS = dozen()
COLLECTION = Graph.from_data(GRAPHS)


def estimator(name: str, chosen: dict, **more) -> Estimator:
    small = {"hidden_channels": 8, "epochs": 2, "lr": 0.01, "sampler": WholeGraphs(size=12), **SMALL.get(name, {}),
             **chosen, **more}
    return estimator_for(name)(**{key: value for key, value in small.items() if key in known(name)})


def begun(name: str, chosen: dict, collection: Graph) -> Method:
    """The method as it is when the first batch comes."""
    method = estimator(name, chosen).untrained(collection.num_features)
    torch.manual_seed(0)
    method.start(collection)
    with torch.no_grad():
        method.eval().before_epoch(collection, 1, 20, chance(9))
    return method.train()


def loss_of(method: Method, views: tuple) -> torch.Tensor:
    """The loss, with the same dropout each time."""
    torch.manual_seed(0)
    return method.loss(views)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def renumbered(graph: Data, seed: int) -> Data:
    new = torch.randperm(graph.num_nodes, generator=chance(seed))         # node i becomes node new[i]
    x = torch.empty_like(graph.x)
    x[new] = graph.x
    return Data(x=x, edge_index=new[graph.edge_index])


@every_case
def test_the_loss_is_a_finite_number_and_its_gradient_reaches_every_parameter(name, chosen):
    method = begun(name, chosen, COLLECTION)
    loss = loss_of(method, method.augment(COLLECTION, chance()))
    assert loss.shape == ()
    assert torch.isfinite(loss)
    loss.backward()
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
def test_steps_on_fixed_views_lower_the_loss(name, chosen):
    if name in ADVERSARIAL:
        pytest.skip("one part of the method works against the other")
    method = begun(name, chosen, COLLECTION)
    views = method.augment(COLLECTION, chance())
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
def test_an_embedding_is_the_graph_s_own_whatever_its_nodes_are_called_and_whatever_stands_beside_it(name, chosen):
    fitted = estimator(name, chosen, sampler=WholeGraphs(size=4)).fit(GRAPHS)
    embedding = fitted.transform(GRAPHS)
    assert len(embedding) == len(GRAPHS)
    assert embedding.isfinite().all()
    assert embedding.std(0).max() > 0
    others = [renumbered(graph, seed) for seed, graph in enumerate(GRAPHS)]
    close = {"rtol": 1e-4, "atol": 1e-5 * float(embedding.abs().max())}
    assert torch.allclose(fitted.transform(others), embedding, **close)

    @given(st.lists(st.integers(0, len(GRAPHS) - 1), min_size=1, max_size=14))
    @settings(max_examples=15)
    def in_any_company(numbers):
        batch = COLLECTION.take(torch.tensor(numbers))
        assert torch.allclose(fitted.transform(batch), embedding[numbers], **close)

    in_any_company()


@given(st.lists(st.integers(0, len(GRAPHS) - 1), min_size=1, max_size=14), st.sampled_from(sorted(SMOOTHINGS)))
def test_the_positives_of_a_graph_are_its_own_whatever_stands_beside_it(numbers, smoothing):
    method = begun("sgcl-graphs", {"smoothing": smoothing}, COLLECTION)
    batch = COLLECTION.take(torch.tensor(numbers))
    together = method.smoothing(batch.adj).to_dense()
    alone = [method.smoothing(COLLECTION.take(torch.tensor([number])).adj).to_dense() for number in numbers]
    assert torch.allclose(together, torch.block_diag(*alone), atol=1e-6)


@every_case
def test_a_seed_settles_everything(name, chosen):
    first, again, other = (estimator(name, chosen, seed=seed, dropout=0.2).fit(GRAPHS) for seed in (5, 5, 6))
    weights = first.method.state_dict()
    assert all(torch.equal(weights[key], value) for key, value in again.method.state_dict().items())
    assert torch.equal(first.transform(GRAPHS), again.transform(GRAPHS))
    assert [epoch.loss for epoch in first.history] == [epoch.loss for epoch in again.history]
    assert not torch.allclose(first.transform(GRAPHS), other.transform(GRAPHS))
    assert [epoch.loss for epoch in first.history] != [epoch.loss for epoch in other.history]


@every_method
def test_labels_change_nothing(name):
    shuffled, without = dozen(), dozen()
    for graph, other in zip(shuffled, without, strict=True):
        graph.y = 1 - graph.y
        del other.y
    expected = estimator(name, {}).fit(GRAPHS).transform(GRAPHS)
    for graphs in (shuffled, without):
        assert torch.equal(estimator(name, {}).fit(graphs).transform(graphs), expected)


@every_method
def test_a_list_and_one_data_with_batch_are_the_same(name):
    one = side_by_side(GRAPHS)
    assert torch.equal(estimator(name, {}).fit(one).transform(one), estimator(name, {}).fit(GRAPHS).transform(GRAPHS))


@every_method
def test_the_input_is_left_as_it_is(name):
    graphs, before, collection = dozen(), dozen(), Graph.from_data(GRAPHS)
    kept = copy.deepcopy(collection)
    estimator(name, {}).fit(graphs).transform(graphs)
    estimator(name, {}).fit(collection).transform(collection)
    for graph, old in zip(graphs, before, strict=True):
        assert graph.keys() == old.keys()
        assert all(torch.equal(graph[key], old[key]) for key in old.keys())  # noqa: SIM118 (not a dict)
    for part in ("ptr", "idx"):
        assert torch.equal(getattr(collection.adj, part), getattr(kept.adj, part))
    assert torch.equal(collection.x, kept.x)
    assert torch.equal(collection.graph_ptr, kept.graph_ptr)
    assert collection.adj.value is None
    assert collection.n_id is None


@every_case
def test_a_saved_model_comes_back_exactly(name, chosen, tmp_path):
    fitted = estimator(name, chosen).fit(GRAPHS)
    fitted.save(tmp_path)
    loaded = Estimator.load(tmp_path)
    assert type(loaded) is type(fitted)
    assert loaded.settings == fitted.settings
    assert torch.equal(loaded.transform(GRAPHS), fitted.transform(GRAPHS))


@every_method
def test_training_cut_off_within_an_epoch_goes_on_exactly(name, tmp_path):
    def training() -> Estimator:
        return estimator(name, {}, sampler=WholeGraphs(size=4), epochs=4, dropout=0.2, schedule="cosine")

    def cut_off(epoch: Epoch) -> None:
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    whole = training().fit(GRAPHS)
    with pytest.raises(KeyboardInterrupt):
        training().fit(GRAPHS, callbacks=[cut_off], checkpoint=Checkpoints(tmp_path, every=0))
    assert max(file.name for file in tmp_path.iterdir()).startswith("epoch-000001-batch-000002")  # within epoch 2
    resumed = training().fit(GRAPHS, checkpoint=Checkpoints(tmp_path, every=0, resume=True))
    weights = whole.method.state_dict()
    assert all(torch.equal(weights[key], value) for key, value in resumed.method.state_dict().items())
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]
    assert torch.equal(resumed.transform(GRAPHS), whole.transform(GRAPHS))


@every_case
def test_sparse_and_dense_features_agree(name, chosen):
    sparse = COLLECTION.replace(x=SparseFeatures.from_dense(COLLECTION.x))
    methods = [begun(name, chosen, one).eval() for one in (COLLECTION, sparse)]
    assert torch.allclose(methods[0].embed(sparse), methods[0].embed(COLLECTION), atol=1e-5)
    losses = [loss_of(method, method.augment(one, chance(3)))
              for method, one in zip(methods, (COLLECTION, sparse), strict=True)]
    assert torch.allclose(*losses, rtol=1e-5)


@every_case
def test_a_batch_without_edges_and_with_graphs_of_one_node_trains(name, chosen):
    nodes = COLLECTION.num_nodes
    lonely = COLLECTION.replace(adj=CSR(torch.zeros(nodes + 1, dtype=torch.long), torch.empty(0, dtype=torch.long),
                                        symmetric=True), graph_ptr=torch.tensor([0, 1, 2, nodes - 1, nodes]))
    method = begun(name, chosen, lonely)
    loss = method.loss(method.augment(lonely, chance()))
    loss.backward()
    assert torch.isfinite(loss)
    assert all(parameter.grad.isfinite().all() for parameter in method.parameters() if parameter.grad is not None)
    embedding = method.embed(lonely)
    assert len(embedding) == 4
    assert embedding.isfinite().all()


@every_case
def test_what_augment_makes_is_a_tuple_of_parts_that_move_and_depends_on_the_generator_alone(name, chosen):
    method = begun(name, chosen, COLLECTION)
    views, again = method.augment(COLLECTION, chance(4)), method.augment(COLLECTION, chance(4))
    moved = type(views)(*(part.to("cpu") for part in views))
    assert loss_of(method, views) == loss_of(method, again) == loss_of(method, moved)
    others = [loss_of(method, method.augment(COLLECTION, chance(seed))) for seed in range(5, 15)]
    assert any(loss != loss_of(method, views) for loss in others) == (name not in NO_CHANCE)


@every_method
def test_a_single_graph_is_refused(name, ring):
    with pytest.raises(InputError, match=f"{name} embeds graphs of a collection, this is a single graph"):
        estimator(name, {}).fit(ring)


@every_method
def test_batches_are_of_whole_graphs(name):
    with pytest.raises(InputError, match=f"{name} takes batches of whole graphs: the sampler is RandomWalk, expected"):
        estimator(name, {}, sampler="walk")
    embedding = estimator(name, {}, sampler="full").fit(GRAPHS).transform(GRAPHS)
    assert embedding.isfinite().all()


def test_methods_for_nodes_refuse_collections():
    with pytest.raises(InputError, match="grace embeds the nodes of a graph, this is a collection of graphs"):
        estimator_for("grace")(epochs=1, sampler=FullGraph()).fit(GRAPHS)
