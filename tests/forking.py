"""A process that has torch loaded and forks one child for each command line: a child starts in milliseconds."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    import torch

    from sgcl import cli, options, recipes, workflow  # noqa: F401 (loaded before the first fork)

    with contextlib.suppress(ImportError):
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401
    torch.set_num_threads(1)
    workflow.draw_if_possible = lambda draw: None  # pictures take longer than the trainings here,
    workflow.check_memory = lambda *args: None  # and so does the estimate of the memory
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
    """Runs ``sgcl`` with some words, one process at a time; what it prints goes to ``log``."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._process = subprocess.Popen([sys.executable, __file__], env={**os.environ, "OMP_NUM_THREADS": "1"},
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
