"""``sgcl train``: a graph and settings to a run folder, or on with a run that was cut short."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from sgcl import distributed, embeddings, engines, options, runs, settings, workflow
from sgcl.commands import arguments
from sgcl.errors import InputError
from sgcl.options import Parser
from sgcl.turns import check_accumulate


def command(words: list[str]) -> None:
    """Run the command with these words."""
    if any(word.split("=")[0] == "--resume" for word in words):
        return _resume(words)
    asked, method = ["train", *words], arguments.method_of(words)
    parser = Parser(prog=f"sgcl train {method}", argument_default=argparse.SUPPRESS, allow_abbrev=False,
                    usage="sgcl train [METHOD] --dataset NAME [--smoothing NAME] [--seed N] [--out RUN] [flag ...]",
                    description="Train on a graph without labels and leave a run folder: settings, metrics, "
                                "weights, embeddings by node id and a training curve. A dataset that has a recipe "
                                "starts from its settings; flags go over them.",
                    epilog="example: sgcl train --dataset digits --smoothing bilateral --bilateral-hops 2 --epochs 50")
    graph = parser.add_argument_group("graph and run")
    arguments.add_graph(graph)
    graph.add_argument("--protocol", metavar="NAME", help="decides the graph (development: its largest component) and "
                       "how `sgcl evaluate` splits it; the dataset's own unless given")
    graph.add_argument("--out", metavar="RUN", help="the run folder; runs/METHOD-SMOOTHING-DATASET-SEED unless given")
    graph.add_argument("--recipe", action=argparse.BooleanOptionalAction, help="start from the dataset's recipe")
    arguments.add_common(graph)
    _add_running(graph)
    engines.add_flags(graph)
    options.add_options(parser, method)
    given = parser.parse_args(words)
    files = arguments.own_files(given)
    arguments.set_threads(getattr(given, "threads", None))
    chosen = arguments.settings_of(given, files, method)
    running = _running(given)
    where = {"dataset": arguments.dataset_name(given, files), "files": files,
             **arguments.only_given(given, "out", "protocol")}
    attributes = files is None and getattr(given, "attributes", False)
    if (ranks := engines.ranks(given)) > 1 or engines.with_ray(given):
        folder = workflow.check_run(method, chosen, **where, ranks=ranks)
        if not engines.with_ray(given):
            sys.exit(engines.run_local(given, asked, folder))
        return _print_run(given, engines.run_with_ray(given, method, chosen, folder, **where, **running,
                                                      **arguments.fetching(given), attributes=attributes))
    with engines.joined(given) as group:
        if group.rank == 0:
            workflow.check_run(method, chosen, **where)
        outcome = workflow.train_run(method, chosen, arguments.load(given, files), **where, **running,
                                     attributes=attributes)
    if group.rank == 0:
        _print_run(given, outcome)


def _resume(words: list[str]) -> None:
    parser = Parser(prog="sgcl train --resume", argument_default=argparse.SUPPRESS, allow_abbrev=False,
                    description="Go on with a run that was cut short, exactly as if it had not been. Its settings and "
                                "its graph are the run's own.")
    arguments.add_common(parser)
    _add_running(parser)
    engines.add_flags(parser, anew=False)
    given, others = parser.parse_known_args(words)
    if others:
        raise InputError(f"--resume goes on with the run's own settings: leave out {others[0]}")
    config = runs.read_config(Path(given.resume))
    if (ranks := engines.ranks(given)) > 1:
        check_accumulate(ranks, settings.decode(config["settings"]).get("accumulate", 1))
        sys.exit(engines.run_local(given, ["train", *words], given.resume))
    arguments.set_threads(getattr(given, "threads", None if distributed.is_started() else config.get("threads")))
    with engines.joined(given) as group:
        outcome = workflow.resume_run(given.resume, **arguments.fetching(given), **_running(given))
    if group.rank == 0:
        _print_run(given, outcome)


def _add_running(parser: Any) -> None:
    parser.add_argument("--threads", type=int, metavar="N", help="CPU threads; all cores unless given")
    parser.add_argument("--checkpoint-every", type=float, metavar="SECONDS", help="the time between two "
                        "checkpoints, which changes no result; default 60")
    parser.add_argument("--tensorboard", action="store_true", help="also write RUN/tensorboard, for TensorBoard")
    arguments.add_limits(parser)
    parser.add_argument("--resume", metavar="RUN", help="go on with a run that was cut short, with its own settings")


def _running(given: Any) -> dict[str, Any]:
    """How a training runs, which changes nothing of its result."""
    how = {name: getattr(given, name) for name in ("checkpoint_every", "tensorboard", "quiet", "verbose")
           if hasattr(given, name)}
    return {**how, "memory_limit": embeddings.memory_bytes(getattr(given, "memory_limit", None))}


def _print_run(given: Any, outcome: dict[str, Any]) -> None:
    if getattr(given, "json", False):
        print(json.dumps(outcome))
    else:
        loss = "" if outcome["loss"] is None else f"loss {outcome['loss']:.4g} "
        size = f"{outcome['graphs']} graphs" if "graphs" in outcome else f"{outcome['nodes']} nodes"
        print(f"{outcome['run']}: {size}, {loss}after {outcome['epochs']} epochs, "
              f"{outcome['seconds']:.1f} s\nnext: {outcome['next']}")
