import json
from pathlib import Path

import numpy as np
import pytest
import torch

from sgcl import Estimator, demo, runs
from sgcl.cli import main
from sgcl.datasets import load

ROWS = ["raw features", "untrained encoder", "propagated features", "SGCL-T", "SGCL-B", "SGCL-D", "Identity"]
PICTURES = ["curve.png", "map.png", "smoothing.png"]
FILES = ["config.json", *PICTURES, "embeddings.npy", "embeddings.parquet", "ids.npy", "metrics.jsonl", "results.jsonl",
         "weights.safetensors"]


@pytest.fixture(autouse=True)
def small_digits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first 300 digits, a narrow encoder, and an empty folder to work in."""
    real = load

    def few(name, *rest, **how):
        return real("digits").subgraph(torch.arange(300)) if name == "digits" else real(name, *rest, **how)

    monkeypatch.setattr("sgcl.demo.datasets.load", few)
    monkeypatch.setattr("sgcl.demo.recipe", lambda *names: {"hidden_channels": 8})
    monkeypatch.chdir(tmp_path)


def test_one_table_and_a_run_folder(capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pyarrow")
    demo.run("runs/demo", seeds=1, epochs=2)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("digits: 300 nodes, ")
    assert lines[0].endswith("random 10/10/80 splits, 1 seed")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    assert [row[0] for row in rows] == ROWS
    assert all(0 <= float(row[1]) <= 100 for row in rows)
    assert lines[-1].startswith("run folder: runs/demo (config.json, ")
    assert [line.split(":")[0] for line in err.splitlines()] == [f"{name} seed 0" for name in ROWS[3:]]

    folder = Path("runs/demo")
    assert sorted(file.name for file in folder.iterdir()) == sorted(FILES)
    for picture in PICTURES:
        assert (folder / picture).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert len(runs.read_lines(folder / "metrics.jsonl")) == 2
    assert [line["name"] for line in runs.read_lines(folder / "results.jsonl")] == ROWS
    config = runs.read_config(folder)
    assert (config["dataset"], config["protocol"], config["settings"]["smoothing"]["name"]) == (
        "digits", "random", "taubin")
    assert np.array_equal(np.load(folder / "ids.npy"), np.arange(300))


def test_the_folder_is_a_run_like_any_other(capsys, monkeypatch):
    monkeypatch.setattr("sgcl.demo.workflow.draw_if_possible", lambda draw: None)
    demo.run("runs/demo", seeds=1, epochs=2, quiet=True)
    embedding = Estimator.load("runs/demo").transform(load("digits").subgraph(torch.arange(300)))
    assert np.array_equal(np.load("runs/demo/embeddings.npy"), embedding.numpy())
    capsys.readouterr()
    assert main(["evaluate", "runs/demo", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    shown = {line["name"]: line["test"] for line in runs.read_lines(Path("runs/demo/results.jsonl"))[:6]}
    assert {row["name"]: row["test"] for row in rows} == {name: shown[name] for name in ROWS[:4]}


def test_a_second_time_has_a_folder_of_its_own(capsys, monkeypatch):
    monkeypatch.setattr("sgcl.demo.workflow.draw_if_possible", lambda draw: None)
    for _ in range(3):
        demo.run("runs/demo", seeds=1, epochs=0, quiet=True, as_json=True)
    assert sorted(path.name for path in Path("runs").iterdir()) == ["demo", "demo-2", "demo-3"]
    assert [json.loads(line)["run"] for line in capsys.readouterr().out.splitlines()] == [
        "runs/demo", "runs/demo-2", "runs/demo-3"]


def test_a_row_is_the_mean_over_seeds_and_splits_in_json_too(capsys, monkeypatch):
    monkeypatch.setattr("sgcl.demo.workflow.draw_if_possible", lambda draw: None)
    assert main(["demo", "--seeds", "2", "--epochs", "1", "--json", "-q", "--out", "here"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    outcome = json.loads(out)
    assert outcome["run"] == "here"
    assert [row["name"] for row in outcome["results"]] == ROWS * 2
    assert [row["split_seed"] for row in outcome["results"]] == [0] * 7 + [1] * 7
    assert main(["demo", "--seeds", "2", "--epochs", "1", "-q", "--out", "there"]) == 0
    out = capsys.readouterr().out
    assert "2 seeds" in out
    assert out.count("±") == 2 * len(ROWS)


def test_the_smoothing_picture_shows_a_delta_spread_by_each_filter():
    panels = demo.smoothing_panels()
    assert list(panels) == ["delta", "taubin", "bilateral", "diffusion"]
    delta = panels.pop("delta")
    assert delta.shape == (15, 15)
    assert sorted(delta[delta > 0]) == [1.0, 1.0, 1.0]
    for values in panels.values():
        assert (values[delta == 1] == 1).all()
        assert (values > 0).sum() >= 3 * 5                                 # the nodes and their neighbours
        assert values.max() == 1
        assert values.min() == 0
    centre = tuple(np.argwhere(delta == 1)[0])
    beside = (centre[0] + 1, centre[1])
    assert panels["bilateral"][beside] == pytest.approx(1 / 4)
    assert panels["diffusion"][beside] == pytest.approx(0.06)              # 2 eta
