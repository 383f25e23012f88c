import json
import os
import signal
import time
from pathlib import Path

import pytest
from forking import Server

from sgcl import InputError, files, runs, workflow
from sgcl.datasets import load
from sgcl.signals import Interrupted
from sgcl.sweep import Range, sweep, trials
from sgcl.trainer import TrainingError

pytestmark = pytest.mark.usefixtures("datasets")
GRID = {"lr": ["1e-2", "1e-3"], "hidden_channels": ["4", "8"]}


def settle(values: dict[str, str]) -> dict:
    numbers = {name: float(value) if name == "lr" else int(value) for name, value in values.items()}
    return {"hidden_channels": 8, "epochs": 4, **numbers}


def swept(out: Path, space: dict = GRID, settle=settle, **more) -> dict:
    return sweep("sgcl", settle, space, load("blocks"), dataset="blocks", out=out, quiet=True, **more)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """The settings of all trainings, in order; the estimate of memory is left out."""
    seen, train = [], trials.train
    monkeypatch.setattr(trials, "train", lambda method, graph, **how: seen.append(how) or train(method, graph, **how))
    monkeypatch.setattr(trials, "check_memory", lambda *args: None)
    return seen


@pytest.mark.parametrize("select", ["validation", "links", "rank"])
def test_every_point_is_tried_and_the_best_has_a_command(tmp_path, select, trained):
    found = swept(tmp_path / "s", select=select)
    assert [trial["values"] for trial in found["trials"]] == [
        {"lr": lr, "hidden_channels": width} for lr in GRID["lr"] for width in GRID["hidden_channels"]]
    best = max(found["trials"], key=lambda trial: trial["score"])
    assert found["best"] == best["trial"]
    flags = [] if best["values"]["lr"] == "1e-3" else ["--lr 0.01"]
    assert found["command"] == " ".join(["sgcl train sgcl --dataset blocks --protocol random --hidden-channels",
                                         best["values"]["hidden_channels"], "--epochs 4", *flags])
    assert runs.read_lines(tmp_path / "s" / "trials.jsonl") == json.loads(json.dumps(found["trials"]))
    assert {trial["state"] for trial in found["trials"]} == {"complete"}
    assert json.loads((tmp_path / "s" / "sweep.json").read_text())["select"] == select


def test_the_score_is_that_of_the_run_which_the_command_makes(tmp_path, trained):
    found = swept(tmp_path / "s", {"lr": ["1e-2"]})
    workflow.train_run("sgcl", found["trials"][0]["settings"], load("blocks"), dataset="blocks", out=tmp_path / "run",
                       quiet=True)
    (row,) = workflow.evaluate_runs([tmp_path / "run"], floors=False)
    assert row["val"] == found["trials"][0]["score"]


def test_nothing_is_trained_twice(tmp_path, trained):
    first = swept(tmp_path / "s")
    assert len(trained) == 4
    assert swept(tmp_path / "s") == first
    grown = swept(tmp_path / "s", {"lr": ["1e-2", "1e-3", "1e-1"], "hidden_channels": ["4", "8"]})
    assert len(trained) == 6
    assert grown["trials"][:4] == first["trials"]
    again = swept(tmp_path / "s", {"lr": ["0.01"], "hidden_channels": ["4"]})   # other words for the same
    assert len(trained) == 6
    assert again["trials"][-1]["score"] == first["trials"][0]["score"]


def test_a_line_that_was_cut_short_is_tried_again(tmp_path, trained):
    first = swept(tmp_path / "s")
    file = tmp_path / "s" / "trials.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    second = swept(tmp_path / "s")
    assert len(trained) == 5
    assert [trial["score"] for trial in second["trials"]] == [trial["score"] for trial in first["trials"]]
    assert len(runs.read_lines(file)) == 4


@pytest.mark.parametrize(("changes", "name"), [
    ({"select": "rank"}, "select"), ({"protocol": "public"}, "protocol"),
    ({"settle": lambda values: {**settle(values), "epochs": 5}}, "settings"), ({"select": "links"}, "select"),
])
def test_another_sweep_needs_another_folder(tmp_path, changes, name, trained):
    swept(tmp_path / "s", {"lr": ["1e-2"]})
    with pytest.raises(InputError, match=f"s holds another sweep, whose {name} differ: give another --out"):
        swept(tmp_path / "s", {"lr": ["1e-2"]}, **changes)


def test_folders_that_are_no_sweep_or_not_ours(tmp_path, trained):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already and holds no sweep: give another --out"):
        swept(tmp_path)
    swept(tmp_path / "s", {"lr": ["1e-2"]})
    with files.lock(tmp_path / "s"), pytest.raises(InputError, match="is being written by another process"):
        swept(tmp_path / "s", {"lr": ["1e-2"]})
    (tmp_path / "s" / "sweep.json").write_text("{")
    with pytest.raises(InputError, match=r"sweep\.json is damaged: give another --out"):
        swept(tmp_path / "s", {"lr": ["1e-2"]})
    (tmp_path / "s" / "sweep.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="was written by a newer sgcl: upgrade sgcl"):
        swept(tmp_path / "s", {"lr": ["1e-2"]})


def test_what_is_wrong_is_told_before_anything_is_trained(tmp_path, trained):
    with pytest.raises(InputError, match=r"lr is -1\.0"):
        swept(tmp_path / "s", {"lr": ["1e-2", "-1"]})
    assert trained == []
    assert not list(tmp_path.iterdir())


def test_a_trial_that_fails_is_part_of_the_record(tmp_path, trained, monkeypatch):
    train = trials.train

    def sometimes(method, graph, **how):
        if how["lr"] == 1e-2:
            raise TrainingError("the loss is nan")
        return train(method, graph, **how)

    monkeypatch.setattr(trials, "train", sometimes)
    found = swept(tmp_path / "s")
    assert [trial["state"] for trial in found["trials"]] == ["failed", "failed", "complete", "complete"]
    assert (found["trials"][0]["why"], found["trials"][0]["score"]) == ("the loss is nan", None)
    assert found["best"] in (3, 4)
    with pytest.raises(TrainingError, match=r"no trial of .* came to its end; the last: the loss is nan"):
        swept(tmp_path / "t", {"lr": ["1e-2"]})


def test_an_interrupted_sweep_says_how_to_go_on(tmp_path, trained, monkeypatch):
    def stop(*args, **how):
        raise KeyboardInterrupt

    swept(tmp_path / "s", {"lr": ["1e-2"]})
    monkeypatch.setattr(trials, "train", stop)
    with pytest.raises(Interrupted, match="interrupted in trial 2; the same command goes on"):
        swept(tmp_path / "s", {"lr": ["1e-2", "1e-3"]})
    assert len(runs.read_lines(tmp_path / "s" / "trials.jsonl")) == 1


def test_a_trial_beyond_the_memory_is_refused_and_tried_once_there_is_more(tmp_path):
    for _ in range(2):
        with pytest.raises(InputError, match=r"training takes about .* left of the limit of 1 MB"):
            swept(tmp_path / "s", {"lr": ["1e-2"]}, memory_limit=2**20)
        assert not list((tmp_path / "s").iterdir())                        # flags that help make another sweep of it
    swept(tmp_path / "s", {"lr": ["1e-2"]})
    with pytest.raises(InputError, match="training takes about"):
        swept(tmp_path / "s", {"lr": ["1e-2", "1e-3"]}, memory_limit=2**20)
    assert len(runs.read_lines(tmp_path / "s" / "trials.jsonl")) == 1
    found = swept(tmp_path / "s", {"lr": ["1e-2", "1e-3"]})
    assert [trial["state"] for trial in found["trials"]] == ["complete", "complete"]


def test_optuna_goes_on_where_it_was_and_stops_what_falls_behind(tmp_path, trained, monkeypatch):
    pytest.importorskip("optuna")
    space, count = {"lr": Range(1e-4, 1e-1), "hidden_channels": ["4", "8"]}, 9
    looks = iter(range(10_000))
    arena_of = trials.arena_of

    def falling(*args, **how):
        """Every look scores less than the one before, so that from the sixth trial on all fall behind."""
        return arena_of(*args, **how)._replace(score=lambda embedding: -float(next(looks)))

    monkeypatch.setattr(trials, "arena_of", falling)
    whole = swept(tmp_path / "whole", space, trials=count)
    states = [trial["state"] for trial in whole["trials"]]
    assert states == ["complete"] * 5 + ["pruned"] * 4
    assert [trial["epochs"] for trial in whole["trials"]] == [4] * 5 + [1] * 4
    assert list(whole["trials"][0]["scores"]) == ["1", "2", "3", "4"]
    assert whole["trials"][-1]["why"] == "behind the median after epoch 1"
    looks = iter(range(10_000))
    swept(tmp_path / "cut", space, trials=4)
    resumed = swept(tmp_path / "cut", space, trials=count)
    assert [(trial["values"], trial["scores"]) for trial in resumed["trials"]] == [
        (trial["values"], trial["scores"]) for trial in whole["trials"]]
    with pytest.raises(InputError, match="holds another sweep, whose optuna differ"):
        swept(tmp_path / "cut", {"lr": Range(1e-3, 1e-1), "hidden_channels": ["4", "8"]}, trials=count)


def test_a_killed_sweep_goes_on(tmp_path):
    """SIGKILL while trials run: what has a line stays as it is, and every point is there in the end."""
    edges = load("blocks").edge_index.T.tolist()
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"{one},{other}\n" for one, other in edges))
    words = ["sweep", "--graph", str(tmp_path / "e.csv"), "--features", "degree", "--hidden-channels", "4", "--epochs",
             "3", "--grid", "lr=1e-2,1e-3", "--grid", "dropout=0,0.1,0.2,0.3", "--select", "rank", "-q", "--json",
             "--out", str(tmp_path / "s")]
    lines = tmp_path / "s" / "trials.jsonl"
    server = Server(tmp_path / "log")
    try:
        child = server.start(*words)
        while len(runs.read_lines(lines)) < 2:
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        assert server.wait() == -signal.SIGKILL
        before = runs.read_lines(lines)
        assert 2 <= len(before) < 8
        assert server.run(*words) == 0
    finally:
        server.close()
    after = runs.read_lines(lines)
    assert after[:len(before)] == before
    assert len({json.dumps(trial["values"]) for trial in after}) == len(after) == 8
