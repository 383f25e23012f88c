"""Run what is not there yet: a training a process, one thread each, as many at once as there are cores.

The parent alone writes. A child that is killed, or that loses its parent, takes the cells under way with it and nothing
else; the same call then goes on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from sgcl.bench.cells import Cell
from sgcl.bench.estimates import estimates
from sgcl.bench.lines import Line, Lines
from sgcl.errors import InputError
from sgcl.launch import cores
from sgcl.signals import Interrupted, stop_request
from sgcl.trainer import TrainingError

_ALONE = "epoch"    # a measure of time: nothing runs beside it
_LOOK = 0.2         # seconds between two looks at signals
_PRELOAD = ["sgcl.bench.measures", "sklearn.datasets", "sklearn.linear_model", "sklearn.neighbors", "sklearn.svm"]

Wanted = Callable[[Lines], Iterable[tuple[str, Cell]]]


@dataclass
class Outcome:
    """How many cells were asked for, were there already, came to a result, failed, and were left for want of time."""

    asked: int = 0
    known: int = 0
    done: int = 0
    failed: int = 0
    left: int = 0


@dataclass
class _Job:
    """Cells that share a training, and the child that measures them."""

    cells: list[Cell]
    seconds: float
    process: Any = None
    answers: Any = None
    began: float = 0.0


def run(wanted: Wanted, lines: Lines, *, jobs: int | None = None, budget: float | None = None,
        quiet: bool = False) -> Outcome:
    """Measure the cells that have no line, cheap ones first.

    Args:
        wanted: cells, each with the file of a results folder that it belongs to. Asked again when those it gave are
            done, for some depend on the outcome of others.
        lines: what is there; what is measured joins it.
        jobs: processes at once; as many as cores unless given.
        budget: seconds after which no training is begun, nor one that would take longer than what is left.
        quiet: tell failures alone.
    """
    deadline = None if budget is None else time.monotonic() + budget
    outcome, tried = Outcome(), set[tuple[Any, ...]]()
    while True:
        cells: dict[tuple[Any, ...], Cell] = {}
        files: dict[tuple[Any, ...], str] = {}
        for name, cell in wanted(lines):
            cells.setdefault(cell.key, cell)
            files.setdefault(cell.key, name)
        todo = [cell for cell in cells.values() if lines.get(cell) is None and cell.key not in tried]
        if not tried:
            outcome.asked, outcome.known = len(cells), len(cells) - len(todo)
        if not todo:
            return outcome
        outcome.asked = max(outcome.asked, len(cells))
        tried |= {cell.key for cell in todo}
        _run(jobs_of(todo, lines), lines, files, outcome, jobs or cores(), deadline, quiet)


def jobs_of(cells: Iterable[Cell], lines: Lines) -> list[_Job]:
    """Cells by training, the cheap ones first."""
    together: dict[tuple[Any, ...], list[Cell]] = defaultdict(list)
    for cell in cells:
        together[cell.training].append(cell)
    seconds = estimates(lines.all())
    return sorted((_Job(group, max(map(seconds, group))) for group in together.values()),
                  key=lambda job: job.seconds)


def _run(waiting: list[_Job], lines: Lines, files: Mapping[Any, str], outcome: Outcome, most: int,
         deadline: float | None, quiet: bool) -> None:
    context: Any = multiprocessing.get_context(
        "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(_PRELOAD)  # children begin with all of it imported
    running: list[_Job] = []
    with stop_request() as request:
        try:
            while waiting or running:
                while waiting and _may_begin(waiting[0], running, most):
                    if deadline is not None and time.monotonic() + waiting[0].seconds > deadline:
                        outcome.left += sum(len(job.cells) for job in waiting)
                        waiting.clear()
                        break
                    job = waiting.pop(0)
                    lines.refresh()  # another bench may have measured it
                    job.cells = [cell for cell in job.cells if lines.get(cell) is None]
                    running += [_begin(context, job)] if job.cells else []
                ended = _ended(running)
                if request.number is not None:  # which may be why they ended
                    raise Interrupted(f"interrupted with {outcome.done} of {outcome.asked - outcome.known} cells "
                                      "measured; the same command goes on", request.number)
                for job in ended:
                    running.remove(job)
                    _collect(job, lines, files, outcome, quiet)
        finally:
            for job in running:
                job.process.kill()
                job.process.join()


def _may_begin(job: _Job, running: Sequence[_Job], most: int) -> bool:
    alone = [other.cells[0].measure == _ALONE for other in (job, *running)]
    return len(running) < most and (not running or not any(alone))


def _begin(context: Any, job: _Job) -> _Job:
    job.answers, theirs = context.Pipe(duplex=False)
    job.process = context.Process(target=_child, args=(job.cells, theirs), daemon=True)
    job.process.start()
    theirs.close()
    job.began = time.monotonic()
    return job


def _ended(running: Sequence[_Job]) -> list[_Job]:
    ready = connection.wait([job.answers for job in running], timeout=_LOOK) if running else []
    return [job for job in running if job.answers in ready]


def _collect(job: _Job, lines: Lines, files: Mapping[Any, str], outcome: Outcome, quiet: bool) -> None:
    """Write what a child measured, and tell it."""
    try:
        found, why = job.answers.recv()
    except (EOFError, OSError):
        found, why = [], None
    job.process.join()
    if why is None:
        why = f"the process ended with code {job.process.exitcode}"
        why += ", perhaps for want of memory" if job.process.exitcode == -signal.SIGKILL else ""
    for cell, line in zip(job.cells, found, strict=False):
        lines.add(files[cell.key], line)
        outcome.done += 1
        if not quiet:
            print(f"[{outcome.known + outcome.done + outcome.failed}/{outcome.asked}] {cell}{_shown(line)} "
                  f"({time.monotonic() - job.began:.0f} s)", file=sys.stderr, flush=True)
    for cell in job.cells[len(found):]:
        outcome.failed += 1
        print(f"[{outcome.known + outcome.done + outcome.failed}/{outcome.asked}] {cell} failed: {why}",
              file=sys.stderr, flush=True)


def _shown(line: Line) -> str:
    known = {"test": ("test", 100, ".2f"), "val": ("validation", 100, ".2f"), "seconds_epoch": ("s an epoch", 1, ".4f"),
             "peak": ("peak MB", 1e-6, ".0f"), "failed": ("failed", None, "")}
    for name, (title, scale, form) in known.items():
        if line.get(name) is not None:
            return f": {title} {line[name] if scale is None else format(scale * line[name], form)}"
    return ""


def _child(cells: list[Cell], answers: Any) -> None:
    """Measure, answer, end; or end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=_watch, daemon=True).start()
    import threadpoolctl
    import torch

    from sgcl import runs
    from sgcl.bench import measures

    torch.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
    try:
        answers.send((measures.measure(cells), None))
    except TrainingError as error:  # it would happen again: a result of its kind
        answers.send(([{**cell.line(settings=dict(cell.settings), failed=str(error)), **runs.environment()}
                       for cell in cells], None))
    except (InputError, MemoryError, OSError) as error:
        answers.send(([], str(error) or type(error).__name__))


def _watch() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
