"""Two workers of Ray Train leave what one process leaves."""

import importlib.util
import signal
from pathlib import Path

import numpy as np
import pytest

from sgcl import InputError, cli, ray_engine, runs, workflow
from sgcl.readers import read_files

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'sgcl[ray]'")
CHOSEN = {"hidden_channels": 8, "epochs": 3, "accumulate": 2,
          "sampler": {"name": "walk", "batch_size": 12, "batches": 3}}


@pytest.fixture
def files(tmp_path) -> dict[str, str]:
    chance = np.random.default_rng(0)
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(
        f"{node},{(node + step) % 30}\n" for node in range(30) for step in (1, 4, 26, 29)))
    np.save(tmp_path / "x.npy", chance.standard_normal((30, 3)).astype(np.float32))
    return {"edges": str(tmp_path / "edges.csv"), "features": str(tmp_path / "x.npy")}


def losses(folder: Path) -> list[float]:
    return [line["loss"] for line in runs.read_lines(folder / "metrics.jsonl")]


@needs_ray
def test_two_workers_leave_what_one_process_leaves(files, tmp_path):
    workflow.train_run("sgcl", CHOSEN, read_files(files), dataset="own", files=files, out=tmp_path / "one", quiet=True)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    done = ray_engine.train_with_ray("sgcl", CHOSEN, ranks=2, out=tmp_path / "two", storage=tmp_path / "ray",
                                     dataset="own", files=files, checkpoint_every=0)
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), rel=1e-6)
    assert (done["epochs"], done["nodes"]) == (3, 30)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert np.allclose(*(np.load(tmp_path / name / "embeddings.npy") for name in ("one", "two")), atol=1e-5)
    assert runs.is_finished(tmp_path / "two")
    stored = list((tmp_path / "ray" / "two").glob("checkpoint_*/checkpoints/epoch-*.safetensors"))
    assert stored, "checkpoints are in Ray's storage"


def test_a_missing_package_is_named(files, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(InputError, match="Ray is not installed: pip install"):
        ray_engine.train_with_ray("sgcl", CHOSEN, ranks=2, out=tmp_path / "two", storage=tmp_path / "ray",
                                  dataset="own", files=files)
    assert cli.main(["train", "--graph", files["edges"], "--features", files["features"], "--engine", "ray", "--ranks",
                     "2", "--accumulate", "2", "--out", str(tmp_path / "run")]) == 2
    assert "sgcl: Ray is not installed" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
