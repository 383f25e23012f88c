"""Which of several ranks is to blame, and what is said of it. tests/test_ranks.py has real ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from sgcl import InputError, launch


class Child:
    """Ends with a code after so many looks, or never, and leaves what a rank would leave."""

    def __init__(self, code: int | None, why: str | None = None, log: str = "", looks: int = 1) -> None:
        self.code, self.why, self.log, self.looks, self.killed = code, why, log, looks, False

    def poll(self) -> int | None:
        self.looks -= 1
        return self.code if self.looks < 0 else None

    def kill(self) -> None:
        self.killed = True

    def wait(self) -> None:
        pass


@pytest.fixture
def launched(monkeypatch, tmp_path, capsys) -> Callable[..., tuple[int, str]]:
    def run(*children: Child) -> tuple[int, str]:
        waiting, seen = iter(children), []

        def start(words: Sequence[str], environment: Mapping[str, str], log: Path | None) -> Child:
            child = next(waiting)
            seen.append(environment)
            if child.why is not None:
                Path(environment["SGCL_TOLD"]).write_text(child.why)
            if log is not None:
                log.write_text(child.log)
            return child

        monkeypatch.setattr(launch, "start", start)
        code = launch.launch(["train"], len(children), folder=tmp_path, threads=3)
        assert [one["RANK"] for one in seen] == [str(rank) for rank in range(len(children))]
        assert {one["OMP_NUM_THREADS"] for one in seen} == {"3"}
        return code, capsys.readouterr().err

    monkeypatch.setattr(launch, "_LOOK", 0.001)
    monkeypatch.setattr(launch, "_GRACE", 0.05)
    monkeypatch.setattr(launch, "_LATE", 0.01)
    return run


def test_nothing_is_said_when_all_is_well(launched):
    assert launched(Child(0), Child(0, looks=5)) == (0, "")


def test_a_rank_that_was_killed_takes_the_others_along(launched, tmp_path):
    (tmp_path / "config.json").touch()
    others = Child(None), Child(None)
    code, err = launched(others[0], Child(-9), others[1])
    assert (code, err) == (1, f"sgcl: rank 1 was killed (SIGKILL); go on with: sgcl train --resume {tmp_path}\n")
    assert all(child.killed for child in others)


def test_there_is_nothing_to_go_on_with_before_the_run_has_begun(launched):
    assert launched(Child(-11), Child(None)) == (1, "sgcl: rank 0 was killed (SIGSEGV)\n")


def test_the_first_rank_speaks_for_all(launched):
    told = Child(130, "interrupted; go on with: here", looks=3), Child(130, "interrupted")
    assert launched(*told) == (130, "sgcl: interrupted; go on with: here\n")
    assert launched(Child(2, "no such thing"), Child(launch.LOST, "rank 0 is lost")) == (2, "sgcl: no such thing\n")


def test_a_rank_that_hangs_is_what_the_others_say(launched):
    hung = Child(None)
    assert launched(Child(launch.LOST, "rank 1 is lost: timed out"), hung) == (1, "sgcl: rank 1 is lost: timed out\n")
    assert hung.killed


def test_an_error_nobody_expected_is_shown_whole(launched):
    code, err = launched(Child(launch.LOST, "rank 1 is lost", looks=4), Child(1, log="Traceback\nZeroDivisionError\n"))
    assert (code, err) == (1, "Traceback\nZeroDivisionError\nsgcl: rank 1 failed\n")


def test_there_is_at_least_one_rank():
    with pytest.raises(InputError, match="--ranks is 0, expected at least 1"):
        launch.launch([], 0, folder="run")
