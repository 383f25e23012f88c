"""``sgcl partition``, and a folder of parts wherever the command line takes a graph."""

import json

import numpy as np
import pytest
from parted import made_store, ring

from sgcl import workflow
from sgcl.cli import main

TRAIN = ["--sampler", "walk", "--walk-batch-size", "20", "--walk-batches", "4", "--epochs", "1", "-q",
         "--hidden-channels", "8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    made_store(folder / "g.store", 80, ring(80), y=np.arange(80) % 2)
    made_store(folder / "h.store", 80, ring(80)[1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["partition", "g.store", "--parts", "2", "--out", "parts", "--how", "streaming", "-q"]) == 0
        assert main(["train", "--graph", "parts", "--out", "run", *TRAIN]) == 0
    return folder


def test_it_says_what_it_cut(folder, tmp_path, capsys):
    words = ["partition", str(folder / "g.store"), "--parts", "4", "--how", "streaming", "-q", "--memory", "70MB"]
    assert main([*words, "--out", str(tmp_path / "one"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["nodes"] == sum(part["nodes"] for part in said["parts"]) == 80
    assert said["cut"] == pytest.approx(1 - said["edges"] / 240)
    assert main([*words, "--out", str(tmp_path / "two")]) == 0
    assert capsys.readouterr().out == (
        f"{tmp_path / 'two'}: 80 nodes in 4 parts by streaming, the largest {said['balance']:.2f} times the mean; "
        f"{said['cut']:.1%} of the edges lie between parts and are dropped\n")
    assert main(["import", "--verify", str(tmp_path / "two" / "part-3.store")]) == 0
    assert "edges to other parts are left out" in capsys.readouterr().out


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_run_says_how_to_go_on(folder, capsys):
    config = json.loads((folder / "run" / "config.json").read_text())
    said = json.loads((folder / "parts" / "manifest.json").read_text())
    assert config["parts"] == {"number": 2, "cut_from": said["cut_from"]["digest"]}
    assert (config["nodes"], config["edges"]) == (80, said["edges"])
    assert not (folder / "run" / "embeddings.npy").exists()
    assert main(["show", str(folder / "run"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["state"] == "finished"
    assert shown["next"].startswith(f"sgcl embed {folder / 'run'} --graph STORE --out FILE, or sgcl evaluate ")
    assert main(["train", "--resume", str(folder / "run")]) == 0
    told = capsys.readouterr()
    assert "is finished: there is nothing to resume" in told.err
    assert told.out.endswith(f"next: {shown['next']}\n")


def test_the_whole_store_is_embedded_and_scored(folder, tmp_path, capsys):
    assert main(["embed", str(folder / "run"), "--graph", str(folder / "g.store"), "--out", str(tmp_path / "z.npy"),
                 "-q"]) == 0
    assert main(["train", "--graph", str(folder / "parts"), "--out", str(tmp_path / "run"), *TRAIN]) == 0
    capsys.readouterr()
    for _ in range(2):  # embedded, then as it was embedded
        assert main(["evaluate", str(tmp_path / "run"), "--graph", str(folder / "g.store"), "--json", "-q"]) == 0
        rows = json.loads(capsys.readouterr().out)["results"]
        assert {row["name"] for row in rows} == {*workflow.FLOORS, "SGCL-T"}
        assert np.array_equal(np.load(tmp_path / "run" / "embeddings.npy"), np.load(tmp_path / "z.npy"))
    assert np.load(tmp_path / "run" / "ids.npy").tolist() == (10 * np.arange(80)).tolist()


def test_a_part_is_a_store(folder, tmp_path):
    part = str(folder / "parts" / "part-0.store")
    assert main(["train", "--graph", part, "--out", str(tmp_path / "run"), *TRAIN]) == 0
    assert np.array_equal(np.load(tmp_path / "run" / "ids.npy"), np.load(folder / "parts" / "part-0.store" / "ids.npy"))


@pytest.mark.parametrize(("words", "message"), [
    (["partition", "g.store", "--parts", "2", "--out", "parts"], "parts is there already: give another --out"),
    (["partition", "g.store", "--parts", "2", "--out", "no/parts"], "cannot make no/parts: there is no folder no"),
    (["partition", "g.store", "--parts", "41", "--out", "p"], "cannot cut 80 nodes into 41 parts"),
    (["partition", "run", "--parts", "2", "--out", "p"], "run is no graph store: it has no manifest.json"),
    (["partition", "parts", "--parts", "2", "--out", "p"], "parts is a folder of parts, no store"),
    (["partition", "g.store", "--out", "p"], "--parts"),
    (["partition", "g.store", "--parts", "2", "--out", "p", "--memory", "much"], "memory is 'much', expected a size"),
    (["import", "--verify", "parts"], "parts is a folder of parts, no store"),
    (["train", "--graph", "parts", "--out", "p"], "an epoch needs a batch from each of 2 parts"),
    (["train", "progcl", "--graph", "parts", "--out", "p", *TRAIN], "ProGCL needs the whole graph, but"),
    (["train", "--graph", "parts", "--protocol", "development", "--out", "p", *TRAIN],
     "protocol 'development' needs the whole graph, but"),
    (["train", "--graph", "parts", "--labels", "y.csv", "--out", "p", *TRAIN], "leave out --labels"),
    (["sweep", "--graph", "parts", "--grid", "lr=1e-3", "--select", "rank", "--out", "p", *TRAIN],
     "a sweep needs the whole graph, but"),
    (["embed", "run", "--graph", "parts", "--out", "p.npy"], "an embedding needs the whole graph, but"),
    (["datasets", "--graph", "parts"], "to measure it needs the whole graph, but"),
    (["evaluate", "run"], "run was trained from parts: give the store that they were cut from as --graph STORE"),
    (["evaluate", "run", "--graph", "g.store", "--task", "links"], "--task links would train on the whole graph"),
    (["evaluate", "run", "--graph", "h.store"], "h.store is not the store that the parts of run were cut from"),
    (["evaluate", "run", "--graph", "parts"], "parts is a folder of parts, no store"),
])
def test_a_request_that_cannot_be_met_is_told_in_a_line(folder, words, message, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    before = {file.name for file in folder.iterdir()}
    assert main(words) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert {file.name for file in folder.iterdir()} == before


def test_a_bad_batch_is_named_by_the_ids_of_its_part(tmp_path, capsys):
    store = made_store(tmp_path / "g.store", 40, ring(40))
    assert main(["partition", str(store), "--parts", "2", "--out", str(tmp_path / "parts"), "--how", "streaming"]) == 0
    x = np.load(tmp_path / "parts" / "part-1.store" / "x.npy", mmap_mode="r+")
    x[:] = np.inf
    x.flush()
    assert main(["train", "--graph", str(tmp_path / "parts"), "--out", str(tmp_path / "run"), *TRAIN]) == 1
    told = json.loads((tmp_path / "run" / "failed-batch.json").read_text())
    assert (told["epoch"], told["batch"]) == (1, 2)
    assert set(told["ids"]) <= set(np.load(tmp_path / "parts" / "part-1.store" / "ids.npy").tolist())
    assert f"(nodes {told['ids'][0]}, " in capsys.readouterr().err


def test_a_run_on_a_whole_graph_is_scored_on_that(folder, tmp_path, capsys):
    assert main(["train", "--graph", str(folder / "g.store"), "--out", str(tmp_path / "run"), *TRAIN]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "run"), "--graph", str(folder / "g.store")]) == 2
    assert "is scored on the graph that it was trained on: leave out --graph" in capsys.readouterr().err
