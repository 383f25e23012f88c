"""Runs that were stopped by a signal, a full disk or a loss that is no number, and go on as if they had not been."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import SGCL, Estimator, Graph, InputError, cli, methods, runs, workflow
from sgcl.checkpoints import Checkpoints
from sgcl.estimator import estimator_for
from sgcl.methods import METHODS
from sgcl.progress import ProgressBar
from sgcl.samplers import RandomNode
from sgcl.signals import Interrupted
from sgcl.trainer import NonFiniteError, TrainingError, step_generator

QUICK = {"hidden_channels": 8, "epochs": 4, "sampler": {"name": "node", "batch_size": 15, "batches": 3}}
WORDS = ["train", "--dataset", "blocks", "--hidden-channels", "8", "--epochs", "4", "--sampler", "node",
         "--node-batch-size", "30", "--node-batches", "3", "--quiet"]
FINAL = ("weights.safetensors", "embeddings.npy", "ids.npy")


class Died(Exception):
    """Stands for the end of the process."""


pytestmark = pytest.mark.filterwarnings("default::UserWarning")  # notes of the command line are looked at here


@pytest.fixture(autouse=True)
def nothing_beside_the_training(monkeypatch):
    monkeypatch.setattr("sgcl.workflow.training.draw_if_possible", lambda draw: None)
    monkeypatch.setattr("sgcl.workflow.training.check_memory", lambda *args: None)  # takes steps of its own


def weights(estimator: Estimator) -> dict[str, Tensor]:
    return estimator.method.state_dict()


def same(first: Estimator, second: Estimator) -> bool:
    a, b = weights(first), weights(second)
    losses = [[epoch.loss for epoch in estimator.history] for estimator in (first, second)]
    return losses[0] == losses[1] and a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def cut_short(make: Callable[[], Estimator], data: Data, folder: Path, saves: int, monkeypatch) -> Estimator:
    """Die after so many checkpoints, one after each batch; then resume in a new estimator."""
    count, save = [0], Checkpoints.save

    def last_save(self, *args):
        save(self, *args)
        count[0] += 1
        if count[0] == saves:
            raise Died

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "save", last_save)
        with pytest.raises(Died):
            make().fit(data, checkpoint=Checkpoints(folder, every=0))
    return make().fit(data, checkpoint=folder, resume=True)


# the training

@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if kind.level == "node"])
def test_every_method_goes_on_exactly(name, ring, tmp_path, monkeypatch):
    def make() -> Estimator:
        return estimator_for(name)(**{**QUICK, "epochs": 3, "schedule": "cosine", "patience": 2})

    whole = make().fit(ring)
    saves = random.Random(name).randrange(1, 3 * len(whole.history))
    assert same(cut_short(make, ring, tmp_path, saves, monkeypatch), whole), f"after {saves} batches"


@pytest.mark.parametrize("accumulate", [0, 1, 2])
def test_a_training_goes_on_exactly_from_wherever_it_stopped(ring, tmp_path, monkeypatch, accumulate):
    def make() -> Estimator:
        return SGCL(**QUICK, dropout=0.3, weight_decay=0.1, optimizer="adamw", warmup=2, accumulate=accumulate)

    whole = make().fit(ring)
    for saves in (1, 3, 5, 8, 12):
        assert same(cut_short(make, ring, tmp_path / str(saves), saves, monkeypatch), whole), saves


class Careless(methods.SGCL):
    """Draws from every global generator, keeps what it decides in buffers, one of them a row for each node."""

    def start(self, graph: Graph) -> None:
        self.register_buffer("bank", torch.zeros(graph.num_nodes, dtype=torch.float64), persistent=False)
        self.register_buffer("chosen", None, persistent=False)

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        self.chosen = torch.randperm(graph.num_nodes, generator=generator)[:3 + epoch]
        self.bank += random.random()

    def augment(self, graph: Graph, generator: torch.Generator) -> tuple:
        self.bank += random.gauss(0, 1) + np.random.randn() + float(torch.rand(()))
        return super().augment(graph, generator)

    def loss(self, views: tuple) -> Tensor:
        return super().loss(views) * (1 + self.bank[self.chosen].sum().sigmoid())


def test_random_states_and_buffers_are_kept(ring, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS._parts, "careless", Careless)
    make = lambda: estimator_for("careless")(**QUICK)  # noqa: E731
    whole = make().fit(ring)
    assert same(whole, make().fit(ring))
    for saves in (1, 3, 8, 11):
        again = cut_short(make, ring, tmp_path / str(saves), saves, monkeypatch)
        assert same(again, whole), saves
        assert torch.equal(again.method.bank, whole.method.bank)
    assert "bank" not in weights(whole)


def test_patience_is_not_forgotten(ring, tmp_path, monkeypatch):
    monkeypatch.setattr("sgcl.methods.SGCL.loss", lambda self, views: sum(p.sum() for p in self.parameters()) * 0 + 1)
    make = lambda: SGCL(hidden_channels=4, epochs=9, patience=3)  # noqa: E731
    whole = make().fit(ring)
    assert len(whole.history) == 4
    for saves in (1, 3, 4):
        assert same(cut_short(make, ring, tmp_path / str(saves), saves, monkeypatch), whole)


def test_time_is_counted_on(ring, tmp_path, monkeypatch):
    resumed = cut_short(lambda: SGCL(**QUICK), ring, tmp_path, 6, monkeypatch)
    seconds = [epoch.seconds for epoch in resumed.history]
    assert seconds == sorted(seconds)
    assert [epoch.epoch for epoch in resumed.history] == [1, 2, 3, 4]


def test_checkpoints_change_nothing(ring, tmp_path):
    assert same(SGCL(**QUICK).fit(ring, checkpoint=Checkpoints(tmp_path, every=0)), SGCL(**QUICK).fit(ring))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "epoch-000003-batch-000002.safetensors", "epoch-000004-batch-000000.safetensors"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_number_of_threads_gives_one_result(ring, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        first, second = (SGCL(hidden_channels=64, epochs=1).fit(ring) for _ in range(2))
        assert same(first, second)
        assert torch.equal(first.transform(ring), second.transform(ring))
    finally:
        torch.set_num_threads(before)


# fit

def test_fit_takes_a_folder(ring, tmp_path, monkeypatch):
    monkeypatch.setattr(Checkpoints, "due", True)
    SGCL(**QUICK).fit(ring, checkpoint=tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 2
    with pytest.raises(InputError, match="kept holds checkpoints already: resume, or give another folder"):
        SGCL(**QUICK).fit(ring, checkpoint=str(tmp_path / "kept"))
    assert same(SGCL(**QUICK).fit(ring, checkpoint=tmp_path / "kept", resume=True), SGCL(**QUICK).fit(ring))
    with pytest.raises(InputError, match=r"checkpoints of another training: lr was 0\.001, is 0\.1"):
        SGCL(**QUICK, lr=0.1).fit(ring, checkpoint=tmp_path / "kept", resume=True)
    assert same(SGCL(**QUICK, workers=2).fit(ring, checkpoint=tmp_path / "kept", resume=True), SGCL(**QUICK).fit(ring))
    other = ring.clone()
    other.x = ring.x + 1
    with pytest.raises(InputError, match="checkpoints of another training: graph was"):
        SGCL(**QUICK).fit(other, checkpoint=tmp_path / "kept", resume=True)


def test_nothing_to_resume_is_a_beginning(ring, tmp_path):
    assert same(SGCL(**QUICK).fit(ring, checkpoint=tmp_path / "none", resume=True), SGCL(**QUICK).fit(ring))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_training_after_the_batch(ring, tmp_path, monkeypatch, number):
    whole, steps, loss = SGCL(**QUICK).fit(ring), [], methods.SGCL.loss

    def interrupted(self, views):
        steps.append(1)
        if len(steps) == 5:
            signal.raise_signal(number)
        return loss(self, views)

    before = signal.getsignal(number)
    with monkeypatch.context() as patch:
        patch.setattr("sgcl.methods.SGCL.loss", interrupted)
        with pytest.raises(Interrupted, match="interrupted after epoch 1, batch 2 of the next") as stop:
            SGCL(**QUICK).fit(ring, checkpoint=tmp_path)
    assert (stop.value.number, len(steps)) == (number, 5)
    assert isinstance(stop.value, KeyboardInterrupt)
    assert signal.getsignal(number) == before
    assert same(SGCL(**QUICK).fit(ring, checkpoint=tmp_path, resume=True), whole)


def test_a_second_signal_stops_at_once(ring, tmp_path):
    def twice(epoch):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stop:
        SGCL(**QUICK).fit(ring, checkpoint=tmp_path, callbacks=[twice])
    assert not isinstance(stop.value, Interrupted)
    assert list(tmp_path.iterdir()) == []


def test_without_checkpoints_signals_are_left_alone(ring):
    def once(epoch):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stop:
        SGCL(**QUICK).fit(ring, callbacks=[once])
    assert not isinstance(stop.value, Interrupted)


@pytest.mark.parametrize("accumulate", [0, 1])
def test_a_gradient_that_is_no_number_stops_before_the_weights_are_spoilt(ring, tmp_path, monkeypatch, accumulate):
    steps, loss = [], methods.SGCL.loss

    class Poison(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient * float("nan")

    def poisoned(self, views):
        steps.append(1)
        return Poison.apply(loss(self, views)) if len(steps) == 5 else loss(self, views)

    def make() -> Estimator:
        return SGCL(**QUICK, accumulate=accumulate)

    whole = make().fit(ring)
    with monkeypatch.context() as patch:
        patch.setattr("sgcl.methods.SGCL.loss", poisoned)
        with pytest.raises(NonFiniteError, match=r"the gradient of encoders\.0.* is not finite in epoch 2, batch 2 \("):
            make().fit(ring, checkpoint=Checkpoints(tmp_path, every=0))
    assert same(make().fit(ring, checkpoint=tmp_path, resume=True), whole)


# runs

def run(*words: str) -> int:
    return cli.main(list(words))


def left_behind(folder: Path) -> dict[str, object]:
    return {"metrics": [(line["epoch"], line["loss"]) for line in runs.read_lines(folder / "metrics.jsonl")],
            **{name: (folder / name).read_bytes() for name in FINAL}}


@pytest.fixture
def whole(datasets, tmp_path) -> dict[str, object]:
    """What the run of ``WORDS`` leaves behind where nothing happens."""
    assert run(*WORDS, "--out", str(tmp_path / "whole")) == 0
    return left_behind(tmp_path / "whole")


@pytest.fixture
def stopped(datasets, tmp_path, monkeypatch, capsys) -> Path:
    """The same run, stopped by Ctrl-C after the second epoch."""
    stop_after(2, signal.SIGINT, monkeypatch, tmp_path / "run")
    capsys.readouterr()
    return tmp_path / "run"


def stop_after(epochs: int, number: int, monkeypatch, folder: Path) -> int:
    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "__call__", lambda self, epoch: (
            signal.raise_signal(number) if epoch.epoch == epochs else None))
        return run(*WORDS, "--out", str(folder))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_says_how_to_go_on_and_does(whole, tmp_path, monkeypatch, capsys, number):
    capsys.readouterr()
    folder = tmp_path / "run"
    assert stop_after(2, number, monkeypatch, folder) == 128 + number
    assert capsys.readouterr() == ("", f"sgcl: interrupted after epoch 2; go on with: sgcl train --resume {folder}\n")
    assert len(runs.read_lines(folder / "metrics.jsonl")) == 2
    assert not runs.is_finished(folder)
    assert run("train", "--resume", str(folder), "-q", "--json") == 0
    assert left_behind(folder) == whole
    summary = json.loads(capsys.readouterr().out)
    assert (summary["run"], summary["epochs"], summary["nodes"]) == (str(folder), 4, 100)


def test_a_run_without_a_checkpoint_begins_anew(whole, stopped):
    shutil.rmtree(stopped / "checkpoints")
    assert run("train", "--resume", str(stopped), "-q") == 0
    assert left_behind(stopped) == whole


@pytest.mark.parametrize("metrics", ["", '{"epoch": 1, "loss": 2', "nonsense\n", '{"epoch": 9, "loss": 1.0}\n[1]\n'])
def test_lost_and_torn_metrics_are_mended(whole, stopped, metrics):
    (stopped / "metrics.jsonl").write_text(metrics)
    assert run("train", "--resume", str(stopped), "-q") == 0
    assert left_behind(stopped) == whole


def test_what_others_wrote_beside_the_loss_is_kept(stopped):
    lines = [{**line, "rank": 3.5} for line in runs.read_lines(stopped / "metrics.jsonl")]
    (stopped / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("train", "--resume", str(stopped), "-q") == 0
    assert [line.get("rank") for line in runs.read_lines(stopped / "metrics.jsonl")] == [3.5, 3.5, None, None]


def test_a_damaged_checkpoint_is_told_and_the_one_before_used(whole, datasets, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    monkeypatch.setattr(Checkpoints, "due", True)
    assert stop_after(2, signal.SIGTERM, monkeypatch, folder) == 143
    last = max((folder / "checkpoints").iterdir())
    last.write_bytes(last.read_bytes()[:-10])
    capsys.readouterr()
    assert run("train", "--resume", str(folder), "-q") == 0
    assert f"sgcl: note: {last} is damaged (its checksum is another): the one before is used" in capsys.readouterr().err
    assert left_behind(folder) == whole


def test_a_finished_run_is_left_as_it_is(whole, tmp_path, capsys):
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "whole").iterdir()}
    capsys.readouterr()
    assert run("train", "--resume", str(tmp_path / "whole")) == 0
    out, err = capsys.readouterr()
    assert err == f"sgcl: note: {tmp_path / 'whole'} is finished: there is nothing to resume\n"
    assert "after 4 epochs" in out
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "whole").iterdir()} == before


@pytest.mark.parametrize("more", [["--lr", "0.1"], ["--lr=0.1"], ["grace"], ["--dataset", "cora"], ["--out", "x"]])
def test_other_settings_are_refused(stopped, capsys, more):
    assert run("train", "--resume", str(stopped), *more) == 2
    assert capsys.readouterr() == ("", f"sgcl: --resume goes on with the run's own settings: leave out {more[0]}\n")


def test_an_unfinished_run_is_not_written_over(stopped, capsys):
    before = sorted(stopped.rglob("*"))
    assert run(*WORDS, "--out", str(stopped)) == 2
    assert capsys.readouterr().err == (f"sgcl: {stopped} holds an unfinished run: go on with `sgcl train --resume "
                                       f"{stopped}`, give another --out or remove it\n")
    assert sorted(stopped.rglob("*")) == before


def test_what_is_no_run_cannot_be_resumed(tmp_path, capsys):
    assert run("train", "--resume", str(tmp_path)) == 2
    assert capsys.readouterr().err == f"sgcl: {tmp_path} is not a run folder: it has no config.json\n"


def test_a_run_whose_graph_has_changed_is_refused(stopped, datasets, capsys):
    changed = datasets_module().load("blocks")
    changed.x[0, 0] += 1
    datasets("blocks", changed)
    assert run("train", "--resume", str(stopped)) == 2
    assert capsys.readouterr().err == (f"sgcl: {stopped}: the graph is not the one that the run began with; bring its "
                                       "files back, or train anew with another --out\n")


def datasets_module():
    from sgcl import datasets
    return datasets


def test_files_that_changed_or_went_are_told(tmp_path, monkeypatch, capsys):
    edges, x, folder = tmp_path / "edges.csv", tmp_path / "x.csv", tmp_path / "run"
    edges.write_text("source,target\n" + "".join(f"{a},{b}\n{b},{a}\n" for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))))
    x.write_text("id,a\n" + "".join(f"{node},{node}.5\n" for node in range(4)))
    monkeypatch.setattr("sgcl.trainer._keep", lambda *args: (_ for _ in ()).throw(Interrupted("interrupted", 2)))
    assert run("train", "--graph", str(edges), "--features", str(x), "--out", str(folder), "--epochs", "2",
               "--hidden-channels", "4", "-q") == 130
    monkeypatch.undo()
    x.write_text(x.read_text().replace("3.5", "3.25"))
    assert run("train", "--resume", str(folder), "-q") == 2
    assert "the graph is not the one that the run began with" in capsys.readouterr().err
    x.unlink()
    assert run("train", "--resume", str(folder), "-q") == 2
    err = capsys.readouterr().err
    assert "x.csv" in err
    assert err.count("\n") == 1


def test_a_run_of_the_first_format_cannot_be_resumed_but_read(whole, stopped, tmp_path, capsys):
    for folder in (stopped, tmp_path / "whole"):
        config = runs.read_config(folder)
        del config["graph"]
        runs.write_config(folder, {**config, "format": 1})
    assert run("train", "--resume", str(stopped)) == 2
    assert "was written by an older sgcl (format 1), whose runs cannot be resumed: train it again with another --out" \
        in capsys.readouterr().err
    assert Estimator.load(tmp_path / "whole").settings["epochs"] == 4


def test_another_version_of_a_library_is_told(stopped, capsys):
    config = runs.read_config(stopped)
    config["versions"]["torch"] = "1.0"
    runs.write_config(stopped, config)
    assert run("train", "--resume", str(stopped), "-q") == 0
    assert f"note: the run began with torch 1.0, this is {torch.__version__.split('+')[0]}" in capsys.readouterr().err


def test_threads_are_those_of_the_run_unless_given(stopped, monkeypatch):
    config = runs.read_config(stopped)
    runs.write_config(stopped, {**config, "threads": 3})
    seen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", seen.append)
    assert run("train", "--resume", str(stopped), "--threads", "2", "-q") == 0
    assert run("train", "--resume", str(stopped), "-q") == 0
    assert seen == [2, 3]


def test_a_time_between_checkpoints_that_makes_no_sense_is_told(datasets, tmp_path, capsys):
    assert run(*WORDS, "--out", str(tmp_path / "run"), "--checkpoint-every", "-1") == 2
    assert capsys.readouterr().err == "sgcl: checkpoints every -1.0 seconds: expected 0 or more\n"
    assert not (tmp_path / "run").exists()


def test_bad_input_found_after_hours_takes_nothing_away(datasets, tmp_path, monkeypatch, capsys):
    def refuse(*args, **how):
        raise InputError("the embedding does not fit")

    monkeypatch.setattr(Estimator, "transform", refuse)
    assert run(*WORDS, "--out", str(tmp_path / "run")) == 2
    assert (tmp_path / "run" / "weights.safetensors").exists()


# a disk that is full

def test_a_disk_that_is_full_at_any_write_leaves_a_run_that_goes_on(whole, tmp_path, monkeypatch, capsys):
    """Every file that is written is the one that fails, in turn; none is left half written."""
    sync, count = os.fsync, [0]

    def full(handle):
        count[0] += 1
        if count[0] == failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    monkeypatch.setattr(Checkpoints, "due", True)
    failing = 2 * 2 + 1  # config.json and the first checkpoint are there: a file and its folder each
    while True:
        folder, count[0] = tmp_path / f"run-{failing}", 0
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            code = run(*WORDS, "--out", str(folder))
        if code == 0:
            break
        assert code == 1
        assert capsys.readouterr().err == (f"sgcl: cannot write {folder}: No space left on device; once that is "
                                           f"mended, go on with: sgcl train --resume {folder}\n")
        assert Checkpoints(folder / "checkpoints", resume=True).load() is not None
        assert not [file for file in folder.rglob("*") if ".part" in file.name]
        assert run("train", "--resume", str(folder), "-q") == 0
        assert left_behind(folder) == whole, failing
        capsys.readouterr()
        failing += 7
    assert failing > 2 * (1 + 12 + 3)


def test_metrics_on_a_full_disk(whole, tmp_path, monkeypatch, capsys):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    append, folder = runs.append, tmp_path / "run"
    monkeypatch.setattr(Checkpoints, "due", True)
    with monkeypatch.context() as patch:
        patch.setattr(runs, "append", lambda file, record: append(
            Path("/dev/full") if record["epoch"] == 3 else file, record))
        assert run(*WORDS, "--out", str(folder)) == 1
    assert "sgcl: cannot write " in capsys.readouterr().err
    assert run("train", "--resume", str(folder), "-q") == 0
    assert left_behind(folder) == whole


def test_a_disk_of_its_own_that_runs_full(whole, tmp_path, capsys, monkeypatch):
    """The real thing, where one may mount: no room is left after some checkpoints, and the run goes on elsewhere."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if shutil.which("mount") is None or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("needs leave to mount")
    save, filler = Checkpoints.save, disk / "filler"

    def fill_up(self, epoch, *args):
        if epoch == 2 and not filler.exists():
            with pytest.raises(OSError, match="No space left"):
                filler.write_bytes(b"\0" * 2**20)
        save(self, epoch, *args)

    try:
        monkeypatch.setattr(Checkpoints, "due", True)
        monkeypatch.setattr(Checkpoints, "save", fill_up)
        assert run(*WORDS, "--out", str(disk / "run")) == 1
        assert "No space left on device; once that is mended, go on with: sgcl train" in capsys.readouterr().err
        assert Checkpoints(disk / "run" / "checkpoints", resume=True).load().state["place"]["epoch"] == 2
        filler.unlink()
        monkeypatch.setattr(Checkpoints, "save", save)
        assert run("train", "--resume", str(disk / "run"), "-q") == 0
        assert left_behind(disk / "run") == whole
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# a loss that is no number

@pytest.mark.parametrize("draw", range(5))
def test_a_loss_that_is_no_number_names_its_batch_and_goes_on_without_its_cause(whole, tmp_path, monkeypatch, capsys,
                                                                               draw):
    capsys.readouterr()
    bad, steps, loss = random.Random(draw).randrange(12), [], methods.SGCL.loss
    epoch, batch, folder = bad // 3 + 1, bad % 3, tmp_path / "run"

    def injected(self, views):
        steps.append(1)
        return loss(self, views) * (float("nan") if len(steps) == bad + 1 else 1.0)

    with monkeypatch.context() as patch:
        patch.setattr("sgcl.methods.SGCL.loss", injected)
        patch.setattr(Checkpoints, "due", True)
        assert run(*WORDS, "--out", str(folder)) == 1
    graph = Graph.from_data(datasets_module().load("blocks"))
    nodes = RandomNode(batch_size=30, batches=3).nodes(graph, step_generator(0, epoch, batch)).tolist()
    err = capsys.readouterr().err
    assert err.startswith(f"sgcl: the loss is nan in epoch {epoch}, batch {batch + 1} "
                          f"(nodes {', '.join(map(str, nodes[:5]))}, ... 30 in all): lower the learning rate")
    done = f"epoch-{bad // 3:06d}-batch-{bad % 3:06d}.safetensors"
    assert (f"the last good checkpoint is {folder / 'checkpoints' / done};" if bad else "there is no checkpoint yet;") \
        in err
    assert err.endswith(f"without its cause, go on with: sgcl train --resume {folder}\n")
    assert err.count("\n") == 1
    assert json.loads((folder / "failed-batch.json").read_text()) == {"epoch": epoch, "batch": batch + 1, "ids": nodes}
    assert run("train", "--resume", str(folder), "-q") == 0
    assert left_behind(folder) == whole


def test_a_batch_is_named_by_the_ids_of_its_nodes(tmp_path, monkeypatch):
    data = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]), ids=np.array(["a", "b", "c"]))
    monkeypatch.setattr("sgcl.methods.SGCL.loss", lambda self, views: torch.tensor(float("inf")))
    with pytest.raises(TrainingError, match=r"the loss is inf in epoch 1, batch 1 \(all nodes\)"):
        workflow.train_run("sgcl", {"hidden_channels": 4}, data, dataset="own", files={"edges": "edges.csv"},
                           out=tmp_path / "run", quiet=True)
    assert json.loads((tmp_path / "run" / "failed-batch.json").read_text())["ids"] == ["a", "b", "c"]
    with pytest.raises(TrainingError, match=r"in epoch 1, batch 1 \(nodes [abc], [abc]\): lower the") as why:
        workflow.train_run("sgcl", {"hidden_channels": 4, "sampler": {"name": "node", "batch_size": 2}}, data,
                           dataset="own", files={"edges": "edges.csv"}, out=tmp_path / "batch", quiet=True)
    ids = json.loads((tmp_path / "batch" / "failed-batch.json").read_text())["ids"]
    assert f"(nodes {ids[0]}, {ids[1]})" in str(why.value)
