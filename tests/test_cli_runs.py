"""`sgcl runs`, `sgcl show`, `sgcl sweep`, and how a training is watched and bounded."""

import json
import shlex
import sys
from pathlib import Path

import pytest
import torch

from sgcl import runs
from sgcl.cli import main
from sgcl.memory import resident
from sgcl.sweep import trials

QUICK = ("--dataset", "blocks", "--hidden-channels", "8", "--epochs", "2")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, datasets) -> Path:
    """Every test runs in an empty folder, and draws nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sgcl.workflow.training.draw_if_possible", lambda draw: None)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("sgcl: ")
    return err.removeprefix("sgcl: ").rstrip("\n")


def test_runs_are_listed_and_shown(capsys):
    assert main(["train", *QUICK, "-q", "--out", "runs/a"]) == 0
    assert main(["train", *QUICK, "-q", "--out", "runs/deep/b", "--smoothing", "identity"]) == 0
    capsys.readouterr()
    assert main(["runs"]) == 0
    out = capsys.readouterr().out
    assert "runs/a" in out
    assert "SGCL-Identity" in out
    assert main(["runs", "runs/deep", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["run"], row["state"], row["epochs"]) == ("runs/deep/b", "finished", 2)
    assert main(["show", "runs/deep/b"]) == 0
    assert "next       sgcl evaluate runs/deep/b" in capsys.readouterr().out
    assert main(["show", "runs/deep/b", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["again"]
    assert main([*shlex.split(again)[1:], "-q", "--out", "again"]) == 0    # the command repeats the run
    for name in ("weights.safetensors", "embeddings.npy"):
        assert Path("again", name).read_bytes() == Path("runs/deep/b", name).read_bytes()


def test_no_runs_and_no_folder(capsys):
    assert refused(capsys, "runs") == "there is no folder runs: give the one that holds your runs"
    Path("runs").mkdir()
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == "no runs in runs\n"
    assert main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert refused(capsys, "show", "runs") == "runs is not a run folder: it has no config.json"


def test_verbose_tells_of_every_epoch_the_memory_and_the_positives(capsys):
    assert main(["train", *QUICK, "-v", "--out", "run"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("SGCL-T on blocks: memory estimate 6")
    assert lines[1].startswith("SGCL-T on blocks: epoch 1/2")
    assert lines[2].endswith(" of the edges of a view are positives")
    assert lines[3].startswith("SGCL-T on blocks: epoch 2/2")
    assert main(["train", *QUICK, "-v", "-q", "--out", "other"]) == 0
    assert capsys.readouterr().err == ""


def test_a_run_that_does_not_fit_is_refused_and_leaves_nothing(capsys):
    line = refused(capsys, "train", *QUICK, "--memory-limit", "1MB", "--out", "runs/a")
    assert line.startswith("training takes about 6")
    assert "but 0 MB are left of the limit of 1 MB: no batch is small enough" in line
    assert list(Path().iterdir()) == []
    assert "expected a size such as 500MB or 2GB" in refused(capsys, "train", *QUICK, "--memory-limit", "lots")
    assert main(["train", *QUICK, "-q", "--memory-limit", f"{resident() // 2**20 + 200}MB", "--out", "runs/a"]) == 0


def test_tensorboard_beside_the_metrics(capsys, monkeypatch):
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    assert main(["train", *QUICK, "-q", "--tensorboard", "--out", "run"]) == 0
    events = reading.EventAccumulator("run/tensorboard")
    events.Reload()
    assert [event.value for event in events.Scalars("loss")] == [
        pytest.approx(line["loss"]) for line in runs.read_lines(Path("run/metrics.jsonl"))]
    capsys.readouterr()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert refused(capsys, "train", *QUICK, "--tensorboard", "--out", "other") == (
        "TensorBoard is not installed: pip install 'sgcl[tensorboard]'")
    assert not Path("other").exists()


@pytest.mark.filterwarnings("default::UserWarning:sgcl")
def test_collapse_is_a_note(capsys, monkeypatch):
    monkeypatch.setattr("sgcl.methods.SGCL.embed", lambda self, graph: torch.ones(graph.num_nodes, 8))
    assert main(["train", *QUICK, "-q", "--out", "run"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sgcl: note: after epoch 1 the embedding has collapsed: its effective rank is 1.00 of 8")


@pytest.fixture
def no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "check_memory", lambda *args: None)


def test_a_sweep_prints_its_table_and_a_command_that_runs(capsys, no_estimate):
    words = ["sweep", *QUICK, "--grid", "lr=1e-2,1e-3", "--grid", "drop-edges=0.2 0.4,0.3", "--grid", "shared=yes,no"]
    assert main([*words, "--seed", "3"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines()[0].startswith("trial 1/8, lr 1e-2, drop_edges 0.2 0.4, shared yes: epoch 2/2  loss ")
    assert out.startswith("runs/sweep-sgcl-blocks-validation: sgcl on blocks, by validation accuracy\n")
    for part in ("lr", "drop_edges", "0.2 0.4", "complete"):
        assert part in out
    command = shlex.split(out.splitlines()[-1].removeprefix("best: "))
    assert command[:3] == ["sgcl", "train", "sgcl"]
    assert main([*command[1:], "-q", "--out", "best"]) == 0
    capsys.readouterr()
    assert main([*words, "--seed", "3", "--json", "-q"]) == 0              # nothing is left to do
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == ""
    best = next(trial for trial in found["trials"] if trial["trial"] == found["best"])
    assert runs.read_config(Path("best"))["settings"] == best["settings"]
    assert best["settings"]["seed"] == 3


def test_each_smoothing_of_a_sweep_has_its_own_recipe(no_estimate, capsys, monkeypatch):
    monkeypatch.setattr("sgcl.recipes.recipe", lambda method, dataset, smoothing=None: {
        "smoothing": smoothing, "lr": {"taubin": 0.5, "identity": 0.25}[smoothing]})
    assert main(["sweep", *QUICK, "--grid", "smoothing=taubin,identity", "--select", "rank", "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [trial["settings"]["lr"] for trial in found["trials"]] == [0.5, 0.25]
    assert "--no-recipe" in found["command"]


def test_a_sweep_with_optuna(capsys, no_estimate):
    pytest.importorskip("optuna")
    words = ["sweep", *QUICK, "--optuna", "--range", "lr=1e-4..1e-2", "--grid", "layer=gcn,sage", "--select", "links"]
    assert main([*words, "--trials", "2", "--json", "-q", "--out", "s"]) == 0
    assert len(json.loads(capsys.readouterr().out)["trials"]) == 2
    assert main([*words, "--trials", "3", "--out", "s"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("trial 3/3, layer ")
    assert "by link ROC-AUC" in out


@pytest.mark.parametrize(("words", "message"), [
    ((), "nothing to sweep: give --grid NAME=VALUE,VALUE, e.g. --grid lr=1e-3,1e-4"),
    (("--grid", "hiden-channels=4"), "no setting of sgcl 'hiden-channels'; did you mean 'hidden-channels'?"),
    (("--grid", "lr=1e-3,fast"), "argument --lr: invalid float value: 'fast'"),
    (("--grid", "lr=-1"), "lr is -1.0, expected a finite number above 0"),
    (("--grid", "bilateral-hops=1,2"),
     "--bilateral-hops does nothing: the smoothing is 'taubin'; add --smoothing bilateral"),
    (("--range", "lr=1e-4..1e-2"), "lr has a range, which a grid cannot walk through: list values, or add --optuna"),
    (("--grid", "lr=1", "--trials", "3"), "--trials is for --optuna: a grid has as many trials as points"),
    (("--grid", "lr=1", "--selct", "rank"), "no argument '--selct'; did you mean '--select'?"),
])
def test_a_sweep_that_cannot_be(capsys, words, message):
    assert refused(capsys, "sweep", *QUICK, *words) == message
    assert list(Path().iterdir()) == []
