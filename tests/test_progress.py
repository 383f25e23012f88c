import sys

import pytest

from sgcl import progress
from sgcl.progress import ProgressBar
from sgcl.trainer import Epoch


def tell(bar: ProgressBar, epochs: int = 4) -> None:
    with bar:
        for number in range(1, epochs + 1):
            bar(Epoch(epoch=number, epochs=epochs, loss=1 / number, seconds=2.0 * number, peak_memory=300 * 2**20))


def test_quiet_says_nothing(capsys):
    tell(ProgressBar("SGCL-T on cora", quiet=True))
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_the_last_epoch_is_a_line_on_standard_error(capsys):
    tell(ProgressBar("SGCL-T on cora"))
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "SGCL-T on cora: epoch 4/4  loss 0.25  peak 300 MB  left 0 s\n"


def test_without_a_terminal_there_is_a_line_now_and_then(capsys, monkeypatch):
    now = iter(range(0, 1000, 6))                                          # six seconds an epoch
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(now)))
    tell(ProgressBar("run"), epochs=6)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[2] for line in lines] == ["2/6", "4/6", "6/6"]
    assert lines[0].endswith("left 8 s")


def test_verbose_is_a_line_an_epoch_and_notes_also_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = ProgressBar("run", verbose=True)
    bar.note("something to know")
    tell(bar, epochs=3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "run: something to know"
    assert [line.split()[2] for line in lines[1:]] == ["1/3", "2/3", "3/3"]


@pytest.mark.parametrize("verbose", [False, True])
def test_quiet_has_no_notes(capsys, verbose):
    ProgressBar("run", quiet=True, verbose=verbose).note("something to know")
    ProgressBar("run").note("something to know")
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_there_is_a_live_bar_on_standard_error(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    bar = ProgressBar("SGCL-T on cora")
    assert bar.live
    tell(bar)
    out, err = capsys.readouterr()
    assert out == ""
    for part in ("SGCL-T on cora", "epoch 4/4", "loss 0.25", "peak 300 MB", "left", "━"):
        assert part in err


def test_a_live_bar_is_put_away_when_the_training_is_interrupted(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = ProgressBar("run")
    seen = []

    def train() -> None:
        with bar:
            seen.append(bar._bar.live.is_started)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train()
    assert seen == [True]
    assert not bar._bar.live.is_started
