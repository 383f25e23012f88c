import json
from pathlib import Path

import numpy as np
import pytest
import torch

from sgcl import InputError, Taubin, runs, settings, workflow
from sgcl.datasets import DATASETS, load
from sgcl.evaluation import protocols
from sgcl.smoothing import SMOOTHINGS
from sgcl.trainer import TrainingError

QUICK = {"hidden_channels": 8, "epochs": 2}
FLOORS = ["raw features", "untrained encoder", "propagated features"]

pytestmark = pytest.mark.usefixtures("datasets")


def trained(folder: Path, *, protocol: str | None = None, **chosen) -> Path:
    workflow.train_run("sgcl", {**QUICK, **chosen}, load("blocks"), dataset="blocks", out=folder, quiet=True,
                       protocol=protocol)
    return folder


@pytest.mark.parametrize(("chosen", "name"), [
    ({"smoothing": {"name": "taubin"}}, "SGCL-T"),
    ({"smoothing": "taubin"}, "SGCL-T"),
    ({"smoothing": {"name": "bilateral"}}, "SGCL-B"),
    ({"smoothing": {"name": "diffusion"}}, "SGCL-D"),
    ({"smoothing": {"name": "identity"}}, "SGCL-Identity"),
    ({"smoothing": {"name": "heat"}}, "SGCL-heat"),
    ({"smoothing": None}, "SGCL"),
    ({}, "SGCL"),
])
def test_a_method_with_its_smoothing_has_a_short_name(chosen, name):
    assert workflow.label("sgcl", chosen) == name


def test_no_two_smoothings_share_a_name():
    assert len({workflow.label("sgcl", {"smoothing": name}) for name in SMOOTHINGS}) == len(SMOOTHINGS)


def test_a_run_holds_what_is_needed_to_repeat_it(tmp_path):
    trained(tmp_path / "a", smoothing="bilateral", seed=3)
    config = runs.read_config(tmp_path / "a")
    trained(tmp_path / "b", **config["settings"])
    for name in ("weights.safetensors", "embeddings.npy", "ids.npy"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    losses = [[line["loss"] for line in runs.read_lines(tmp_path / name / "metrics.jsonl")] for name in "ab"]
    assert losses[0] == losses[1]


def test_bad_input_that_shows_only_in_the_first_batch_leaves_nothing(tmp_path, monkeypatch):
    def refuse(self, adj):
        raise InputError("Taubin with prune=0: too much for the memory")

    monkeypatch.setattr(Taubin, "filter", refuse)
    with pytest.raises(InputError, match="too much for the memory"):
        trained(tmp_path / "deep" / "run", smoothing={"name": "taubin", "prune": 0})
    assert not list(tmp_path.iterdir())


def test_a_training_that_diverges_leaves_what_there_is(tmp_path, monkeypatch):
    steps = iter(range(10))
    monkeypatch.setattr("sgcl.workflow.training.check_memory", lambda *args: None)  # takes steps of its own
    monkeypatch.setattr("sgcl.methods.SGCL.loss", lambda self, views: sum(
        p.sum() for p in self.parameters()) * (1.0 if next(steps) < 1 else float("nan")))
    with pytest.raises(TrainingError, match="the loss is nan in epoch 2"):
        trained(tmp_path / "run")
    left = sorted(file.name for file in (tmp_path / "run").iterdir())
    assert left == ["config.json", "failed-batch.json", "metrics.jsonl"]


def test_rows_are_the_floors_and_the_run_and_join_its_results(tmp_path):
    rows = workflow.evaluate_runs([trained(tmp_path / "run", seed=2)])
    assert [row["name"] for row in rows] == [*FLOORS, "SGCL-T"]
    assert all(row["split_seed"] == row["seed"] == 2 for row in rows)
    assert all(0 <= row[key] <= 1 for row in rows for key in ("test", "val"))
    assert runs.read_lines(tmp_path / "run" / "results.jsonl") == json.loads(json.dumps(rows))


def test_splits_by_number(tmp_path):
    rows = workflow.evaluate_runs([trained(tmp_path / "run", seed=2)], seeds=3, floors=False)
    assert [(row["name"], row["split_seed"]) for row in rows] == [("SGCL-T", 0), ("SGCL-T", 1), ("SGCL-T", 2)]
    assert len({row["test"] for row in rows}) > 1


def test_what_several_runs_have_in_common_is_given_once(tmp_path):
    folders = [trained(tmp_path / f"{smoothing}-{seed}", smoothing=smoothing, seed=seed)
               for smoothing in ("taubin", "identity") for seed in (0, 1)]
    rows = workflow.evaluate_runs(folders)
    counts = {name: sum(row["name"] == name for row in rows) for name in dict.fromkeys(row["name"] for row in rows)}
    assert counts == {**dict.fromkeys(FLOORS, 2), "SGCL-T": 2, "SGCL-Identity": 2}
    for folder in folders:                                                 # but each run has all of its own
        lines = runs.read_lines(folder / "results.jsonl")
        assert [line["name"] for line in lines[:3]] == FLOORS
        assert len(lines) == 4
        assert {line["run"] for line in lines} == {str(folder)}


def test_runs_that_differ_in_more_than_their_seed_have_rows_of_their_own(tmp_path):
    folders = [trained(tmp_path / "a", lr=0.1), trained(tmp_path / "b", lr=0.1, seed=1, workers=1),
               trained(tmp_path / "c"), trained(tmp_path / "d", smoothing="identity"),
               trained(tmp_path / "e", smoothing={"name": "taubin", "steps": 3},
                       view2=[{"name": "drop-edges", "p": 0.1}])]
    rows = workflow.evaluate_runs(folders, floors=False)
    named = {row["run"].rpartition("/")[2]: row["name"] for row in rows}
    assert named["a"] == named["b"]
    assert "lr=0.1" in named["a"]
    assert "lr=0.001" in named["c"]
    assert named["d"] == "SGCL-Identity"
    assert "smoothing.steps=3" in named["e"]
    assert "view2.drop-edges.p=0.1" in named["e"]
    assert len(set(named.values())) == 4


def test_another_protocol_than_that_of_the_training(tmp_path):
    trained(tmp_path / "run")
    assert {row["protocol"] for row in workflow.evaluate_runs([tmp_path / "run"], protocol="public")} == {"public"}
    with pytest.raises(InputError, match=r"no protocol named 'pubic'; did you mean 'public'\?"):
        workflow.evaluate_runs([tmp_path / "run"], protocol="pubic")


def test_a_protocol_with_other_nodes_is_told(tmp_path, datasets, monkeypatch):
    monkeypatch.setitem(protocols._DEVELOPMENT_SIZE, "blocks", 60)
    data = load("blocks")
    data.x = torch.cat([data.x, data.x[:1]])                               # a node without edges: not in the component
    data.y = torch.cat([data.y, data.y[:1]])
    del data.train_mask, data.val_mask, data.test_mask
    datasets("blocks", data)
    trained(tmp_path / "whole")
    trained(tmp_path / "component", protocol="development")
    assert np.array_equal(np.load(tmp_path / "component" / "ids.npy"), np.arange(100))
    with pytest.raises(InputError, match="was trained for protocol 'random', whose nodes are not those of 'development'"
                                         ": train it with --protocol development"):
        workflow.evaluate_runs([tmp_path / "whole"], protocol="development")


def test_a_protocol_that_cannot_score_the_graph_is_told_before_the_training(tmp_path, datasets):
    data = load("blocks")
    del data.train_mask
    datasets("blocks", data)
    with pytest.raises(InputError, match="public: the graph has no train_mask: set it, or use the protocol 'random'"):
        trained(tmp_path / "run", protocol="public")
    assert not list(tmp_path.iterdir())
    del data.y
    datasets("blocks", data)
    assert trained(tmp_path / "run", protocol="public").exists()           # without labels there is nothing to score


def test_labels_too_few_for_the_usual_protocol_do_not_hinder_the_training(tmp_path, datasets):
    data = load("blocks")
    data.y[3:] = -1
    datasets("blocks", data)
    trained(tmp_path / "run")
    trained(tmp_path / "again", protocol="random")                         # as `sgcl show` has the command
    with pytest.raises(InputError, match="random: "):
        workflow.evaluate_runs([tmp_path / "run"])


def test_nothing_is_written_when_one_of_several_runs_is_no_run(tmp_path):
    trained(tmp_path / "run")
    for other, message in ((tmp_path / "none", "is not a run folder"), (tmp_path, "is not a run folder")):
        with pytest.raises(InputError, match=message):
            workflow.evaluate_runs([tmp_path / "run", other])
    assert not (tmp_path / "run" / "results.jsonl").exists()


def test_a_saved_model_is_no_run(tmp_path):
    runs.write_config(tmp_path, {"format": 1, "method": "sgcl", "settings": {}, "in_channels": 6})
    with pytest.raises(InputError, match="names no dataset: it is a saved model, not a run of `sgcl train`"):
        workflow.evaluate_runs([tmp_path])


def test_runs_of_two_datasets_are_not_put_together(tmp_path, datasets):
    datasets("others", load("blocks"))
    trained(tmp_path / "run")
    workflow.train_run("sgcl", QUICK, load("others"), dataset="others", out=tmp_path / "other", quiet=True)
    with pytest.raises(InputError, match="the runs are of different datasets: evaluate them one dataset at a time"):
        workflow.evaluate_runs([tmp_path / "run", tmp_path / "other"])


def test_a_dataset_without_labels_cannot_be_scored(tmp_path):
    assert DATASETS["grid"].classes == 0
    workflow.train_run("sgcl", QUICK, load("grid"), dataset="grid", out=tmp_path / "run", quiet=True)
    with pytest.raises(InputError, match="the graph has no labels"):
        workflow.evaluate_runs([tmp_path / "run"])


def test_scores_depend_on_the_split_and_the_probe_alone(tmp_path):
    trained(tmp_path / "run")
    first, again = (workflow.evaluate_runs([tmp_path / "run"], protocol="public", probe="published") for _ in range(2))
    for row in (*first, *again):
        del row["seconds"]
    assert first == again
    assert all(row["step"] == 100 and row["C"] is None for row in first)


def test_no_number_is_no_value_in_json(tmp_path, datasets):
    data = load("blocks")
    data.test_mask, data.val_mask = data.test_mask | data.val_mask, torch.zeros(100, dtype=torch.bool)
    datasets("blocks", data)
    trained(tmp_path / "run", protocol="public")
    rows = workflow.evaluate_runs([tmp_path / "run"], probe="published")
    assert [row["val"] for row in rows] == [None] * 4
    assert "NaN" not in (tmp_path / "run" / "results.jsonl").read_text()


def test_settings_left_out_by_an_older_version_are_the_defaults(tmp_path):
    trained(tmp_path / "run")
    config = runs.read_config(tmp_path / "run")
    del config["settings"]["normalize_features"]
    runs.write_config(tmp_path / "run", config)
    assert settings.defaults("sgcl")["normalize_features"] is False
    assert len(workflow.evaluate_runs([tmp_path / "run"])) == 4


def test_without_matplotlib_there_are_no_pictures(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    trained(tmp_path / "run")
    assert not (tmp_path / "run" / "curve.png").exists()
    assert (tmp_path / "run" / "weights.safetensors").exists()
