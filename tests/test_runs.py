import json
import os
from pathlib import Path

import pytest

from sgcl import InputError, runs

CONFIG = {"format": runs.FORMAT, "method": "sgcl", "settings": {}, "in_channels": 3}


def test_a_run_folder_is_made_with_its_parents(tmp_path):
    with runs.create(tmp_path / "a" / "b") as folder:
        assert folder.is_dir()
    assert folder == tmp_path / "a" / "b"


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
