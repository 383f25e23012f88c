"""Ctrl-C and SIGTERM as a request to stop after the step at hand; the second one stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupted(KeyboardInterrupt):
    """A training stopped on request, after a whole step; the message says where and how to go on."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number  # of the signal


class Request:
    """Whether a stop was asked for."""

    number: int | None = None  # of the signal


@contextmanager
def stop_request() -> Iterator[Request]:
    """Listen for SIGINT and SIGTERM inside a ``with``. Only the main thread can; signals that are ignored stay so."""
    request = Request()
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        before.clear()

    def note(number: int, frame: FrameType | None) -> None:
        request.number = number
        restore()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, note)
    try:
        yield request
    finally:
        restore()


@contextmanager
def handlers_restored() -> Iterator[None]:
    """Handlers of SIGINT and SIGTERM that a library sets inside, and leaves, are gone afterwards."""
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if here else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # one that Python does not know of
                signal.signal(number, handler)
