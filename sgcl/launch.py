"""Start the ranks of a training on this machine and watch them: one that ends badly ends all, and is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sgcl.errors import InputError

LOST = 75        # the exit code of a rank that lost another
_TOLD = "SGCL_TOLD"  # names the file in which a rank says why it ended
_GRACE = 15.0    # seconds that ranks have to end once one of them did, badly: longer than a roll call
_LATE = 2.0      # after one
_LOOK = 0.05     # seconds between two looks


def launch(words: Sequence[str], ranks: int, *, folder: str | Path, threads: int | None = None) -> int:
    """Run ``sgcl`` with these words as so many ranks, to their end; gives the exit code, 0 or that of the rank that
    failed first, whose reason is printed in one line.

    Ctrl-C and SIGTERM are handed on to rank 0. Each rank has its share of the cores, or ``threads``.
    """
    if ranks < 1:
        raise InputError(f"--ranks is {ranks}, expected at least 1")
    try:
        from torch.distributed import TCPStore  # type: ignore[attr-defined]
    except ImportError:
        raise InputError("this build of PyTorch has no torch.distributed: leave out --ranks") from None
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    each = os.environ.get("OMP_NUM_THREADS", str(max(cores() // ranks, 1))) if threads is None else str(threads)
    with tempfile.TemporaryDirectory(prefix="sgcl-ranks-") as told:
        logs, children = [Path(told, f"{rank}.log") for rank in range(ranks)], list[Any]()
        try:
            for rank, log in enumerate(logs):
                children.append(start(words, {
                    "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks),
                    "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port),
                    "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0",
                    "OMP_NUM_THREADS": each, _TOLD: str(log.with_suffix(".why"))}, None if rank == 0 else log))
            with _handed_on(children[0]) as handed:
                codes = _watched(children)
        finally:
            for child in children:
                _end(child)
        for number in handed:
            if -number in codes.values():  # before the ranks could listen for it
                print("sgcl: interrupted", file=sys.stderr)
                return 128 + number
        return _outcome(codes, logs, folder)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(words: Sequence[str], environment: Mapping[str, str], log: Path | None) -> Any:
    """A process of ``sgcl``. What it prints goes to the log, if there is one. It notices by its standard input when
    this process ends."""
    stream: IO[bytes] | None = None if log is None else log.open("wb")
    try:
        return subprocess.Popen([sys.executable, "-m", "sgcl", *words], env={**os.environ, **environment},
                                stdin=subprocess.PIPE, stdout=stream, stderr=stream, start_new_session=True)
    finally:
        if stream is not None:
            stream.close()


def is_launched() -> bool:
    """Whether this process is a rank that :func:`launch` started."""
    return _TOLD in os.environ


def tell(why: object) -> bool:
    """Leave the reason of a failure to whoever launched this process; ``False`` where nobody did."""
    if not is_launched():
        return False
    with suppress(OSError):
        Path(os.environ[_TOLD]).write_text(str(why), encoding="utf-8")
    return True


def stop_if_orphaned() -> None:
    """Ask this process to stop, as SIGTERM does, should the one that launched it end."""
    def wait() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    if is_launched():
        threading.Thread(target=wait, name="sgcl-orphan", daemon=True).start()


def _watched(children: Sequence[Any]) -> dict[int, int]:
    """The exit code of each rank that ended by itself, in the order in which they did, negative for a signal."""
    codes: dict[int, int] = {}
    deadline: float | None = None
    while len(codes) < len(children) and (deadline is None or time.monotonic() < deadline):
        time.sleep(_LOOK)
        for rank, child in enumerate(children):
            if rank not in codes and (code := child.poll()) is not None:
                codes[rank] = code
                if code < 0:
                    return codes
                if code > 0:
                    soon = time.monotonic() + (_LATE if code == LOST else _GRACE)
                    deadline = soon if deadline is None else min(deadline, soon)
    return codes


def _outcome(codes: Mapping[int, int], logs: Sequence[Path], folder: str | Path) -> int:
    """The exit code of all; the reason is printed."""
    failed = {rank: code for rank, code in codes.items() if code}
    if not failed:
        return 0
    guilty = {rank: code for rank, code in failed.items() if code != LOST} or failed
    rank = next((rank for rank, code in guilty.items() if code < 0), 0 if 0 in guilty else next(iter(guilty)))
    code, told = guilty[rank], logs[rank].with_suffix(".why")
    if told.exists():
        why = told.read_text(encoding="utf-8")
    elif code < 0:
        why = f"rank {rank} was killed ({signal.Signals(-code).name})"
    else:
        why = f"rank {rank} failed"
        if logs[rank].exists():
            print(logs[rank].read_text(encoding="utf-8", errors="replace"), end="", file=sys.stderr)
    if code != 2 and "go on with" not in why and Path(folder, "config.json").exists():
        why += f"; go on with: sgcl train --resume {folder}"
    print(f"sgcl: {why}", file=sys.stderr)
    return 1 if code < 0 or code == LOST else code


@contextmanager
def _handed_on(child: Any) -> Iterator[list[int]]:
    """Inside, Ctrl-C and SIGTERM go to one child alone, which tells the others; gives those that did."""
    handed: list[int] = []

    def hand_on(number: int, frame: Any) -> None:
        handed.append(number)
        with suppress(OSError):
            child.send_signal(number)

    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)} if main else {}
    try:
        yield handed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(child: Any) -> None:
    with suppress(OSError):
        if child.poll() is None:
            child.kill()
            child.wait()
