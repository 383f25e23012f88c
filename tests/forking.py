"""A process that has torch loaded and forks one child for each command line: a child starts in milliseconds. The ranks
of ``--ranks`` are forked too."""

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any


class Forked:
    """A forked process as ``subprocess.Popen`` would show it."""

    def __init__(self, work: Callable[[], int]) -> None:
        self.code: int | None = None
        self.stdin = os.pipe()
        os.set_inheritable(self.stdin[1], False)
        self.pid = os.fork()
        if self.pid == 0:
            code = 99
            try:
                os.dup2(self.stdin[0], 0)
                os.close(self.stdin[1])
                code = work()
            finally:
                os._exit(code)
        os.close(self.stdin[0])

    def poll(self) -> int | None:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def wait(self) -> None:
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def forked(words: Sequence[str], environment: Mapping[str, str], log: Path | None) -> Forked:
    """Stands for ``sgcl.launch.start``."""
    from sgcl import cli

    def work() -> int:
        os.environ.update(environment)
        if log is not None:
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            os.dup2(2, 1)
        if folder := os.environ.get("SGCL_PIDS"):
            Path(folder, environment["RANK"]).write_text(str(os.getpid()))
        return cli.main(words)

    return Forked(work)


def in_ranks(size: int, folder: Path, work: Callable[[], Any], *, timeout: float = 60.0) -> list[Any]:
    """What ``work()`` gives, or the exception that it raises, in each of so many forked processes that know each other;
    None for one that did not come to its end."""
    import torch.distributed as dist

    def one(rank: int) -> int:
        dist.init_process_group("gloo", store=dist.FileStore(str(folder / "store"), size), rank=rank, world_size=size,
                                timeout=timedelta(seconds=timeout))
        try:
            found = work()
        except Exception as error:
            found = error
        (folder / f"{rank}.part").write_bytes(pickle.dumps(found))
        (folder / f"{rank}.part").rename(folder / str(rank))
        return 0

    folder.mkdir(exist_ok=True)
    children = [Forked(lambda rank=rank: one(rank)) for rank in range(size)]
    for child in children:
        child.wait()
    return [pickle.loads((folder / str(rank)).read_bytes()) if (folder / str(rank)).exists() else None
            for rank in range(size)]


if __name__ == "__main__":
    import torch

    from sgcl import cli, distributed, launch
    from sgcl.commands import train  # noqa: F401 (loaded before the first fork)
    from sgcl.workflow import training

    with contextlib.suppress(ImportError):
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401
    torch.set_num_threads(1)
    launch.start, distributed._ROLL_CALL = forked, 1.0
    training.draw_if_possible = lambda draw: None  # pictures take longer than the trainings here,
    training.check_memory = lambda *args: None  # and so does the estimate of the memory
    for line in sys.stdin:
        words, log = json.loads(line)
        if (pid := os.fork()) == 0:
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            os.dup2(2, 1)
            code = 99
            try:
                code = cli.main(words)
            finally:
                os._exit(code)
        print(pid, flush=True)
        sys.stdin.readline()  # until then the number is the child's, dead or alive
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


class Server:
    """Runs ``sgcl`` with some words, one process at a time; what it prints goes to ``log``. Ranks leave their process
    numbers in the folder ``pids``."""

    def __init__(self, log: Path, pids: Path | None = None) -> None:
        self.log = log
        more = {} if pids is None else {"SGCL_PIDS": str(pids)}
        self._process = subprocess.Popen([sys.executable, __file__], env={**os.environ, "OMP_NUM_THREADS": "1", **more},
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, *words: str) -> int:
        """The number of the process."""
        return self._ask(json.dumps([words, str(self.log)]))

    def wait(self) -> int:
        """The exit code of the process started last; that of a signal is negative."""
        return self._ask("")

    def run(self, *words: str) -> int:
        self.start(*words)
        return self.wait()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _ask(self, line: str) -> int:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())
