"""No file that is read can run code: a pickle that would, in every place and guise, does not."""

import gzip
import io
import json
import pickle
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from sgcl import SGCL, InputError, cli, runs
from sgcl.checkpoints import Checkpoints
from sgcl.datasets import DATASETS, cache, load, load_collection, raw

MARK = "code-ran"


class Malicious:
    """Leaves a file behind where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple:
        return Path.touch, (self.mark,)


def as_numpy(evil: Malicious) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([evil], dtype=object), allow_pickle=True)
    return file.getvalue()


def as_numpy_archive(evil: Malicious) -> bytes:
    file = io.BytesIO()
    np.savez(file, format=np.array([evil], dtype=object), shape=np.array([2, 2]), data=np.array([evil], dtype=object))
    return file.getvalue()


def as_torch(evil: Malicious) -> bytes:
    file = io.BytesIO()
    torch.save({"weight": evil}, file)
    return file.getvalue()


def as_safetensors_header(evil: Malicious) -> bytes:
    code = pickle.dumps(evil)
    header = json.dumps({"state": {"dtype": "U8", "shape": [len(code)], "data_offsets": [0, len(code)]},
                         "__metadata__": {"sha256": "0" * 64}}).encode()
    return len(header).to_bytes(8, "little") + header + code


def as_parquet(evil: Malicious) -> bytes:
    """In a column type of Python's own, which old versions of Arrow built by unpickling."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    fields = [pa.field(name, pa.int64(), metadata={"ARROW:extension:name": "arrow.py_extension_type",
                                                   "ARROW:extension:metadata": pickle.dumps(evil)})
              for name in ("source", "target", "id", "label", "embedding")]
    file = io.BytesIO()
    pq.write_table(pa.table([pa.array([7, 8])] * len(fields), schema=pa.schema(fields)), file)
    return file.getvalue()


def as_text(evil: Malicious) -> bytes:
    """Words that an evaluation would run."""
    code = f"__import__('pathlib').Path({str(evil.mark)!r}).touch()"
    return f'source,target,id,label,x\n"{code}","{code}","{code}","{code}","{code}"\n'.encode()


GUISES: dict[str, Callable[[Malicious], bytes]] = {
    "pickle": pickle.dumps, "old-pickle": lambda evil: pickle.dumps(evil, protocol=0), "numpy": as_numpy,
    "numpy-archive": as_numpy_archive, "torch": as_torch, "safetensors": as_safetensors_header, "parquet": as_parquet,
    "text": as_text, "gzip": lambda evil: gzip.compress(pickle.dumps(evil))}
every_guise = pytest.mark.parametrize("guise", list(GUISES))


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / MARK


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run on files, with its graph beside it."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "edges.csv").write_text("source,target\n0,1\n1,0\n1,2\n2,1\n")
    (folder / "x.csv").write_text("id,a,b\n0,1.5,2\n1,2.5,3\n2,3,4\n")
    (folder / "labels.csv").write_text("id,label\n0,a\n1,b\n2,a\n")
    with warnings.catch_warnings(action="ignore"):  # of three rows that are much alike
        assert cli.main(["train", "--graph", str(folder / "edges.csv"), "--features", str(folder / "x.csv"), "--labels",
                         str(folder / "labels.csv"), "--epochs", "1", "--hidden-channels", "4", "--quiet",
                         "--checkpoint-every", "0", "--out", str(folder / "run")]) == 0
    return folder


def told(capsys: pytest.CaptureFixture, *words: str) -> None:
    """The command is refused, in one line after any notes, and nothing ran."""
    capsys.readouterr()
    assert cli.main([str(word) for word in words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("sgcl: ") for line in lines)
    assert sum(not line.startswith("sgcl: note: ") for line in lines) == 1


@pytest.mark.parametrize("guise", ["pickle", "old-pickle"])
def test_these_pickles_do_run_where_they_are_unpickled(mark, guise):
    pickle.loads(GUISES[guise](Malicious(mark)))
    assert mark.exists()
    mark.unlink()
    with zipfile.ZipFile(io.BytesIO(as_torch(Malicious(mark)))) as archive:
        pickle.loads(archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl"))))
    assert mark.exists()
    mark.unlink()
    np.load(io.BytesIO(as_numpy(Malicious(mark))), allow_pickle=True)
    assert mark.exists()


@every_guise
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "embeddings.npy", "ids.npy", "checkpoints",
                                  "metrics.jsonl"])
def test_a_run_folder_runs_nothing(run_folder, tmp_path, mark, capsys, name, guise):
    folder = tmp_path / "run"
    shutil.copytree(run_folder / "run", folder)
    evil = GUISES[guise](Malicious(mark))
    if name == "checkpoints":
        (folder / "ids.npy").unlink()                                      # or there is nothing to resume
        for file in (folder / name).iterdir():
            file.write_bytes(evil)
        told(capsys, "train", "--resume", folder, "--quiet")
    elif name == "metrics.jsonl":
        (folder / "ids.npy").unlink()
        (folder / name).write_bytes(evil)
        assert cli.main(["train", "--resume", str(folder), "--quiet"]) == 0  # mended from the checkpoint
        assert len(runs.read_lines(folder / name)) == 1
    else:
        (folder / name).write_bytes(evil)
        words = ["evaluate", folder]
        if name == "weights.safetensors":
            words = ["embed", folder, "--graph", run_folder / "edges.csv", "--features", run_folder / "x.csv", "--out",
                     tmp_path / "out.csv"]
        told(capsys, *words)
    assert not mark.exists()


@every_guise
@pytest.mark.parametrize(("flag", "suffixes"), [
    ("--graph", [".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".graphml", ".npz", ".pt", ".pkl"]),
    ("--features", [".csv", ".parquet", ".npy", ".npz", ".pt", ".pkl"]),
    ("--labels", [".csv", ".parquet", ".npy", ".pkl"]), ("--ids", [".npy", ".pkl"])])
def test_graph_files_run_nothing(run_folder, tmp_path, mark, capsys, flag, suffixes, guise):
    given = {"--graph": run_folder / "edges.csv", "--features": run_folder / "x.csv"}
    if flag == "--ids":
        np.save(tmp_path / "x.npy", np.eye(3))
        given["--features"] = tmp_path / "x.npy"
    evil = GUISES[guise](Malicious(mark))
    for suffix in suffixes:
        file = tmp_path / f"evil{suffix}"
        file.write_bytes(evil)
        words = [str(word) for pair in {**given, flag: file}.items() for word in pair]
        told(capsys, "train", *words, "--epochs", "0", "--out", tmp_path / "run")
        assert not mark.exists(), suffix
        assert not (tmp_path / "run").exists()


@every_guise
@pytest.mark.parametrize("name", [name for name, entry in DATASETS.items() if entry.folder])
def test_raw_files_of_datasets_run_nothing(tmp_path, monkeypatch, mark, name, guise):
    monkeypatch.setenv("SGCL_CACHE", str(tmp_path / "cache"))
    entry, evil = DATASETS[name], GUISES[guise](Malicious(mark))
    for file in entry.files:
        path = tmp_path / "data" / entry.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(evil)
    assert raw.present(entry, tmp_path / "data")
    with pytest.raises(InputError) as error:
        (load_collection if entry.task == "graph" else load)(name, tmp_path / "data")
    assert "\n" not in str(error.value)
    assert not mark.exists()


@every_guise
def test_the_cache_of_datasets_runs_nothing(tmp_path, monkeypatch, mark, guise):
    monkeypatch.setenv("SGCL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SGCL_DATA", raising=False)
    path = cache.path_of(DATASETS["cora"])
    path.parent.mkdir(parents=True)
    path.write_bytes(GUISES[guise](Malicious(mark)))
    with pytest.raises(InputError, match="cora: no raw files"):
        load("cora")
    assert not mark.exists()


@every_guise
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_checkpoints_of_a_fit_run_nothing(ring, tmp_path, mark, guise):
    folder = tmp_path / "kept"
    SGCL(hidden_channels=4, epochs=1).fit(ring, checkpoint=Checkpoints(folder, every=0))
    for file in folder.iterdir():
        file.write_bytes(GUISES[guise](Malicious(mark)))
    with pytest.raises(InputError, match=r"no checkpoint in .* can be read"):
        SGCL(hidden_channels=4, epochs=1).fit(ring, checkpoint=folder, resume=True)
    assert not mark.exists()
