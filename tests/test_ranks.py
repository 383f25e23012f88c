"""Several ranks leave what one process leaves, also when one of them was lost on the way."""

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
from sgcl.checkpoints import Checkpoints

METHODS = ["sgcl", "bgrl", "grace", "cca-ssg", "g-bt", "dgi", "greet", "progcl"]
DRAWS = 4

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
        f"{node},{(node + step) % 60}\n" for node in range(60) for step in (1, 4, 26)))
    (folder / "x.csv").write_text("id,a,b,c,d\n" + "".join(
        f"{node},{','.join(map(str, chance.standard_normal(4).round(3)))}\n" for node in range(60)))
    return ["--graph", str(folder / "edges.csv"), "--features", str(folder / "x.csv"), "--sampler", "walk",
            "--walk-batch-size", "25", "--walk-batches", "5", "--accumulate", "2", "--epochs", "3", "--quiet"]


def left_behind(folder: Path) -> dict[str, object]:
    metrics = [(line["epoch"], line["loss"]) for line in runs.read_lines(folder / "metrics.jsonl")]
    weights = Checkpoints  # noqa: F841
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
