"""A run that is killed at any time and resumed leaves, bit for bit, what it would have left."""

import itertools
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from forking import Server

from sgcl import cli, runs
from sgcl.samplers import SAMPLERS
from sgcl.smoothing import SMOOTHINGS

EPOCHS, BATCHES, DRAWS = 3, 3, 24
OF_NODES = [name for name in SAMPLERS if name != "graphs"]
PARTS = list(itertools.islice(zip(itertools.cycle(SMOOTHINGS), itertools.cycle(OF_NODES), strict=False), DRAWS))

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("server") / "log.txt")
    yield made
    made.close()


@pytest.fixture(scope="module")
def own_graph(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Thirty named nodes in a ring with chords, as files."""
    folder = tmp_path_factory.mktemp("graph")
    chance = np.random.default_rng(0)
    (folder / "edges.csv").write_text("source,target\n" + "".join(
        f"n{node},n{(node + step) % 30}\n" for node in range(30) for step in (1, 4, 26, 29)))
    (folder / "x.csv").write_text("id,a,b,c\n" + "".join(
        f"n{node},{','.join(map(str, chance.standard_normal(3).round(3)))}\n" for node in range(30)))
    return ["--graph", str(folder / "edges.csv"), "--features", str(folder / "x.csv")]


def settings(number: int) -> list[str]:
    smoothing, sampler = PARTS[number]
    size = [] if sampler in ("full", "saint") else [f"--{sampler}-batch-size", "12"]
    return ["--smoothing", smoothing, "--sampler", sampler, f"--{sampler}-batches", str(BATCHES), *size, "--quiet",
            "--hidden-channels", "4", "--dropout", "0.2", "--epochs", str(EPOCHS), "--seed", str(number),
            "--schedule", "cosine", "--warmup", "1", "--accumulate", str(number % 3),
            "--shared" if number % 2 else "--no-shared", "--workers", str(number % 3)]


def left_behind(folder: Path) -> dict[str, object]:
    """What must not differ; the times of the epochs may."""
    metrics = [(line["epoch"], line["loss"]) for line in runs.read_lines(folder / "metrics.jsonl")]
    names = {file.name for file in folder.iterdir()} - {"checkpoints"}
    return {"metrics": metrics, "names": names,
            **{name: (folder / name).read_bytes() for name in ("weights.safetensors", "embeddings.npy", "ids.npy")}}


def progress(folder: Path) -> int:
    """How many batches the last checkpoint stands after; -1 before the run has its settings."""
    if not (folder / "config.json").exists():
        return -1
    places = [file.stem.split("-") for file in folder.glob("checkpoints/epoch-*.safetensors")]
    return max((int(epoch) * BATCHES + int(batch) for _, epoch, _, batch in places), default=0)


def killed(server: Server, folder: Path, chance: random.Random, *words: str) -> bool:
    """Run and kill once a random number of batches is done, and a moment later; False if it was done before."""
    target = chance.randint(max(progress(folder), 0), EPOCHS * BATCHES)
    pid = server.start(*words, "--checkpoint-every", "0")
    deadline = time.monotonic() + 60
    while progress(folder) < target and not (folder / "weights.safetensors").exists():
        assert time.monotonic() < deadline, server.log.read_text()
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.01))
    os.kill(pid, signal.SIGKILL)  # a process that has ended stays until the server has asked for it
    return server.wait() == -signal.SIGKILL


def test_the_draws_cover_every_smoothing_and_every_sampler():
    assert {smoothing for smoothing, _ in PARTS} == set(SMOOTHINGS)
    assert {sampler for _, sampler in PARTS} == set(OF_NODES)
    assert DRAWS >= 20


@pytest.mark.parametrize("number", range(DRAWS), ids=["-".join([str(i), *parts]) for i, parts in enumerate(PARTS)])
def test_kill_and_resume_is_exact(server, own_graph, tmp_path, number):
    words = ["train", *own_graph, *settings(number), "--out"]
    assert server.run(*words, str(tmp_path / "whole")) == 0, server.log.read_text()
    chance = random.Random(number)
    for attempt in range(20):
        folder = tmp_path / f"killed-{attempt}"
        if killed(server, folder, chance, *words, str(folder)):
            break
    else:
        pytest.fail("the training always ended before it was killed")
    if chance.random() < 0.5:
        killed(server, folder, chance, "train", "--resume", str(folder), "--quiet")
    assert server.run("train", "--resume", str(folder), "--quiet") == 0, server.log.read_text()
    assert left_behind(folder) == left_behind(tmp_path / "whole"), f"draw {number}"


def wait_for_an_epoch(server: Server, folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not (folder / "metrics.jsonl").exists():
        assert time.monotonic() < deadline, server.log.read_text()
        time.sleep(0.01)


def test_a_lock_goes_with_its_process(server, own_graph, tmp_path, capsys):
    folder = tmp_path / "run"
    pid = server.start("train", *own_graph, *settings(1), "--epochs", "2000", "--out", str(folder))
    try:
        wait_for_an_epoch(server, folder)
        for words in (["--resume", str(folder)], [*own_graph, "--out", str(folder)]):
            assert cli.main(["train", *words]) == 2
            assert capsys.readouterr().err == (f"sgcl: {folder} is being written by another process: wait for it, or "
                                               "stop it\n")
    finally:
        os.kill(pid, signal.SIGKILL)
    assert server.wait() == -signal.SIGKILL
    assert (folder / ".lock").exists()
    config = json.loads((folder / "config.json").read_text())
    config["settings"]["epochs"] = 1
    runs.write_config(folder, config)
    assert server.run("train", "--resume", str(folder), "--quiet") == 0, server.log.read_text()
    assert not (folder / ".lock").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_step_and_says_how_to_go_on(server, own_graph, tmp_path, number):
    folder = tmp_path / "run"
    pid = server.start("train", *own_graph, *settings(1), "--epochs", "2000", "--out", str(folder))
    wait_for_an_epoch(server, folder)
    os.kill(pid, number)
    assert server.wait() == 128 + number
    assert server.log.read_text().startswith("sgcl: interrupted after epoch ")
    assert server.log.read_text().endswith(f"; go on with: sgcl train --resume {folder}\n")
    assert server.log.read_text().count("\n") == 1
    assert len(list((folder / "checkpoints").iterdir())) == 1
