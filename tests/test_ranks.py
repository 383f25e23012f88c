"""Several ranks leave what one process leaves, also when one of them was lost on the way."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from forking import Server
from parted import made_store, ring

from sgcl import files, runs
from sgcl.store import cut_store

METHODS = ["sgcl", "bgrl", "grace", "cca-ssg", "g-bt", "dgi", "greet", "progcl"]
DRAWS = 4           # benchmarks/faults.py has more
BATCHES = 5

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture(scope="module")
def pids(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pids")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, pids: Path) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("server") / "log.txt", pids)
    yield made
    made.close()


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Sixty nodes in a ring with chords, as files, and small settings: five batches, two of them a step."""
    folder, chance = tmp_path_factory.mktemp("graph"), np.random.default_rng(0)
    (folder / "edges.csv").write_text("source,target\n" + "".join(
        f"{node},{(node + step) % 60}\n" for node in range(60) for step in (1, 4, 26, 34, 56, 59)))
    (folder / "x.csv").write_text("id,a,b,c,d\n" + "".join(
        f"{node},{','.join(map(str, chance.standard_normal(4).round(3)))}\n" for node in range(60)))
    return ["--graph", str(folder / "edges.csv"), "--features", str(folder / "x.csv"), "--sampler", "walk",
            "--walk-batch-size", "25", "--walk-batches", str(BATCHES), "--accumulate", "2", "--epochs", "3",
            "--hidden-channels", "8", "--quiet"]


def left_behind(folder: Path) -> dict[str, object]:
    metrics = [(line["epoch"], line["loss"]) for line in runs.read_lines(folder / "metrics.jsonl")]
    return {"metrics": metrics, "names": {file.name for file in folder.iterdir()} - {"checkpoints"},
            "embeddings": np.load(folder / "embeddings.npy")}


def close(first: Path, second: Path) -> None:
    a, b = left_behind(first), left_behind(second)
    assert a["names"] == b["names"]
    np.testing.assert_allclose(np.array(a["metrics"]), np.array(b["metrics"]), rtol=1e-6)
    np.testing.assert_allclose(a["embeddings"], b["embeddings"], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_two_ranks_leave_what_one_process_leaves(server, words, tmp_path, method):
    for name, more in (("one", []), ("two", ["--ranks", "2"])):
        assert server.run("train", method, *words, "--out", str(tmp_path / name), *more) == 0, server.log.read_text()
    close(tmp_path / "one", tmp_path / "two")


def progress(folder: Path) -> int:
    """How many batches the last checkpoint stands after."""
    places = [file.stem.split("-") for file in folder.glob("checkpoints/epoch-*.safetensors")]
    return max((int(epoch) * BATCHES + int(batch) for _, epoch, _, batch in places), default=0)


def wait_for(server: Server, folder: Path, batches: int) -> None:
    deadline = time.monotonic() + 60
    while progress(folder) < batches and not (folder / "weights.safetensors").exists():
        assert time.monotonic() < deadline, server.log.read_text()
        time.sleep(0.001)


@pytest.fixture(scope="module")
def long(words: list[str]) -> list[str]:
    """Enough epochs to be stopped in the midst of them."""
    return ["train", "bgrl", *words, "--epochs", "10"]


@pytest.fixture(scope="module")
def whole(server: Server, long: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert server.run(*long, "--out", str(folder)) == 0, server.log.read_text()
    return folder


@pytest.mark.parametrize("draw", range(DRAWS))
def test_a_rank_that_is_killed_is_named_and_the_run_goes_on_exactly(server, pids, long, tmp_path, whole, draw):
    chance, folder = random.Random(draw), tmp_path / "run"
    rank, target = draw % 2, chance.randrange(1, 6 * BATCHES)
    server.start(*long, "--out", str(folder), "--ranks", "2", "--checkpoint-every", "0")
    wait_for(server, folder, target)
    time.sleep(chance.uniform(0, 0.01))
    os.kill(int((pids / str(rank)).read_text()), signal.SIGKILL)
    assert server.wait() == 1
    assert server.log.read_text() == (f"sgcl: rank {rank} was killed (SIGKILL); go on with: sgcl train --resume "
                                      f"{folder}\n")
    again = chance.choice([1, 2])
    assert server.run("train", "--resume", str(folder), "--quiet", "--ranks", str(again)) == 0, server.log.read_text()
    close(folder, whole)


def test_a_rank_that_hangs_is_lost_after_the_timeout(server, pids, long, tmp_path, whole):
    folder = tmp_path / "run"
    server.start(*long, "--out", str(folder), "--ranks", "2", "--checkpoint-every", "0",
                 "--rank-timeout", "5")
    wait_for(server, folder, 2)
    hung = int((pids / "1").read_text())
    os.kill(hung, signal.SIGSTOP)
    try:
        assert server.wait() == 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(hung, signal.SIGKILL)
    text = server.log.read_text()
    assert text.startswith("sgcl: rank 1 is lost: "), text
    assert text.endswith(f"; go on with: sgcl train --resume {folder}\n")
    assert text.count("\n") == 1
    assert server.run("train", "--resume", str(folder), "--quiet") == 0, server.log.read_text()
    close(folder, whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_ranks_after_the_step(server, long, tmp_path, whole, number):
    folder = tmp_path / "run"
    pid = server.start(*long, "--out", str(folder), "--ranks", "2", "--checkpoint-every", "0")
    wait_for(server, folder, 2)
    os.kill(pid, number)
    assert server.wait() == 128 + number
    assert server.log.read_text().startswith("sgcl: interrupted after epoch ")
    assert server.log.read_text().endswith(f"; go on with: sgcl train --resume {folder}\n")
    assert server.run("train", "--resume", str(folder), "--quiet", "--ranks", "2") == 0, server.log.read_text()
    close(folder, whole)


def test_ranks_on_parts_leave_what_one_process_leaves_and_go_on_alone(server, words, tmp_path):
    made_store(tmp_path / "g.store", 60, ring(60))
    cut_store(tmp_path / "g.store", tmp_path / "parts", 2, how="streaming")
    asked = ["train", "--graph", str(tmp_path / "parts"), *words[4:], "--epochs", "10"]
    assert server.run(*asked, "--out", str(tmp_path / "one")) == 0, server.log.read_text()
    pid = server.start(*asked, "--out", str(tmp_path / "two"), "--ranks", "2", "--checkpoint-every", "0")
    wait_for(server, tmp_path / "two", 2)
    os.kill(pid, signal.SIGTERM)
    assert server.wait() == 128 + signal.SIGTERM
    assert server.run("train", "--resume", str(tmp_path / "two"), "--quiet") == 0, server.log.read_text()
    one, two = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two
    assert {file.name for file in (tmp_path / "two").iterdir()} == {"config.json", "metrics.jsonl", "checkpoints",
                                                                    "weights.safetensors"}


def test_ranks_stop_when_whoever_started_them_is_gone(server, pids, long, tmp_path):
    folder = tmp_path / "run"
    pid = server.start(*long, "--epochs", "3000", "--out", str(folder), "--ranks", "2",
                       "--checkpoint-every", "0")
    wait_for(server, folder, 2)
    os.kill(pid, signal.SIGKILL)
    assert server.wait() == -signal.SIGKILL
    deadline = time.monotonic() + 60
    while files.is_locked(folder):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(("more", "why"), [
    (["--accumulate", "1"], "2 ranks share the batches of an optimiser step, which has 1: give accumulate=2"),
    (["--walk-batches", "1"], "2 ranks share the batches of an epoch, but there are 1: take a sampler with more"),
    (["--storage", "here"], "--storage does nothing without --engine ray"),
    (["--ranks", "0"], "--ranks is 0, expected at least 1"),
    (["--rank-timeout", "0"], "the timeout of a rank is 0.0 seconds, expected more than 0")])
def test_what_ranks_cannot_do_is_told_in_one_line(server, words, tmp_path, more, why):
    assert server.run("train", *words, "--out", str(tmp_path / "run"), "--ranks", "2", *more) == 2
    assert server.log.read_text().startswith(f"sgcl: {why}")
    assert server.log.read_text().count("\n") == 1
    assert not (tmp_path / "run").exists()
