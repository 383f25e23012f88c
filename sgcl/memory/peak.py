"""The most memory that a piece of work takes, as the system counts it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sgcl.memory.guard import resident


def peak_increase(work: Callable[[], Any]) -> int:
    """Bytes by which the resident size rose above its value just before, at the most, while ``work`` ran."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the kernel's own high-water mark, exact
        before = status("VmRSS")
        work()
        return max(status("VmHWM") - before, 1)
    except OSError:
        return _sampled_increase(work)


def status(field: str) -> int:
    """Bytes in a field of the kernel's account of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} here")


def _sampled_increase(work: Callable[[], Any]) -> int:
    before, top, done = resident(), 0, threading.Event()

    def watch() -> None:
        nonlocal top
        while not done.is_set():
            top = max(top, resident())
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return max(top - before, 1)
