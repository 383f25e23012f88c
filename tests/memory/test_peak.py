import mmap
import time

from sgcl.memory import peak, peak_increase


def hold():
    with mmap.mmap(-1, 60_000_000) as kept:  # not what the process has freed and still holds
        for _ in range(60):
            kept.write(b"x" * 1_000_000)
        time.sleep(0.3)  # for those who look now and then


def test_the_peak_of_a_piece_of_work_holds_what_it_took():
    assert 50e6 < peak_increase(hold) < 120e6


def test_it_is_seen_without_the_mark_of_the_kernel(monkeypatch):
    monkeypatch.setattr(peak, "status", lambda field: (_ for _ in ()).throw(OSError))
    assert 50e6 < peak_increase(hold) < 120e6
