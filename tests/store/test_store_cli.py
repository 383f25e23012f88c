"""``sgcl import``, and a store wherever the command line takes a graph."""

import json

import numpy as np
import pytest

from sgcl import workflow
from sgcl.cli import main

TRAIN = ["--sampler", "walk", "--walk-batch-size", "20", "--walk-batches", "2", "--epochs", "1", "-q",
         "--hidden-channels", "8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    ends = rng.integers(80, size=(2, 500))
    ends = ends[:, y[ends[0]] == y[ends[1]]]
    rows = [f"n{one},n{other}" for one, other in ends.T]
    (folder / "e.csv").write_text("\n".join(["source,target", *rows]) + "\n")
    rows = [f"n{node},{','.join(map(str, rng.standard_normal(5) + y[node]))}" for node in range(80)]
    (folder / "x.csv").write_text("\n".join(["id,a,b,c,d,e", *rows]) + "\n")
    (folder / "y.csv").write_text("id,label\n" + "".join(f"n{node},{y[node]}\n" for node in range(80)))
    assert main(["import", str(folder / "e.csv"), "--features", str(folder / "x.csv"), "--labels",
                 str(folder / "y.csv"), "--out", str(folder / "g.store"), "-q"]) == 0
    assert main(["train", "--graph", str(folder / "g.store"), "--out", str(folder / "run"), *TRAIN]) == 0
    return folder


def test_a_run_on_a_store_is_the_run_on_its_files(folder):
    given = ["--graph", str(folder / "e.csv"), "--features", str(folder / "x.csv")]
    assert main(["train", *given, "--out", str(folder / "other"), *TRAIN]) == 0
    ours, theirs = (np.load(folder / run / "embeddings.npy") for run in ("run", "other"))
    assert np.allclose(ours, theirs, atol=1e-6)
    assert np.array_equal(np.load(folder / "run" / "ids.npy"), np.load(folder / "other" / "ids.npy"))
    losses = [json.loads((folder / run / "metrics.jsonl").read_text())["loss"] for run in ("run", "other")]
    assert losses[0] == losses[1]
    assert not list((folder / "run").glob(".*"))


def test_it_is_scored(folder, capsys):
    assert main(["evaluate", str(folder / "run"), "--task", "probe,collapse", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert {row["name"] for row in rows} == {*workflow.FLOORS, "SGCL-T"}
    assert {row["disparity_reason"] for row in rows if row["task"] == "probe"} == {"the graph has no inter-class edges"}


def test_links_and_components_are_looked_at_in_memory(folder, capsys):
    assert main(["evaluate", str(folder / "run"), "--task", "links", "--json"]) == 0
    capsys.readouterr()
    assert main(["train", "--graph", str(folder / "g.store"), "--out", str(folder / "part"), "--protocol",
                 "development", *TRAIN]) == 2
    assert "the largest component has 40 labelled nodes" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["e.npy", "e.parquet", "e.csv.csv"])
def test_it_is_embedded_into_a_file(folder, name, tmp_path, capsys):
    assert main(["embed", str(folder / "run"), "--graph", str(folder / "g.store"), "--out", str(tmp_path / name),
                 "--memory", "1MB", "-q"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / name}: 80 nodes, width 8\n"
    if name.endswith(".npy"):
        assert np.allclose(np.load(tmp_path / name), np.load(folder / "run" / "embeddings.npy"), atol=1e-6)
        assert np.load(tmp_path / "e.ids.npy")[0] == "n0"
    assert len(list(tmp_path.iterdir())) == 2 if name.endswith(".npy") else 1


def test_it_is_verified_and_shown_as_json(folder, capsys):
    assert main(["import", "--verify", str(folder / "g.store")]) == 0
    assert "is whole: every checksum holds, 80 nodes" in capsys.readouterr().out
    assert main(["import", "--verify", str(folder / "g.store"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 80


@pytest.mark.parametrize(("words", "message"), [
    (["import", "e.csv", "--features", "ones"], "give the edges and where to put the store"),
    (["import", "e.csv", "--verify", "g.store"], "--verify reads a store that is there: leave out the edges"),
    (["import", "--verify", "e.csv"], "is no graph store: it has no manifest.json"),
    (["import", "e.csv", "--out", "h.store"], "the graph has no node features"),
    (["train", "--graph", "g.store", "--features", "ones"], "leave out --features"),
    (["import", "--fetures", "x.csv"], "did you mean '--features'?"),
])
def test_a_request_that_cannot_be_met_is_told_in_a_line(folder, words, message, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(words) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
