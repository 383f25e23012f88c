"""A graph in parts: batches in turn, each rank with its own parts alone, and the result of one process."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from forking import in_ranks
from parted import made_store, ring

from sgcl import SGCL, runs
from sgcl.checkpoints import Checkpoints
from sgcl.distributed import LostRank, current
from sgcl.errors import InputError
from sgcl.estimator import estimator_for
from sgcl.graph import prepare
from sgcl.memory import check_memory
from sgcl.samplers import FullGraph, RandomWalk
from sgcl.store import cut_store, in_memory, open_store, read_files, read_parts
from sgcl.trainer import NonFiniteError

WALK = RandomWalk(batch_size=12, batches=4)
SMALL = {"hidden_channels": 8, "epochs": 2, "accumulate": 2, "sampler": WALK}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return made_store(tmp_path_factory.mktemp("whole") / "g.store", 40, ring(40), y=np.arange(40) % 2)


@pytest.fixture(scope="module")
def parts(store) -> Path:
    cut_store(store, store.parent / "parts", 2, how="streaming")
    return store.parent / "parts"


def copied(parts: Path, to: Path, *numbers: int) -> Path:
    """What a machine needs that draws from some parts."""
    to.mkdir()
    shutil.copy(parts / "manifest.json", to)
    for number in numbers:
        shutil.copytree(parts / f"part-{number}.store", to / f"part-{number}.store")
    return to


def weights(graph, **more) -> dict[str, torch.Tensor]:
    return SGCL(**{**SMALL, **more}).fit(graph).fitted.state_dict()


def assert_same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> None:
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_batches_come_from_the_parts_in_turn(parts):
    graph = prepare(read_parts(parts), normalize_features=True)
    for batch in range(5):
        part = prepare(open_store(parts / f"part-{batch % 2}.store"), normalize_features=True)
        ours, theirs = (WALK(one, torch.Generator().manual_seed(batch)) for one in (graph.source(batch, 5), part))
        assert torch.equal(ours.n_id, theirs.n_id)
        assert torch.equal(ours.x, theirs.x)
        assert torch.equal(ours.adj.to_dense(), theirs.adj.to_dense())
    whole_part = FullGraph()(graph.source(1, 2), torch.Generator())
    assert torch.equal(whole_part.x, prepare(open_store(parts / "part-1.store"), normalize_features=True).x[:])


def test_a_single_part_is_the_store(store, tmp_path):
    cut_store(store, tmp_path / "one", 1)
    assert_same(weights(read_parts(tmp_path / "one")), weights(open_store(store)))


def test_whole_parts_are_batches_too(parts):
    graph, made = read_parts(parts), SGCL(**{**SMALL, "sampler": FullGraph(batches=2)})
    assert np.isfinite(made.fit(graph).history[-1].loss)
    assert check_memory(made, graph.graph).estimate.nodes == graph.graph.num_nodes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("sampler", [WALK, FullGraph(batches=2)])
def test_a_rank_that_has_its_own_part_alone_does_its_share(parts, tmp_path, sampler):
    alone = weights(read_parts(parts), sampler=sampler)
    machines = [copied(parts, tmp_path / f"machine-{rank}", rank) for rank in range(2)]
    for found in in_ranks(2, tmp_path / "ranks", lambda: weights(read_parts(machines[current().rank]),
                                                                 sampler=sampler)):
        assert_same(found, alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_it_goes_on_with_another_number_of_ranks(parts, tmp_path):
    kept, alone = tmp_path / "kept", weights(read_parts(parts), epochs=4)

    def begin():
        def stop(epoch):
            if epoch.epoch == 2:
                raise ValueError("enough")

        checkpoint = None if current().rank else Checkpoints(kept, every=0)
        SGCL(**{**SMALL, "epochs": 4}).fit(read_parts(parts), checkpoint=checkpoint, callbacks=[stop])

    assert [str(error) for error in in_ranks(2, tmp_path / "ranks", begin)] == ["enough", "enough"]
    again = SGCL(**{**SMALL, "epochs": 4}).fit(read_parts(parts), checkpoint=kept, resume=True)
    assert_same(again.fitted.state_dict(), alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_a_rank_lacks_is_told_by_part_and_rank(parts, tmp_path, monkeypatch):
    monkeypatch.setattr("sgcl.distributed._ROLL_CALL", 0.2)
    here = copied(parts, tmp_path / "here", 0)
    with pytest.raises(InputError, match=r"part-1.store is not on this machine, and rank 0 draws batches from part 1: "
                                         "copy it here, or start 2 ranks"):
        weights(read_parts(here))
    first, second = in_ranks(2, tmp_path / "ranks", lambda: weights(read_parts(here)))
    assert isinstance(first, LostRank)
    assert isinstance(second, InputError)
    assert "rank 1 draws batches from part 1" in str(second)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_bad_batch_is_named_by_those_too_who_lack_its_part(tmp_path):
    x = np.zeros((40, 3), np.float32)
    x[:, 0] = 1
    store = made_store(tmp_path / "g.store", 40, ring(40), x=x)
    cut_store(store, tmp_path / "parts", 2, how="streaming")
    bad = np.lib.format.open_memmap(tmp_path / "parts" / "part-1.store" / "x.npy", mode="r+")
    bad[:] = np.inf
    bad.flush()
    machines = [copied(tmp_path / "parts", tmp_path / f"machine-{rank}", rank) for rank in range(2)]

    def work():
        try:
            weights(read_parts(machines[current().rank]))
        except NonFiniteError as error:
            return error.batch, error.rows.tolist()

    found = in_ranks(2, tmp_path / "ranks", work)
    assert found[0] == found[1]
    batch, rows = found[0]
    assert (batch, len(rows)) == (2, 12)
    assert read_parts(machines[0]).graph.names(1, rows) == [f"row {row} of part-1.store" for row in rows]
    ids = np.load(tmp_path / "parts" / "part-1.store" / "ids.npy")
    assert read_parts(tmp_path / "parts").graph.names(1, rows) == ids[rows].tolist()


def test_all_parts_share_a_fingerprint(parts, store, tmp_path):
    first = runs.fingerprint(read_parts(parts).graph)
    here = copied(parts, tmp_path / "here", 0)
    assert runs.fingerprint(prepare(read_parts(here), normalize_features=True)) == first
    assert first not in (runs.fingerprint(open_store(store)), runs.fingerprint(open_store(parts / "part-0.store")))
    cut_store(store, tmp_path / "others", 3, how="streaming")
    assert runs.fingerprint(read_parts(tmp_path / "others").graph) != first


def test_what_needs_the_whole_graph_is_refused(parts):
    data = read_parts(parts)
    for what, ask in {
            "ProGCL": lambda: estimator_for("progcl")(**SMALL).fit(data),
            "an embedding": lambda: SGCL(**SMALL).fit(data).transform(data),
            "to measure it": lambda: in_memory(data, "to measure it")}.items():
        with pytest.raises(InputError, match=f"^{what} needs the whole graph, but .*parts holds parts of it, without "
                                             "the edges between them: give the store that they were cut from"):
            ask()


def test_too_few_batches_are_refused(parts):
    with pytest.raises(InputError, match="an epoch needs a batch from each of 2 parts, but the number of its batches "
                                         "is 1: give --sampler walk --walk-batches 2 or more, or --full-batches 2"):
        weights(read_parts(parts), sampler=FullGraph(), accumulate=1)


def test_a_folder_of_parts_is_no_store(parts):
    with pytest.raises(InputError, match=r"is a folder of parts, no store: .* such as .*part-0.store"):
        open_store(parts)
    assert read_files({"edges": str(parts)}).get("y") is None
    for name in ("features", "labels"):
        with pytest.raises(InputError, match=f"is a folder of parts of a graph store, which has .* leave out --{name}"):
            read_files({"edges": str(parts), name: "x"})


def test_damage_is_told(parts, tmp_path):
    here = copied(parts, tmp_path / "here", 0)
    said = json.loads((here / "manifest.json").read_text())
    shutil.copytree(parts / "part-1.store", here / "other")
    shutil.rmtree(here / "part-0.store")
    (here / "other").rename(here / "part-0.store")
    with pytest.raises(InputError, match=r"part-0.store is not the part that .*manifest.json lists"):
        read_parts(here)
    for damaged in ({**said, "parts": []}, {**said, "parts": [1]}, {**said, "digest": "0"}, {"parts": 1},
                    {**said, "cut_from": {}}):
        (here / "manifest.json").write_text(json.dumps(damaged))
        with pytest.raises(InputError, match="is damaged: it does not list its parts"):
            read_parts(here)
    (here / "manifest.json").write_text(json.dumps({**said, "format": 99}))
    with pytest.raises(InputError, match="newer sgcl"):
        read_parts(here)
