import errno
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from sgcl import InputError, files

needs_locks = pytest.mark.skipif(files.fcntl is None, reason="needs fcntl")


def test_a_file_appears_whole(tmp_path):
    file = tmp_path / "a.txt"
    with files.whole(file) as part:
        part.write_text("new")
        assert not file.exists()
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def full(handle: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def write(file: Path, fail: bool) -> None:
    with files.whole(file) as part:
        part.write_text("half of the new")
        if fail:
            full(0)


@pytest.mark.parametrize("stage", ["write", "sync"])
def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch, stage):
    file = tmp_path / "a.txt"
    file.write_text("old")
    if stage == "sync":
        monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(file, fail=stage == "write")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_contents_and_name_reach_the_disk(tmp_path, monkeypatch):
    """What is synced, in which order: the contents before the name is given, the folder after."""
    happened = []
    sync, replace = os.fsync, Path.replace

    def note_sync(handle):
        happened.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name if Path("/proc/self/fd").exists() else None)
        sync(handle)

    def note_replace(self, target):
        happened.append("renamed")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_replace)
    with files.whole(tmp_path / "a.txt") as part:
        part.write_text("new")
    assert happened in ([".a.txt.part.txt", "renamed", tmp_path.name], [None, "renamed", None])


@needs_locks
def test_a_folder_is_held_by_one_at_a_time(tmp_path):
    folder = tmp_path / "deep" / "run"
    with files.lock(folder):
        assert files.is_locked(folder)
        with pytest.raises(InputError, match="run is being written by another process: wait for it, or stop it"), \
                files.lock(folder):
            pytest.fail("the folder was given out twice")
        assert files.is_locked(folder)
    assert not files.is_locked(folder)
    assert list(folder.iterdir()) == []
    with files.lock(folder):
        pass


@needs_locks
def test_what_a_dead_process_left_holds_nothing(tmp_path):
    (tmp_path / files.LOCK).write_text("")
    assert not files.is_locked(tmp_path)
    with files.lock(tmp_path):
        assert files.is_locked(tmp_path)


@needs_locks
def test_a_lock_removed_by_its_last_holder_in_between_is_made_anew(tmp_path, monkeypatch):
    """Opened before the other let go, held after: such a file is nobody's any more."""
    hold, tries = files._hold, []

    def late(handle):
        if not tries:
            (tmp_path / files.LOCK).unlink()
        tries.append(handle)
        hold(handle)

    monkeypatch.setattr(files, "_hold", late)
    with files.lock(tmp_path):
        assert len(tries) == 2
        monkeypatch.setattr(files, "_hold", hold)
        assert files.is_locked(tmp_path)


def hold_for_good(folder, held):
    with files.lock(folder):
        held.set()
        signal.pause()


@needs_locks
def test_a_killed_process_lets_go(tmp_path):
    context = multiprocessing.get_context("fork")
    held = context.Event()
    process = context.Process(target=hold_for_good, args=(tmp_path, held))
    process.start()
    assert held.wait(60)
    assert files.is_locked(tmp_path)
    process.kill()
    process.join()
    assert not files.is_locked(tmp_path)
    with files.lock(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write in .*run: Not a directory"), \
            files.lock(tmp_path / "file" / "run"):
        pass
