"""Who starts the ranks of ``sgcl train``: nobody, ``torchrun``, this program or Ray."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sgcl import distributed, launch
from sgcl.errors import InputError
from sgcl.ray_engine import train_with_ray


def add_flags(parser: Any, *, anew: bool = True) -> None:
    """Flags that say how many ranks there are and, for a training that begins ``anew``, who starts them."""
    parser.add_argument("--ranks", type=int, metavar="N", help="processes that share the batches of each step, which "
                        "changes no result; needs --accumulate N or more (default 1)")
    parser.add_argument("--rank-timeout", type=float, metavar="SECONDS", help="how long a rank is waited for before it "
                        f"counts as lost; default {distributed.TIMEOUT:.0f}")
    if anew:
        parser.add_argument("--engine", choices=("local", "ray"), help="who starts the ranks: this program, on this "
                            "machine (default), or Ray Train, on the cluster that RAY_ADDRESS names or else here")
        parser.add_argument("--storage", metavar="DIR", help="with --engine ray, where its checkpoints go, reached by "
                            "all machines; a folder ray beside the run unless given")


def ranks(given: argparse.Namespace) -> int:
    """How many ranks are to be started; 1 in a process that is a rank itself."""
    if hasattr(given, "storage") and not with_ray(given):
        raise InputError("--storage does nothing without --engine ray")
    if distributed.is_started():
        if hasattr(given, "ranks") and not launch.is_launched():
            raise InputError("torchrun has started the ranks already: leave out --ranks")
        return 1
    wanted: int = getattr(given, "ranks", 1)
    if wanted < 1:
        raise InputError(f"--ranks is {wanted}, expected at least 1")
    return wanted


def with_ray(given: argparse.Namespace) -> bool:
    return getattr(given, "engine", "local") == "ray"


def run_local(given: argparse.Namespace, words: Sequence[str], folder: str | Path) -> int:
    """Run ``sgcl`` with these words as the ranks that were asked for; gives the exit code."""
    return launch.launch(words, ranks(given), folder=folder, threads=getattr(given, "threads", None))


def run_with_ray(given: argparse.Namespace, method: str, chosen: Mapping[str, Any], folder: Path, **job: Any,
                 ) -> dict[str, Any]:
    """Train in workers of Ray; gives the summary of the run."""
    timeout = getattr(given, "rank_timeout", distributed.TIMEOUT)
    return train_with_ray(method, chosen, ranks=ranks(given), timeout=timeout,
                          storage=getattr(given, "storage", folder.parent / "ray"), **{**job, "out": folder})


@contextmanager
def joined(given: argparse.Namespace) -> Iterator[distributed.Group]:
    """Inside, this process knows its ranks, if it was started as one; notes are left to the first."""
    launch.stop_if_orphaned()
    with distributed.joined(timeout=getattr(given, "rank_timeout", distributed.TIMEOUT)) as group:
        if group.rank:
            warnings.simplefilter("ignore")
        yield group
