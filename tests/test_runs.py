import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from sgcl import Graph, InputError, runs
from sgcl.sparse import SparseFeatures

CONFIG = {"format": runs.FORMAT, "method": "sgcl", "settings": {}, "in_channels": 3}


def test_a_run_folder_is_made_with_its_parents(tmp_path):
    with runs.create(tmp_path / "a" / "b") as folder:
        assert folder.is_dir()
    assert folder == tmp_path / "a" / "b"


def test_a_folder_is_free_while_create_alone_can_say_what_is_wrong(tmp_path):
    runs.check_free(tmp_path / "new")
    with runs.create(tmp_path / "run") as folder:
        (folder / "config.json").write_text("{}")
        runs.check_free(folder)  # is being written
    with pytest.raises(InputError, match="run holds an unfinished run"):
        runs.check_free(tmp_path / "run")


def test_an_empty_folder_is_taken(tmp_path):
    with runs.create(str(tmp_path)) as folder:
        assert folder == tmp_path


@pytest.mark.parametrize("make", [lambda path: (path.mkdir(), (path / "mine.txt").write_text("mine")),
                                  lambda path: path.write_text("mine")])
def test_what_is_there_already_is_refused_and_left_alone(tmp_path, make):
    path = tmp_path / "run"
    make(path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="run is there already and not empty: give another --out or remove it"), \
            runs.create(path):
        pytest.fail("the folder was given out")
    assert sorted(tmp_path.rglob("*")) == before


def spoiled(path: Path, error: BaseException) -> None:
    """A run that writes something before it fails."""
    with runs.create(path) as folder:
        (folder / "config.json").write_text("{}")
        raise error


def test_bad_input_takes_the_folder_and_the_parents_made_for_it_away(tmp_path):
    (tmp_path / "kept").mkdir()
    with pytest.raises(InputError, match="found too late"):
        spoiled(tmp_path / "kept" / "a" / "b", InputError("found too late"))
    assert [path.name for path in tmp_path.rglob("*")] == ["kept"]


def test_bad_input_leaves_a_folder_that_was_there_empty(tmp_path):
    (tmp_path / "run").mkdir()
    with pytest.raises(InputError, match="found too late"):
        spoiled(tmp_path / "run", InputError("found too late"))
    assert list(tmp_path.rglob("*")) == [tmp_path / "run"]


def test_a_failure_of_another_kind_leaves_what_was_written(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        spoiled(tmp_path / "run", KeyboardInterrupt())
    assert (tmp_path / "run" / "config.json").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot make the run folder .*run: Not a directory"), \
            runs.create(tmp_path / "file" / "run"):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=r"cannot make the run folder .*run: Permission denied"), \
            runs.create(tmp_path / "run"):
        pass


def test_lines_are_added_and_read_back(tmp_path):
    file = tmp_path / "metrics.jsonl"
    assert runs.read_lines(file) == []
    runs.append(file, {"loss": 1.5})
    runs.append(file, {"loss": 0.1 + 0.2, "name": "é"})
    assert runs.read_lines(file) == [{"loss": 1.5}, {"loss": 0.1 + 0.2, "name": "é"}]
    assert len(file.read_text().splitlines()) == 2


def test_a_line_that_was_cut_short_is_left_out(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"epoch": 1}\n{"epoch": 2, "lo')
    assert runs.read_lines(tmp_path / "metrics.jsonl") == [{"epoch": 1}]


@pytest.mark.parametrize("content", [b"nonsense\n", b'{"epoch": 1}\n{"epoch"\n{"epoch": 3}\n', b"\xff\xfe\n"])
def test_lines_that_are_not_json_are_told(tmp_path, content):
    (tmp_path / "metrics.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=r"metrics.jsonl is damaged: it does not hold JSON lines") as error:
        runs.read_lines(tmp_path / "metrics.jsonl")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("content", "expected"), [
    (None, [(1, 5.0), (2, 4.0)]),
    ('{"epoch": 1, "loss": 5.0, "rank": 3}\n{"epoch": 2, "loss": 4.0}\n{"epoch": 3, "loss": 3.0}\n',
     [(1, 5.0, 3), (2, 4.0)]),
    ('{"epoch": 1, "loss": 5.0}\n{"epoch": 2, "lo', [(1, 5.0), (2, 4.0)]),
    ("nonsense\n", [(1, 5.0), (2, 4.0)]),
    ("[1]\n", [(1, 5.0), (2, 4.0)]),
])
def test_lines_are_brought_to_one_for_each_epoch(tmp_path, content, expected):
    file = tmp_path / "metrics.jsonl"
    if content is not None:
        file.write_text(content)
    runs.mend_lines(file, [{"epoch": 1, "loss": 5.0}, {"epoch": 2, "loss": 4.0}])
    assert [tuple(line.values()) for line in runs.read_lines(file)] == expected


def test_a_folder_is_filled_by_one_process_at_a_time(tmp_path):
    with runs.create(tmp_path / "run") as folder:
        with pytest.raises(InputError, match="run is being written by another process"), runs.create(folder):
            pytest.fail("the folder was given out twice")
        assert folder.is_dir()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["metrics.jsonl", "checkpoints"])
def test_bad_input_after_something_was_trained_takes_nothing_away(tmp_path, name):
    def late() -> None:
        with runs.create(tmp_path / "run") as folder:
            (folder / name).mkdir()
            raise InputError("found after hours")

    with pytest.raises(InputError, match="found after hours"):
        late()
    assert [file.name for file in (tmp_path / "run").iterdir()] == [name]


def test_an_unfinished_run_is_pointed_out(tmp_path):
    runs.write_config(tmp_path, CONFIG)
    with pytest.raises(InputError, match=r"holds an unfinished run: go on with `sgcl train --resume .*`, give"), \
            runs.create(tmp_path):
        pytest.fail("the folder was given out")


def test_a_run_is_finished_when_all_is_there(tmp_path):
    for name in ("weights.safetensors", "embeddings.npy", "ids.npy"):
        assert not runs.is_finished(tmp_path)
        (tmp_path / name).write_text("")
    assert runs.is_finished(tmp_path)


def test_another_graph_has_another_fingerprint(ring):
    graph = Graph.from_data(ring)
    sparse = graph.replace(x=SparseFeatures.from_dense(graph.x))
    weighted = graph.replace(adj=graph.adj.with_values(torch.full((graph.adj.nnz,), 2.0)))
    fewer = Graph.from_data(Data(x=ring.x, edge_index=ring.edge_index[:, 1:]))
    nudged = graph.replace(x=graph.x.clone())
    nudged.x[3, 2] = torch.nextafter(nudged.x[3, 2], torch.tensor(9.0))
    found = [runs.fingerprint(other) for other in (graph, sparse, weighted, fewer, nudged)]
    found += [runs.fingerprint(graph, np.arange(40)), runs.fingerprint(graph, np.arange(40)[::-1]),
              runs.fingerprint(graph, np.array([f"n{node}" for node in range(40)]))]
    assert len(set(found)) == len(found)
    assert runs.fingerprint(Graph.from_data(ring.clone())) == found[0]


def test_a_config_comes_back(tmp_path):
    runs.write_config(tmp_path, CONFIG)
    assert runs.read_config(tmp_path) == CONFIG


@pytest.mark.parametrize(("text", "message"), [
    ("{", "config.json is damaged: it is not JSON"),
    (b"\xff\xfe\x00", "config.json is damaged: it is not JSON"),
    ("", "config.json is damaged: it is not JSON"),
    ("[1]", "config.json is damaged: it holds no settings"),
    ("{}", "config.json is damaged: format is None"),
    (json.dumps({**CONFIG, "format": "one"}), "config.json is damaged: format is 'one'"),
    (json.dumps({**CONFIG, "method": None}), "config.json is damaged: method is None"),
    (json.dumps({**CONFIG, "settings": [1]}), r"config.json is damaged: settings is \[1\]"),
    (json.dumps({**CONFIG, "in_channels": "3"}), "config.json is damaged: in_channels is '3'"),
    (json.dumps({"format": runs.FORMAT + 1}), rf"written by a newer sgcl \(format {runs.FORMAT + 1}, this one reads up "
                                              rf"to {runs.FORMAT}\): upgrade sgcl"),
])
def test_a_config_that_cannot_be_used_is_told_in_one_line(tmp_path, text, message):
    (tmp_path / "config.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message) as error:
        runs.read_config(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("where", "message"), [
    (".", "is not a run folder: it has no config.json"),
    ("nowhere", "nowhere is not a run folder: it has no config.json"),
    ("file", "file is not a run folder"),
    ("odd", "cannot read .*config.json: Is a directory"),
])
def test_what_is_no_run_folder_is_told(tmp_path, where, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "odd" / "config.json").mkdir(parents=True)
    with pytest.raises(InputError, match=message):
        runs.read_config(tmp_path / where)


def test_the_environment_names_versions():
    found = runs.environment(["torch", "no-such-package"])
    assert found["versions"]["no-such-package"] == "not installed"
    assert found["versions"]["torch"].startswith("2.")
    assert found["threads"] >= 1
    json.dumps(found)


def test_the_environment_names_the_device_if_it_is_told():
    assert runs.environment(device="cpu")["device"] == "cpu"
    assert "device" not in runs.environment()


def test_the_commit_is_that_of_the_folder_itself(tmp_path):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    assert runs._commit(tmp_path) is None

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e", *words],
                              check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-q", "-m", "first")
    git("tag", "v1")
    runs._commit.cache_clear()
    assert runs._commit(tmp_path) == git("rev-parse", "HEAD")
    (tmp_path / "file").write_text("two")
    runs._commit.cache_clear()
    assert runs._commit(tmp_path) == git("rev-parse", "HEAD") + "-dirty"
    (tmp_path / "inside").mkdir()
    assert runs._commit(tmp_path / "inside") is None                       # an installed package in someone's work tree


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    assert runs._commit(tmp_path) is None                                  # not a work tree of git's
    monkeypatch.setenv("PATH", "")
    runs._commit.cache_clear()
    assert runs._commit(tmp_path) is None
