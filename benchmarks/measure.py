"""What all benchmarks share: options, children, peak memory, bars. Not a benchmark itself."""

import argparse
import ctypes
import gc
import json
import operator
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sgcl.memory import peak_increase
from sgcl.memory.peak import status

__all__ = ["AnonymousPeak", "Bar", "finish", "in_child", "options", "peak_increase", "table", "trim"]


class Bar(NamedTuple):
    """A figure and the bound it must keep."""

    name: str
    value: float
    sign: str
    bound: float

    @property
    def holds(self) -> bool:
        return {"<=": operator.le, ">=": operator.ge}[self.sign](self.value, self.bound)

    def __str__(self) -> str:
        return f"{'ok  ' if self.holds else 'MISS'} {self.name}: {self.value:.4g} {self.sign} {self.bound:.4g}"


def options(doc: str, **flags: str) -> argparse.Namespace:
    """The flags that all benchmarks have, and others with what they do."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object of figures")
    parser.add_argument("--quick", action="store_true", help="the small sizes only, under a minute, no bars")
    parser.add_argument("--check", action="store_true", help="exit 1 and name the bar where one is missed")
    for name, what in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=what)
    return parser.parse_args()


def in_child(script: str, function: str, *args: Any) -> Any:
    """``function(*args)`` of the script, in a process of its own: nothing left in memory by what ran before."""
    code = ("import importlib, sys, json; "
            f"sys.path.insert(0, {str(Path(script).parent)!r}); m = importlib.import_module({Path(script).stem!r}); "
            f"print(json.dumps(m.{function}(*json.loads(sys.argv[1]))))")
    done = subprocess.run([sys.executable, "-c", code, json.dumps(args)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def trim() -> None:
    """Freed memory that the C library still holds goes back to the system, so that it counts for whoever takes it."""
    gc.collect()
    release = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if release is not None:
        release(0)


class AnonymousPeak:
    """The most anonymous memory that the process had inside a ``with``, looked at a hundred times a second: what no
    file can give back, unlike the pages of one that is mapped."""

    def __enter__(self) -> "AnonymousPeak":
        self.top, self._done = status("RssAnon"), threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.top = max(self.top, status("RssAnon"))

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._watcher.join()
        self.top = max(self.top, status("RssAnon"))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
                     for row in (header, *rows))


def finish(given: argparse.Namespace, figures: dict[str, Any], bars: Sequence[Bar], text: str) -> int:
    """Print what was asked for; the exit code."""
    if given.json:
        print(json.dumps({**figures, "bars": [{**bar._asdict(), "holds": bar.holds} for bar in bars]}))
    else:
        print(text)
        for bar in bars:
            print(bar)
    missed = [bar for bar in bars if not bar.holds]
    if given.check and missed:
        print("missed: " + "; ".join(bar.name for bar in missed), file=sys.stderr)
        return 1
    return 0
