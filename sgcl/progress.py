"""Progress of a training on standard error: a live bar on a terminal, a line now and then elsewhere.

Asked to be quiet it says nothing, asked to be verbose a line an epoch and notes.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from sgcl.trainer import Epoch

_EVERY = 10.0  # seconds between two lines where there is no terminal


class _Live:
    """A bar that is there inside a ``with``, on a terminal."""

    live: bool
    _bar: Progress

    def __enter__(self) -> Self:
        if self.live:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.live:
            self._bar.stop()


class Shares(_Live):
    """What is being done and how much of it is, of a job without epochs: ``shares("sorting", 0.5)``.

    >>> with Shares("import", quiet=True) as shares:
    ...     shares("sorting", 0.5)
    """

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self.title, self.quiet, self.live = title, quiet, not quiet and sys.stderr.isatty()
        self._bar = Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("left"), TimeRemainingColumn(),
                             console=Console(stderr=True))
        self._tasks: dict[str, TaskID] = {}
        self._told = time.monotonic()

    def __call__(self, what: str, share: float) -> None:
        if self.live:
            if what not in self._tasks:
                self._tasks[what] = self._bar.add_task(f"{self.title}: {what}", total=1.0)
            self._bar.update(self._tasks[what], completed=share)
        elif not self.quiet and time.monotonic() - self._told > _EVERY:
            self._told = time.monotonic()
            print(f"{self.title}: {what}, {share:.0%}", file=sys.stderr)


class ProgressBar(_Live):
    """A callback that shows epoch, loss, time left and peak memory.

    >>> with ProgressBar("SGCL on cora", quiet=True) as bar:
    ...     bar(Epoch(epoch=1, epochs=10, loss=3.5, seconds=0.1, peak_memory=2**20))
    """

    def __init__(self, title: str, *, quiet: bool = False, verbose: bool = False) -> None:
        self.title, self.quiet, self.verbose = title, quiet, verbose and not quiet
        self.live = not quiet and not verbose and sys.stderr.isatty()
        self._bar = Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"),
                             TextColumn("left"), TimeRemainingColumn(), console=Console(stderr=True))
        self._task: TaskID | None = None
        self._told = time.monotonic()

    def __call__(self, epoch: Epoch) -> None:
        state = (f"epoch {epoch.epoch}/{epoch.epochs}  loss {epoch.loss:.4g}  "
                 f"peak {epoch.peak_memory / 2**20:.0f} MB")
        if self.live:
            if self._task is None:
                self._task = self._bar.add_task(self.title, total=epoch.epochs, state="")
            self._bar.update(self._task, completed=epoch.epoch, state=state)
        elif not self.quiet and (self.verbose or time.monotonic() - self._told > _EVERY
                                 or epoch.epoch == epoch.epochs):
            self._told = time.monotonic()
            left = epoch.seconds / epoch.epoch * (epoch.epochs - epoch.epoch)
            print(f"{self.title}: {state}  left {left:.0f} s", file=sys.stderr)

    def note(self, text: str) -> None:
        """A line for those who want to know more."""
        if self.verbose:
            print(f"{self.title}: {text}", file=sys.stderr)
