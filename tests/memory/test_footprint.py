"""What is estimated from small stand-ins is what the graph itself takes, as a meter reads it."""

import pytest
import torch
from graphs import collection, lattice, random_graph

from sgcl.estimator import estimator_for
from sgcl.graph import Graph
from sgcl.memory import Estimate, estimate, shown
from sgcl.memory.footprint import _measured, phases
from sgcl.memory.meter import Meter
from sgcl.methods import METHODS
from sgcl.samplers import RandomWalk, WholeGraphs
from sgcl.smoothing import SMOOTHINGS
from sgcl.smoothing.rows import blocks_of

MB = 2**20
NOISE = 2**18  # what Python itself holds differs from time to time


def ring(num_nodes: int) -> Graph:
    return Graph(torch.randn(num_nodes, 20, generator=torch.Generator().manual_seed(0)), lattice(num_nodes, 4))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins of 256 and 512 nodes."""
    monkeypatch.setattr("sgcl.memory.footprint._NODES", 512)
    monkeypatch.setattr("sgcl.memory.footprint._SMALL", 1 << 13)


@pytest.mark.parametrize("smoothing", [name for name in SMOOTHINGS if name != "pagerank"])  # which is as heat, but slow
@pytest.mark.parametrize("make", [random_graph, ring])
def test_the_line_through_small_sizes_leads_to_the_large_one(make, smoothing, small):
    made, graph = estimator_for("sgcl")(hidden_channels=16, smoothing=smoothing), make(2000)
    found, expected = phases(made, graph), _measured(made, graph)
    for name in ("embedding", "views", "step"):
        measured = getattr(expected, name)
        assert measured / 1.1 - NOISE <= getattr(found, name) <= measured * 1.6 + NOISE, name


def test_a_small_graph_stands_for_itself():
    made, graph = estimator_for("sgcl")(hidden_channels=16), random_graph(500)
    assert phases(made, graph).step == pytest.approx(_measured(made, graph).step, abs=NOISE)


def test_a_batch_takes_what_it_holds_and_the_whole_graph_is_embedded(small):
    graph = random_graph(3000)
    full, walk = (estimate(estimator_for("sgcl")(hidden_channels=64, sampler=sampler), graph)
                  for sampler in ("full", RandomWalk(batch_size=300)))
    assert (full.nodes, walk.nodes) == (3000, 300)
    assert (walk.views + walk.activations) * 5 < full.views + full.activations
    assert walk.embedding == pytest.approx(full.embedding, abs=2 * NOISE)
    assert full.embedding > 3000 * 64 * 4
    assert full.batch == 0 < 300 * 20 * 4 < walk.batch
    assert walk.training < full.training
    assert walk.total == walk.always + walk.embedding > walk.training


def test_batches_that_make_one_loss_are_held_together(small):
    graph, sampler = random_graph(3000), RandomWalk(batch_size=300, batches=6)
    one, three, all_six = (estimate(estimator_for("sgcl")(hidden_channels=64, sampler=sampler, **chosen), graph)
                           for chosen in ({}, {"sync_grams": True, "accumulate": 3}, {"sync_grams": True,
                                                                                      "accumulate": 0}))
    assert three.activations == pytest.approx(3 * one.activations, abs=6 * NOISE)
    assert all_six.batch == pytest.approx(6 * one.batch)


def test_width_costs_activations_and_normalised_features_a_copy(small):
    graph = random_graph(1500)
    narrow, wide, copied = (estimate(estimator_for("sgcl")(**chosen), graph) for chosen in (
        {"hidden_channels": 32}, {"hidden_channels": 128}, {"hidden_channels": 32, "normalize_features": True}))
    assert 2 < wide.activations / narrow.activations < 4.5
    assert narrow.batch == 0 < 1500 * 20 * 4 < copied.batch
    assert copied.embedding - narrow.embedding > 1500 * 20 * 4


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_an_estimate_and_nothing_else_changes(method):
    graph = random_graph(60) if METHODS[method].level == "node" else collection(6)
    state = torch.get_rng_state()
    found = estimate(estimator_for(method)(hidden_channels=8), graph)
    assert found.activations > 0
    assert found.total > found.model > 0
    assert torch.equal(state, torch.get_rng_state())


def test_a_batch_of_graphs_takes_what_it_holds(small):
    graphs, made = collection(200), estimator_for("sgcl-graphs")(hidden_channels=32, sampler=WholeGraphs(size=100))
    found, batch = estimate(made, graphs), graphs.take(torch.arange(100))
    measured = _measured(made, batch)
    assert found.nodes == batch.num_nodes == 1000
    for estimated, expected in ((found.views, measured.views), (found.activations, measured.step - measured.views)):
        assert expected / 1.2 - NOISE <= estimated <= expected * 1.6 + NOISE
    assert found.training < estimate(made, graphs, sampler=WholeGraphs(size=200)).training


def test_an_estimate_in_words():
    found = Estimate(model=MB, beforehand=0, embedding=2 * MB, batch=3 * MB, views=4 * MB, activations=2048 * MB,
                     blocks=0, nodes=7)
    assert str(found) == ("2.1 GB for batches of 7 nodes (model 1 MB, batch 3 MB, views 4 MB, activations 2.0 GB, "
                          "embedding 2 MB)")
    assert shown(3 * 2**30) == "3.0 GB"


def test_what_a_method_works_out_beforehand_counts():
    graph = random_graph(600)
    assert estimate(estimator_for("mvgrl")(hidden_channels=8), graph).beforehand > 600 * 8 * 12    # its PageRank
    assert estimate(estimator_for("sgcl")(hidden_channels=8), graph).beforehand < NOISE


@pytest.mark.parametrize(("method", "late"), [("progcl", {"start_epoch": 4}), ("augcl", {"pretrain": 0.75}),
                                              ("greet", {"encoder_steps": 3})])
def test_what_begins_in_a_late_epoch_counts(method, late, small):
    graph = random_graph(3000)
    made = estimator_for(method)(hidden_channels=8, epochs=4, **late)
    found, generator = phases(made, graph), torch.Generator().manual_seed(0)
    model = made.untrained(graph.num_features)
    model.rehearse()
    with blocks_of(1 << 13), Meter() as meter:
        with torch.no_grad():
            model.eval().start(graph)
            model.before_epoch(graph, 4, 4, generator)
        before = meter.peak()
        model.train().loss(model.augment(graph, generator)).backward()
        step = meter.peak()
    assert before <= 1.1 * found.beforehand + NOISE
    assert step <= 1.1 * found.step + NOISE
