"""A graph in a store is the same to samplers, the trainer and embeddings as one in memory."""

import numpy as np
import pytest
import torch
from graphs import random_graph

from sgcl import embeddings, runs
from sgcl.errors import InputError
from sgcl.estimator import estimator_for
from sgcl.graph import Graph, prepare
from sgcl.memory import check_memory, resident
from sgcl.methods import METHODS
from sgcl.samplers import EgoGraph, FullGraph, RandomEdge, RandomNode, RandomWalk
from sgcl.settings import defaults
from sgcl.store import import_graph, in_memory, open_store, read_files, read_store

NODE_METHODS = [name for name in METHODS if METHODS[name].level == "node"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """(store, the same in memory), weighted, with a node that has no edges."""
    folder = tmp_path_factory.mktemp("stored")
    graph = random_graph(60, degree=6, features=8)
    row, col = graph.adj.row.numpy(), graph.adj.idx.numpy()
    kept = (row < col) & (row > 0)
    weight = 0.5 + (row + col)[kept] % 3
    rows = [f"{one},{other},{value}" for one, other, value in zip(row[kept], col[kept], weight, strict=True)]
    (folder / "e.csv").write_text("\n".join(["source,target,weight", *rows]) + "\n")
    np.save(folder / "x.npy", graph.x.numpy())
    (folder / "y.csv").write_text("id,label\n" + "".join(f"{node},{node % 2}\n" for node in range(60)))
    import_graph(folder / "e.csv", folder / "g.store", features=folder / "x.npy", labels=folder / "y.csv")
    from sgcl.readers import read_graph

    return folder / "g.store", Graph.from_data(read_graph(folder / "e.csv", features=folder / "x.npy"))


def assert_equal(a: Graph, b: Graph):
    assert torch.equal(a.x, b.x)
    for one, other in ((a.adj.ptr, b.adj.ptr), (a.adj.idx, b.adj.idx), (a.adj.value, b.adj.value)):
        assert torch.equal(one, other)
        assert one.dtype == other.dtype
    assert (a.n_id is None and b.n_id is None) or torch.equal(a.n_id, b.n_id)


@pytest.mark.parametrize("sampler", [RandomWalk(20), RandomWalk(roots=5), RandomNode(20), RandomNode(20, by="degree"),
                                     RandomEdge(20), EgoGraph(batch_size=20), EgoGraph(batch_size=20, max_neighbors=2)])
@pytest.mark.parametrize("normalised", [False, True])
def test_batches_are_those_from_memory(stored, sampler, normalised):
    store, whole = stored
    for seed in range(3):
        ours, theirs = (sampler(prepare(graph, normalize_features=normalised), torch.Generator().manual_seed(seed))
                        for graph in (open_store(store), whole))
        assert_equal(ours, theirs)


def test_the_whole_of_it_is_there_when_it_is_asked_for(stored):
    store, whole = stored
    assert_equal(open_store(store).in_memory(), whole)
    assert whole.in_memory() is whole
    data = in_memory(read_store(store), "a test")
    assert_equal(Graph.from_data(data), whole)
    assert in_memory(data, "a test") is data


def test_what_does_not_fit_is_refused(stored, monkeypatch):
    monkeypatch.setattr("sgcl.ram.free_memory", lambda: 100.0)
    with pytest.raises(InputError, match=r"protocol .development. needs the whole graph in memory"):
        in_memory(read_store(stored[0]), "protocol 'development'")


@pytest.mark.parametrize("sampler", [FullGraph(), RandomWalk(20, batches=2)])
@pytest.mark.parametrize("name", ["sgcl", "progcl"])
def test_training_is_the_same_to_the_last_bit(stored, name, sampler):
    store, whole = stored
    histories = []
    for graph in (open_store(store), whole):
        estimator = estimator_for(name)(hidden_channels=8, epochs=2, sampler=sampler).fit(graph)
        histories.append([epoch.loss for epoch in estimator.history])
    assert histories[0] == histories[1]


@pytest.mark.parametrize("name", NODE_METHODS)
def test_every_method_embeds_a_store_as_it_does_memory(stored, name, tmp_path):
    store, whole = stored
    method = METHODS[name](8, **({"hidden_channels": 16} if "hidden_channels" in defaults(name) else {}))
    method.start(whole)
    at_once = embeddings.compute(method, whole)
    assert torch.allclose(embeddings.compute(method, open_store(store)), at_once, atol=1e-6)
    if not embeddings.in_blocks(method):
        with pytest.raises(InputError, match="has an encoder of its own, which does not work in blocks"):
            embeddings.compute(method, open_store(store), memory=1 << 20)
        return
    found = embeddings.compute_file(tmp_path / "e.npy", method, open_store(store), memory=40_000, identity={})
    assert torch.allclose(found, at_once, atol=1e-6)
    assert [file.name for file in tmp_path.iterdir()] == ["e.npy"]


def test_a_store_has_the_fingerprint_of_what_is_in_it(stored, tmp_path):
    store, _ = stored
    first = runs.fingerprint(open_store(store))
    assert first == runs.fingerprint(open_store(store), np.arange(60))
    assert first == runs.fingerprint(prepare(open_store(store), normalize_features=True))
    folder = store.parent
    import_graph(folder / "e.csv", tmp_path / "h.store", features=folder / "x.npy", feature_dtype="float16")
    assert first != runs.fingerprint(open_store(tmp_path / "h.store"))


def test_the_guard_counts_what_must_be_loaded(stored):
    store, _ = stored
    graph = open_store(store)
    for name, loaded in (("sgcl", False), ("progcl", True)):
        estimator = estimator_for(name)(hidden_channels=8, sampler=RandomWalk(20))
        plan = check_memory(estimator, graph)
        assert (plan.estimate.batch > 60 * (8 * 4 + 12 * 322 / 60)) == loaded
        assert plan.embedding is not None
    with pytest.raises(InputError, match="training takes about"):
        check_memory(estimator_for("sgcl")(hidden_channels=8), graph, limit=1000)
    assert 0 < resident(without_files=True) < resident()
    plan = check_memory(estimator_for("grlc")(sampler=RandomWalk(20)), graph)
    assert plan.embedding is None


def test_files_beside_a_store_are_refused_but_for_labels(stored):
    store, _ = stored
    assert read_files({"edges": str(store)}).y.tolist() == [0, 1] * 30
    (store.parent / "other.csv").write_text("id,label\n3,a\n4,b\n")
    data = read_files({"edges": str(store), "labels": store.parent / "other.csv"})
    assert data.y[:5].tolist() == [-1, -1, -1, 0, 1]
    for name, flag in (("features", "--features"), ("weight", "--edge-weight")):
        with pytest.raises(InputError, match=f"which has all that was imported: leave out {flag}"):
            read_files({"edges": str(store), name: "x"})
    with pytest.raises(InputError, match="is a folder and no graph store"):
        read_files({"edges": str(store.parent)})
