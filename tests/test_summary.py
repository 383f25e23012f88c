import json
import os
from pathlib import Path

import pytest

from sgcl import InputError, files, runs, workflow
from sgcl.datasets import load
from sgcl.report import print_run, print_runs
from sgcl.summary import list_runs, show_run

pytestmark = pytest.mark.usefixtures("datasets")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sgcl.workflow.training.draw_if_possible", lambda draw: None)
    workflow.train_run("sgcl", {"hidden_channels": 8, "epochs": 3, "smoothing": {"name": "taubin", "mu": -0.5}},
                       load("blocks"), dataset="blocks", out=tmp_path / "deep" / "run", quiet=True)
    return tmp_path / "deep" / "run"


def edit(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    for name, value in changes.items():
        config.pop(name, None)
        config |= {} if value is None else {name: value}
    (folder / "config.json").write_text(json.dumps(config))


def test_a_finished_run(run, tmp_path):
    (row,) = list_runs(tmp_path)
    assert {key: row[key] for key in ("run", "name", "method", "dataset", "epochs", "epochs_asked", "state", "result")
            } == {"run": str(run), "name": "SGCL-T", "method": "sgcl", "dataset": "blocks", "epochs": 3,
                  "epochs_asked": 3, "state": "finished", "result": None}
    lines = runs.read_lines(run / "metrics.jsonl")
    assert row["loss"] == lines[-1]["loss"]
    shown = show_run(run)
    assert shown["settings"] == {"hidden_channels": 8, "epochs": 3, "smoothing.mu": -0.5}
    assert shown["history"]["first"] == lines[0]["loss"]
    assert shown["history"]["lowest"] == min(line["loss"] for line in lines)
    assert shown["environment"]["device"] == "cpu"
    assert shown["environment"]["threads"] >= 1
    assert "torch" in shown["environment"]["versions"]
    assert shown["holds"]["weights.safetensors"] == (run / "weights.safetensors").stat().st_size
    assert ".lock" not in shown["holds"]
    assert shown["next"] == f"sgcl evaluate {run}"
    assert shown["again"] == ("sgcl train sgcl --dataset blocks --protocol random --hidden-channels 8 --epochs 3 "
                              "--taubin-mu -0.5")


def test_what_was_last_asked_counts_by_its_mean(run):
    common = {"task": "probe", "protocol": "random", "probe": "converged", "metric": "accuracy"}
    for row in ({"name": "raw features", "split_seed": 0, "test": 0.99},
                {"name": "SGCL-T", "split_seed": 0, "test": 0.1},
                {"name": "SGCL-T", "split_seed": 0, "test": 0.5}, {"name": "SGCL-T", "split_seed": 1, "test": 0.7},
                {"name": "SGCL-T", "split_seed": 1, "test": 1.0, "probe": "published"},
                {"name": "SGCL-T", "split_seed": 0, "test": None, "task": "clustering"},
                {"name": "SGCL-T", "split_seed": 0, "test": 0.5}):
        runs.append(run / "results.jsonl", {**common, **row})
    assert show_run(run)["result"] == {**common, "test": pytest.approx(0.6), "splits": 2}


def test_labels_of_ones_own_are_another_question(run):
    common = {"task": "probe", "protocol": "random", "probe": "converged", "metric": "accuracy", "name": "SGCL-T"}
    runs.append(run / "results.jsonl", {**common, "split_seed": 0, "test": 0.1, "labels": "/y.csv"})
    runs.append(run / "results.jsonl", {**common, "split_seed": 1, "test": 0.5})
    assert (show_run(run)["result"]["test"], show_run(run)["result"]["splits"]) == (0.5, 1)


def test_who_asks_twice_has_one_answer_and_protocols_are_not_mixed(run, capsys):
    for protocol, seeds in (("random", 2), ("random", 3), ("grace", 1)):
        workflow.evaluate_runs([run], protocol=protocol, seeds=seeds, floors=False)
    assert len(runs.read_lines(run / "results.jsonl")) == 6
    shown = show_run(run)
    assert [(row["protocol"], row["split_seed"]) for row in shown["results"]] == [
        ("random", 0), ("random", 1), ("random", 2), ("grace", 0)]
    print_run(shown)
    out = capsys.readouterr().out
    assert [line.split("│")[4].strip() for line in out.splitlines() if line.startswith("│ SGCL-T")] == ["3", "1"]
    assert "\nblocks, protocol grace, probe converged\n" in out


def test_a_run_that_was_cut_short_and_one_that_goes_on(run):
    (run / "ids.npy").unlink()
    assert show_run(run)["state"] == "interrupted"
    assert show_run(run)["next"] == f"sgcl train --resume {run}"
    with files.lock(run):
        assert show_run(run)["state"] == "running"


def test_a_run_of_an_older_version_is_listed_by_its_file(run, tmp_path):
    edit(run, started=None, versions=None, commit=None, device=None, threads=None, graph=None, format=1)
    os.utime(run / "config.json", (0, 0))
    (row,) = list_runs(tmp_path)
    assert (row["started"], row["state"]) == ("1970-01-01T00:00:00+00:00", "finished")
    assert show_run(run)["environment"] == {"machine": os.uname().machine}


def test_oldest_first_and_what_cannot_be_read_is_a_row_too(run, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "config.json").write_text("{")
    os.utime(tmp_path / "bad" / "config.json", (0, 0))
    bad, good = list_runs(tmp_path)
    assert (bad["state"], good["state"]) == ("unreadable", "finished")
    assert "is damaged: it is not JSON" in bad["why"]
    with pytest.raises(InputError, match="is damaged: it is not JSON"):
        show_run(tmp_path / "bad")


def test_damaged_lines_do_not_hide_a_run(run, tmp_path):
    (run / "metrics.jsonl").write_text("nonsense\n")
    (row,) = list_runs(tmp_path)
    assert (row["epochs"], row["loss"], row["state"]) == (0, None, "finished")
    assert show_run(run)["history"] is None


def test_a_method_that_is_not_here_is_shown_with_all_its_settings(run):
    edit(run, method="elsewhere", settings={"depth": 3})
    shown = show_run(run)
    assert (shown["name"], shown["settings"], shown["again"]) == ("ELSEWHERE", {"depth": 3}, None)


def test_a_saved_model_is_no_run(run):
    edit(run, dataset=None)
    shown = show_run(run)
    assert (shown["state"], shown["again"]) == ("model", None)
    assert shown["next"].startswith("sgcl embed ")


def test_there_must_be_a_folder(tmp_path):
    assert list_runs(tmp_path) == []
    with pytest.raises(InputError, match=r"there is no folder .*nowhere: give the one that holds your runs"):
        list_runs(tmp_path / "nowhere")


def test_in_print(run, tmp_path, capsys):
    workflow.evaluate_runs([run], floors=False)
    print_runs("mine", list_runs(tmp_path))
    out = capsys.readouterr().out
    for part in ("mine", str(run), "SGCL-T", "blocks", "3/3", "finished", "accuracy ", "(random)"):
        assert part in out
    print_run(show_run(run))
    out = capsys.readouterr().out
    for part in ("SGCL-T, finished, began 20", "graph      blocks, 100 nodes", "smoothing.mu=-0.5", "epochs=3",
                 "device cpu", "epochs     3 of 3 in ", "weights.safetensors (", "again      sgcl train sgcl",
                 "next       sgcl evaluate", "test accuracy %"):
        assert part in out
    edit(run, dataset=None)
    (run / "metrics.jsonl").unlink()
    print_run(show_run(run))
    assert "\ngraph " not in capsys.readouterr().out
