"""Cells are measured once, whatever dies meanwhile."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from sgcl.bench import BENCHES, Cell, Lines, run
from sgcl.bench.estimates import estimates
from sgcl.bench.runner import jobs_of
from sgcl.cli import main

SMALL = {"hidden_channels": 8, "epochs": 2}
FILE = "cells.jsonl"


def cell(name="DGI", seed=0, probe="converged", **settings):
    return Cell(name, "dgi", "digits", seed, "random", probe, settings={**SMALL, **settings})


def asked(*cells):
    return lambda lines: [(FILE, cell) for cell in cells]


@pytest.fixture
def lines(tmp_path):
    return Lines(tmp_path, [FILE])


def test_a_training_is_scored_in_all_ways_and_never_again(lines, capfd):
    cells = [cell(), cell(probe="cross-validated"), cell("raw features"), cell("untrained encoder")]
    outcome = run(asked(*cells), lines, jobs=1)
    assert (outcome.asked, outcome.known, outcome.done, outcome.failed) == (4, 0, 4, 0)
    found = Lines(lines.where, [FILE])
    trained, folded, raw, untrained = (found.get(cell) for cell in cells)
    assert trained["seconds_training"] == folded["seconds_training"]
    assert trained["untrained"] == untrained["test"] != raw["test"]
    assert trained["settings"]["epochs"] == 2
    assert trained["threads"] == 1
    assert {"versions", "machine", "val", "disparity", "seconds"} <= trained.keys()
    assert "[4/4]" in capfd.readouterr().err
    again = run(asked(*cells), found)
    assert (again.known, again.done) == (4, 0)


def test_cells_that_depend_on_others_come_after_them(lines):
    def wanted(lines):
        yield FILE, cell()
        if lines.get(cell()) is not None:
            yield FILE, cell(seed=1)

    outcome = run(wanted, lines, quiet=True)
    assert (outcome.asked, outcome.done) == (2, 2)


def test_a_training_that_fails_is_told_kept_and_stops_nothing(lines, capfd):
    outcome = run(asked(cell(lr=1e30), cell(), cell("raw features", lr=1e30)), lines, jobs=1)
    assert (outcome.done, outcome.failed) == (3, 0)
    assert lines.get(cell("raw features"))["test"] > 0.5
    assert lines.get(cell(lr=1e30))["versions"]
    assert "lower the learning rate (lr is 1e+30)" in lines.get(cell(lr=1e30))["failed"]
    assert lines.of([cell(lr=1e30), cell()]) == [lines.get(cell())]
    assert run(asked(cell(lr=1e30)), lines).done == 0


def test_what_cannot_be_met_is_told_and_asked_again_the_next_time(lines, capfd):
    wrong = Cell("DGI", "dgi", "grid", 0, "random", "converged", settings=SMALL)  # it has no labels
    outcome = run(asked(wrong, cell()), lines, jobs=1)
    assert (outcome.done, outcome.failed) == (1, 1)
    assert "grid DGI seed 0, random split, converged probe failed: " in capfd.readouterr().err
    assert lines.get(wrong) is None


def test_a_killed_child_takes_its_own_cells_alone(lines, capfd):
    endless = cell(epochs=10**6)

    def kill():
        while lines.get(cell()) is None:
            time.sleep(0.05)
        for child in multiprocessing.active_children():
            child.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    outcome = run(asked(endless, cell()), lines, jobs=2)
    killer.join()
    assert (outcome.done, outcome.failed) == (1, 1)
    assert "ended with code -9" in capfd.readouterr().err
    assert lines.get(endless) is None


def test_a_budget_begins_nothing_that_would_not_fit(tmp_path, capsys):
    words = ["bench", "node-small", "--datasets", "digits", "--methods", "DGI", "--results", str(tmp_path)]
    assert main([*words, "--budget", "0.001"]) == 0
    out = capsys.readouterr().out
    assert "1 cells, 0 known before, 0 measured" in out
    assert "1 cells were not begun, for they would not fit the budget: the same command goes on" in out


def test_cheap_cells_come_first():
    known = [{"name": "SGCL-T", "dataset": "cora", "settings": {"epochs": 10}, "seconds_cpu": 50.0}]
    cora, half, big = (Cell("SGCL-T", "sgcl", name, settings={"epochs": epochs})
                       for name, epochs in (("cora", 10), ("cora", 5), ("pubmed", 10)))
    seconds = estimates(known)
    assert (seconds(cora), seconds(half)) == (51.0, 26.0)
    assert seconds(big) == pytest.approx(1 + 50 * (19717 + 44324 / 20) / (2708 + 5278 / 20))
    lines = type("Known", (), {"all": lambda self: known})()
    assert [job.cells for job in jobs_of([big, cora, half], lines)] == [[half], [cora], [big]]


def test_seconds_of_an_epoch_tell_how_long_a_training_takes():
    known = [{"measure": "cost", "name": "GRACE", "method": "grace", "dataset": "pubmed", "settings": {"epochs": 1500},
              "cpu_epoch": 20.0}]
    training = Cell("GRACE", "grace", "pubmed", settings={"epochs": 300})
    assert estimates(known)(training) == 6001.0
    assert estimates(known)(replace(training, measure="cost")) == 61.0


def bench(folder, *more):
    return [sys.executable, "-m", "sgcl", "bench", "node-small", "--datasets", "digits", "--methods", "DGI", "G-BT",
            "--seeds", "3", "--jobs", "2", "--results", str(folder), *more]


def keys(file):
    return [(line["name"], line["seed"]) for line in map(json.loads, file.read_text().splitlines())]


def test_after_a_kill_the_same_command_goes_on_with_no_cell_lost_or_doubled(tmp_path, capsys):
    file = tmp_path / "accuracy.jsonl"
    killed = subprocess.Popen(bench(tmp_path, "--epochs", "4"), stderr=subprocess.DEVNULL, start_new_session=True)
    while killed.poll() is None and not (file.exists() and keys(file)):
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    deadline = time.monotonic() + 60
    while in_session(killed.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert in_session(killed.pid) == []  # its children ended with it
    before = file.read_text()
    assert 1 <= len(keys(file)) < 6
    assert main(bench(tmp_path, "--epochs", "4")[3:]) == 0
    assert f"6 cells, {len(before.splitlines())} known before" in capsys.readouterr().out
    assert file.read_text().startswith(before)
    assert sorted(keys(file)) == [(name, seed) for name in ("DGI", "G-BT") for seed in range(3)]


def in_session(leader):
    """The living processes of a session."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        try:
            if name.isdigit() and os.getsid(int(name)) == leader:
                with open(f"/proc/{name}/stat") as stat:
                    if stat.read().rsplit(")", 1)[1].split()[0] != "Z":
                        found.append(int(name))
        except OSError:
            continue
    return found


def test_an_interrupt_ends_in_one_line(tmp_path):
    stopped = subprocess.Popen(bench(tmp_path, "--epochs", "1000000"), stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    while stopped.poll() is None and len(in_session(stopped.pid)) < 4:
        time.sleep(0.05)
    os.killpg(stopped.pid, signal.SIGINT)
    assert stopped.wait(60) == 130
    assert stopped.stderr.read() == "sgcl: interrupted with 0 of 6 cells measured; the same command goes on\n"


def test_every_benchmark_has_a_name_of_its_own_file():
    assert len({bench.name for bench in BENCHES.values()}) == len(BENCHES)
