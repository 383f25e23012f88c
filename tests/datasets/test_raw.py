import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from sgcl.cli import main
from sgcl.datasets import DATASETS, load, raw
from sgcl.errors import InputError


@pytest.fixture
def published(tiny, tmp_path, monkeypatch):
    """The tiny dataset, its files to be had under an address."""
    tiny.put_files()
    source = tiny.folder.rename(tmp_path / "published")
    entry = dataclasses.replace(tiny.entry, address=lambda name: (source / name).as_uri())
    monkeypatch.setitem(DATASETS, "tiny", entry)
    return source


def test_nothing_is_downloaded_unasked(published, tiny):
    with pytest.raises(InputError, match="tiny: no raw files"):
        load("tiny")
    assert tiny.calls == 0


@pytest.mark.parametrize("with_root", [False, True])
def test_a_download_is_checked_and_cached(published, tiny, with_root):
    root = tiny.root if with_root else None
    assert load("tiny", root, download=True).y.tolist() == [0, 1, 1]
    (published / "edges.txt").unlink()
    assert load("tiny").y.tolist() == [0, 1, 1]
    assert tiny.calls == 1
    assert list(tiny.root.rglob("*.txt")) == []


def test_a_wrong_download_is_never_parsed(published, tiny):
    (published / "edges.txt").write_bytes(b"other")
    with pytest.raises(InputError, match=r"tiny: file:.*/edges\.txt is not the published file"):
        load("tiny", download=True)
    assert tiny.calls == 0


def test_an_address_without_an_answer_is_named(published):
    (published / "labels.txt").unlink()
    with pytest.raises(InputError, match=r"tiny: cannot download file:.*/labels\.txt: .*; or put edges\.txt, "
                                         r"labels\.txt into Tiny/raw below a folder, and set SGCL_DATA"):
        load("tiny", download=True)


def test_files_without_an_address_cannot_be_downloaded(tiny):
    with pytest.raises(InputError, match=r"tiny: no raw files: put .* or pass --data-root with that folder$"):
        raw.download(tiny.entry)


@pytest.mark.usefixtures("published")
@pytest.mark.filterwarnings("ignore:.*the embedding has collapsed")  # three nodes
def test_the_command_line_downloads_unless_told_not_to(own_cache, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    root = ["--data-root", str(tmp_path / "nowhere")]
    train = ["train", "--dataset", "tiny", "--epochs", "1", "--hidden-channels", "4", "-q", "--out", "run"]
    for words in (train, ["train", "--resume", "run", "-q"], ["evaluate", "run", "--task", "collapse"],
                  ["embed", "run", "--dataset", "tiny", "--out", "e.npy"]):
        assert main([*words, *root, "--no-download"]) == 2
        assert "or have them fetched (--download)" in capsys.readouterr().err
        assert main([*words, *root]) == 0, capsys.readouterr().err
        shutil.rmtree(own_cache)
        if words is train:
            Path("run/ids.npy").unlink()  # cut short before its end
    capsys.readouterr()
    assert main(["datasets", "tiny", *root, "--download", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["measured"]["nodes"] == 3
    assert main(["datasets", "--download"]) == 2
    assert "--download is for one dataset: give its NAME" in capsys.readouterr().err


def test_files_at_hand_are_preferred_to_a_download(published, tiny):
    tiny.put_files()
    (published / "edges.txt").unlink()
    assert load("tiny", tiny.root, download=True).num_nodes == 3


def test_a_file_that_cannot_be_read_is_named(tiny, monkeypatch):
    tiny.put_files()

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(InputError, match=r"tiny: cannot read .*edges\.txt: Permission denied"):
        raw.read(tiny.entry, tiny.root)
