"""The command line: words in, calls out. Results go to standard output, progress to standard error.

Exit codes: 0 done, 1 the run failed, 2 a request that cannot be met, told in one line, 130 and 143 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

from sgcl import launch
from sgcl.commands import COMMANDS
from sgcl.distributed import LostRank
from sgcl.errors import InputError
from sgcl.options import Parser, no_such
from sgcl.signals import Interrupted
from sgcl.trainer import TrainingError

_OVERVIEW = """node and graph embeddings without labels, by smoothed graph contrastive learning

  sgcl demo                                         see it work, on data that comes along
  sgcl train --dataset cora --smoothing taubin      train and leave a run folder
  sgcl train --graph edges.csv --features x.csv     the same on a graph of your own
  sgcl import edges.parquet --features x.npy --out graph.store   a graph larger than memory, for --graph
  sgcl partition graph.store --parts 4 --out parts  cut it for different machines, each with its part, for --graph
  sgcl train --collection FOLDER                    on many graphs of your own, to embed each
  sgcl train --resume RUN                           go on with a run that was cut short
  sgcl evaluate runs/sgcl-taubin-cora-0             score a run beside its floors
  sgcl sweep --dataset cora --grid lr=1e-3,1e-4     look for good settings, without test labels
  sgcl runs                                         the runs there are; `sgcl show RUN` sums one up
  sgcl embed RUN --graph new.csv --features x.csv --out new.parquet   embed other nodes with it
  sgcl datasets                                     what can be trained on, and what is here
  sgcl methods sgcl                                 what a method does, and its settings
  sgcl bench list                                   the paper's tables and figures, to be run and rendered

`sgcl COMMAND --help` says more."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note
            _run(words)
            sys.stdout.flush()
    except InputError as error:
        return _fail(2, error)
    except LostRank as error:
        return _fail(launch.LOST if launch.is_launched() else 1, error)
    except TrainingError as error:
        return _fail(1, error)
    except Interrupted as stop:
        return _fail(128 + stop.number, stop)
    except KeyboardInterrupt:
        return _fail(130, "interrupted")
    except BrokenPipeError:  # whoever reads has gone, as in `sgcl datasets | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a full disk, a folder that went away
        return _fail(1, error)
    except SystemExit as done:  # --help
        return int(done.code or 0)
    return 0


def _run(words: list[str]) -> None:
    if words and words[0] in COMMANDS:
        module = "import_" if words[0] == "import" else words[0]  # the word itself is Python's
        import_module(f"sgcl.commands.{module}").command(words[1:])  # loaded now and not before
        return
    parser = Parser(prog="sgcl", description=_OVERVIEW, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="store_true", help="say which version this is")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=", ".join(COMMANDS))
    given = parser.parse_args(words)
    if given.version:
        print(version("sgcl"))
    elif given.command is None:
        parser.print_help()
    else:
        parser.error(no_such("command", given.command, COMMANDS))


def _note(message: Warning | str, *rest: Any, **more: Any) -> None:
    print(f"sgcl: note: {message}", file=sys.stderr)


def _fail(code: int, why: object) -> int:
    if not launch.tell(why):
        print(f"sgcl: {why}", file=sys.stderr)
    return code
