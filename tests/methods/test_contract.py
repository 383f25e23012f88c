"""What every method for nodes promises; asked of SGCL with every smoothing, and with two sets of weights in
both similarities.

A method enters by being in METHODS. Only what a signature cannot tell is written down here, by name.
"""

import copy

import promises
import pytest
import torch
from collections_of import seeded
from torch_geometric.data import Data

from sgcl import Estimator, Graph, InputError
from sgcl.methods import METHODS
from sgcl.samplers import FullGraph, RandomNode, RandomWalk
from sgcl.smoothing import SMOOTHINGS

SMALL: dict[str, dict] = {              # sizes for forty nodes, beside hidden_channels
    "bgrl": {"out_channels": 6, "predictor_channels": 8},
    "g-bt": {"out_channels": 6},
    "graphmae2": {"heads": 2},
    "greet": {"neighbors": 3},
    "grlc": {"negatives": 3},
    "gscl": {"samples": 2, "outside": 8},
    "progcl": {"start_epoch": 1},       # before, it is GRACE
}
FLAT: dict[str, str] = {                # parameters whose gradient is 0 whatever the data, a pattern
    "bgrl": r"online\.layers\.\d\.bias",  # a column is standardised afterwards
    "cgra": r"online\.layers\.\d\.bias",
    "cca-ssg": r"encoder\.layers\.1\.bias",
    "g-bt": r"encoder\.layers\.\d\.bias",
}
ADVERSARIAL: set[str] = set()           # a step need not lower the loss
PHASES: dict[str, int] = {"greet": 3}   # epochs until every parameter has had its turn
PAIRS: set[str] = {                     # a batch needs two nodes at least
    "augcl", "bgrl", "cca-ssg", "cgra", "g-bt", "grace", "greet", "progcl"}
WHOLE_GRAPH: dict[str, str] = {}        # no batches: what the message says

NODE_METHODS = [name for name in METHODS if METHODS[name].level == "node"]

CASES = [(name, {}) for name in NODE_METHODS] + [("sgcl", {"smoothing": smoothing}) for smoothing in SMOOTHINGS] + [
    ("sgcl", {"smoothing": "bilateral", "similarity": similarity, "shared": False})
    for similarity in ("cosine", "correlation")] + [
    ("sgcl", {"embedding": "features"}), ("progcl", {"scheme": "mix"}), ("augcl", {"pretrain": 0.0}),
    ("gscl", {"ranking": "listwise"})]

every_case = pytest.mark.parametrize(
    ("name", "chosen"), CASES, ids=["-".join([name, *map(str, chosen.values())]) for name, chosen in CASES])


def estimator(name: str, chosen: dict, **more) -> Estimator:
    return promises.small(name, **{**SMALL.get(name, {}), **chosen, **more})


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


@every_case
def test_the_loss_is_a_finite_number_and_its_gradient_reaches_every_parameter(name, chosen, graph):
    promises.check_gradients(promises.begun(estimator(name, chosen), graph), graph, flat=FLAT.get(name),
                             epochs=PHASES.get(name, 1))


@pytest.mark.parametrize(("name", "least"), [("cgra", 0.02), ("greet", 0.02), ("gscl", 1e-3)])
def test_a_low_temperature_does_not_overflow(name, least, graph):
    promises.check_finite(promises.begun(estimator(name, {"temperature": least}), graph), graph)


@every_case
def test_steps_on_fixed_views_lower_the_loss(name, chosen, graph):
    if name in ADVERSARIAL:
        pytest.skip("one part of the method works against the other")
    promises.check_steps(promises.begun(estimator(name, chosen), graph), graph)


@every_case
def test_embeddings_are_finite_and_follow_the_nodes_when_they_are_renumbered(name, chosen, ring):
    new = torch.randperm(ring.num_nodes, generator=seeded(1))             # node i becomes node new[i]
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
    promises.check_seeds(lambda seed: estimator(name, chosen, seed=seed, dropout=0.2), ring)


@every_case
def test_labels_change_nothing(name, chosen, ring):
    shuffled, without = ring.clone(), ring.clone()
    shuffled.y = ring.y[torch.randperm(len(ring.y), generator=seeded(2))]
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
    promises.check_saved(estimator(name, chosen).fit(ring), ring, tmp_path)


@every_case
def test_sparse_and_dense_features_agree(name, chosen, graph):
    promises.check_sparse(estimator(name, chosen), graph)


@every_case
def test_a_batch_without_edges_trains(name, chosen, graph):
    lonely = promises.without_edges(graph)
    promises.check_finite(promises.begun(estimator(name, chosen), lonely), lonely)


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
    promises.check_views(promises.begun(estimator(name, chosen), graph), graph)


@pytest.mark.parametrize("name", NODE_METHODS)
def test_a_part_of_a_larger_graph_is_a_graph_of_its_own(name, graph):
    part = graph.subgraph(torch.arange(10, 40))
    sampler = FullGraph() if name in WHOLE_GRAPH else RandomWalk(batch_size=16, length=3, batches=2)
    fitted, expected = (estimator(name, {}, sampler=sampler).fit(one) for one in (part, part.replace(n_id=None)))
    assert torch.equal(fitted.transform(part), expected.transform(part))


@pytest.mark.parametrize("name", NODE_METHODS)
def test_training_cut_off_within_an_epoch_goes_on_exactly(name, ring, tmp_path):
    sampler = FullGraph(batches=2) if name in WHOLE_GRAPH else RandomWalk(batch_size=16, length=3, batches=2)
    promises.check_resumed(lambda: estimator(name, {}, sampler=sampler, epochs=4, dropout=0.2, schedule="cosine"), ring,
                           tmp_path, cut="epoch-000001-batch-000001")


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


@pytest.mark.parametrize("name", NODE_METHODS)
def test_no_epochs_give_the_weights_it_starts_from(name, ring):
    model = estimator(name, {}, epochs=0).fit(ring)
    assert model.transform(ring).isfinite().all()
    started = model.untrained(ring.num_features).state_dict()
    assert all(torch.equal(value, started[key]) for key, value in model.method.state_dict().items() if key in started)


@pytest.mark.parametrize("name", NODE_METHODS)
def test_a_batch_of_one_node_trains_or_is_told(name, ring):
    one = estimator(name, {}, sampler=RandomNode(batch_size=1))
    if name in PAIRS:
        with pytest.raises(InputError, match=r"a batch of (1 node|one node|one) has no .*: draw larger batches"):
            one.fit(ring)
    else:
        assert one.fit(ring).transform(ring).isfinite().all()


@every_case
def test_stages_begin_within_the_training_and_have_numbers_of_their_own(name, chosen, ring):
    method = estimator(name, chosen).untrained(ring.num_features)
    first = method.stages(12)
    assert first[0] == 1
    assert first[-1] <= 12
    assert len({method.stage(epoch, 12) for epoch in range(1, 13)}) == len(first)
    assert len({method.stage(epoch, 12) for epoch in first}) == len(first)
