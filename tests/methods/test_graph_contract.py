"""What every method for collections of graphs promises.

A method enters by being in METHODS. Only what a signature cannot tell is written down here, by name.
"""

import copy

import promises
import pytest
import torch
from collections_of import seeded
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from sgcl import Estimator, Graph, InputError
from sgcl.estimator import estimator_for
from sgcl.graph import side_by_side
from sgcl.methods import METHODS
from sgcl.samplers import FullGraph, WholeGraphs
from sgcl.smoothing import SMOOTHINGS

SMALL: dict[str, dict] = {              # sizes and rates for a dozen small graphs, beside hidden_channels
    "lagraph": {"mask_rate": 0.3},
}
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
    return promises.small(name, **{"sampler": WholeGraphs(size=12), **SMALL.get(name, {}), **chosen, **more})


def renumbered(graph: Data, seed: int) -> Data:
    new = torch.randperm(graph.num_nodes, generator=seeded(seed))         # node i becomes node new[i]
    x = torch.empty_like(graph.x)
    x[new] = graph.x
    return Data(x=x, edge_index=new[graph.edge_index])


@every_case
def test_the_loss_is_a_finite_number_and_its_gradient_reaches_every_parameter(name, chosen):
    promises.check_gradients(promises.begun(estimator(name, chosen), COLLECTION), COLLECTION)


@every_case
def test_steps_on_fixed_views_lower_the_loss(name, chosen):
    if name in ADVERSARIAL:
        pytest.skip("one part of the method works against the other")
    promises.check_steps(promises.begun(estimator(name, chosen), COLLECTION), COLLECTION)


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
    method = promises.begun(estimator("sgcl-graphs", {"smoothing": smoothing}), COLLECTION)
    batch = COLLECTION.take(torch.tensor(numbers))
    together = method.smoothing(batch.adj).to_dense()
    alone = [method.smoothing(COLLECTION.take(torch.tensor([number])).adj).to_dense() for number in numbers]
    assert torch.allclose(together, torch.block_diag(*alone), atol=1e-6)


@every_case
def test_a_seed_settles_everything(name, chosen):
    promises.check_seeds(lambda seed: estimator(name, chosen, seed=seed, dropout=0.2), GRAPHS)


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
    promises.check_saved(estimator(name, chosen).fit(GRAPHS), GRAPHS, tmp_path)


@every_method
def test_training_cut_off_within_an_epoch_goes_on_exactly(name, tmp_path):
    promises.check_resumed(lambda: estimator(name, {}, sampler=WholeGraphs(size=4), epochs=4, dropout=0.2,
                                             schedule="cosine"), GRAPHS, tmp_path, cut="epoch-000001-batch-000002")


@every_case
def test_sparse_and_dense_features_agree(name, chosen):
    promises.check_sparse(estimator(name, chosen), COLLECTION)


@every_case
def test_a_batch_without_edges_and_with_graphs_of_one_node_trains(name, chosen):
    nodes = COLLECTION.num_nodes
    lonely = promises.without_edges(COLLECTION).replace(graph_ptr=torch.tensor([0, 1, 2, nodes - 1, nodes]))
    assert len(promises.check_finite(promises.begun(estimator(name, chosen), lonely), lonely)) == 4


@every_case
def test_what_augment_makes_is_a_tuple_of_parts_that_move_and_depends_on_the_generator_alone(name, chosen):
    promises.check_views(promises.begun(estimator(name, chosen), COLLECTION), COLLECTION, chance=name not in NO_CHANCE)


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
