"""An embedding that is cut short anywhere goes on where it was and gives the same bytes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from graphs import random_graph

from sgcl import embeddings
from sgcl.encoders.journal import Journal
from sgcl.methods import METHODS
from sgcl.signals import Interrupted

MEMORY = 60_000  # so little that there are several blocks of columns and of rows


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch):
    """What a killed process wrote is there all the same: only a machine that goes down needs the disk."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(np.memmap, "flush", lambda array: None)


class Stop(Exception):
    pass


def run(folder, *, stop_after=None, memory=MEMORY, layer="gcn", stop=Stop):
    """The bytes of the file, and how many steps were taken."""
    steps = 0

    def tell(number, share):
        nonlocal steps
        steps += 1
        if steps == stop_after:
            raise stop

    torch.manual_seed(0)
    method = METHODS["sgcl"](20, hidden_channels=24, layer=layer)
    embeddings.compute_file(folder / "e.npy", method, random_graph(200), memory=memory, identity={"of": "a test"},
                            tell=tell, every=0)
    return (folder / "e.npy").read_bytes(), steps


@pytest.mark.parametrize("layer", ["gcn", "sage", "gat", "gin"])
def test_wherever_it_is_cut_short_the_bytes_are_the_same(tmp_path, layer):
    expected, steps = run(tmp_path, layer=layer)
    assert steps > 8
    for stop in range(1, steps + 1, 5):
        (tmp_path / "e.npy").unlink()
        with pytest.raises(Stop):
            run(tmp_path, stop_after=stop, layer=layer)
        assert not (tmp_path / "e.npy").exists()
        found, left = run(tmp_path, layer=layer)
        assert found == expected
        assert left <= steps - stop + 1
        assert [file.name for file in tmp_path.iterdir()] == ["e.npy"]


@pytest.mark.parametrize("embedding", ["concat", "mean", "features"])
def test_what_encoders_give_is_put_together_block_by_block(tmp_path, embedding):
    method = METHODS["sgcl"](20, hidden_channels=24, shared=False, embedding=embedding)
    at_once = embeddings.compute(method, random_graph(200))
    assert torch.allclose(embeddings.compute(method, random_graph(200), memory=MEMORY), at_once, atol=1e-6)
    found = embeddings.compute_file(tmp_path / "e.npy", method, random_graph(200), memory=MEMORY, identity={})
    assert torch.allclose(found, at_once, atol=1e-6)
    assert [file.name for file in tmp_path.iterdir()] == ["e.npy"]


def test_what_was_begun_with_more_memory_than_there_is_now_is_begun_anew(tmp_path):
    expected, steps = run(tmp_path)
    with pytest.raises(Stop):
        run(tmp_path, stop_after=3, memory=2 * MEMORY)
    assert run(tmp_path) == (expected, steps)
    with pytest.raises(Stop):
        run(tmp_path, stop_after=3)
    assert run(tmp_path, memory=2 * MEMORY) == (expected, steps - 2)  # as it was begun; the third was not written down


def test_what_another_embedding_left_is_not_gone_on_with(tmp_path):
    with pytest.raises(Stop):
        run(tmp_path, stop_after=5, layer="sage")
    expected, steps = run(tmp_path)
    (tmp_path / "other").mkdir()
    assert run(tmp_path / "other") == (expected, steps)


def test_ctrl_c_says_how_to_go_on(tmp_path):
    expected, _ = run(tmp_path)
    with pytest.raises(Interrupted, match="asked for again, it goes on where it was"):
        run(tmp_path, stop_after=4, stop=KeyboardInterrupt)
    assert run(tmp_path)[0] == expected


def test_a_step_that_was_done_but_not_noted_is_done_again_without_harm(tmp_path):
    expected, steps = run(tmp_path)
    for stop in range(1, steps + 1, 5):
        with pytest.raises(Stop):
            run(tmp_path, stop_after=stop)
        file = tmp_path / ".e.npy.work" / "progress.json"
        if file.exists():
            state = json.loads(file.read_text())
            state["done"] = [max(0, done - 1) for done in state["done"][-1:]] if len(state["done"]) == 1 else [
                *state["done"][:-1], max(0, state["done"][-1] - 1)]
            file.write_text(json.dumps(state))
        assert run(tmp_path)[0] == expected


def test_a_journal_that_is_damaged_is_begun_anew(tmp_path):
    (tmp_path / "progress.json").write_text("{")
    (tmp_path / "layer-0.npy").write_text("what it was about")
    Journal(tmp_path, {}, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX systems")
def test_a_killed_process_is_gone_on_with(tmp_path):
    code = ("import sys, os, signal, pathlib; sys.path[:0] = sys.argv[2:]; from encoders_test_journal import run; "
            "import sgcl.encoders.journal as j; old = j.Journal._step; count = [0]\n"
            "def step(self, log):\n    old(self, log); count[0] += 1\n"
            "    if count[0] == 5: os.kill(os.getpid(), signal.SIGKILL)\n"
            "j.Journal._step = step; run(pathlib.Path(sys.argv[1]))")
    here = os.path.dirname(__file__)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "encoders_test_journal.py").write_text(Path(__file__).read_text())
    (tmp_path / "out").mkdir()
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "out", tmp_path / "code", os.path.dirname(here)])
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "out" / ".e.npy.work" / "progress.json").exists()
    found, left = run(tmp_path / "out")
    (tmp_path / "again").mkdir()
    assert (found, left + 5) == run(tmp_path / "again")
    assert np.load(tmp_path / "out" / "e.npy").shape == (200, 24)
