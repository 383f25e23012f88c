"""``sgcl sweep``: many settings to the best of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from sgcl import embeddings, levels, options, sweep
from sgcl.commands import arguments
from sgcl.errors import InputError
from sgcl.options import Parser
from sgcl.report import print_sweep


def command(words: list[str]) -> None:
    """Run the command with these words."""
    method = arguments.method_of(words)
    parser = Parser(prog=f"sgcl sweep {method}", argument_default=argparse.SUPPRESS, allow_abbrev=False,
                    usage="sgcl sweep [METHOD] --dataset NAME --grid NAME=VALUE,VALUE [--grid ...] [flag ...]",
                    description="Train with many settings, score each without a look at test labels, and print the "
                                "command line of the best. The same command goes on with a sweep that was cut short.",
                    epilog="example: sgcl sweep --dataset digits --grid lr=1e-3,1e-4 --grid drop-edges=0.3,0.5 "
                           "--epochs 50")
    group = parser.add_argument_group("graph and sweep")
    arguments.add_graph(group)
    group.add_argument("--protocol", metavar="NAME", help="how nodes are split; the dataset's own unless given")
    group.add_argument("--grid", metavar="NAME=VALUES", action="append", default=[], help="values of a flag, set apart "
                       "by commas; give it again for another flag")
    group.add_argument("--range", metavar="NAME=LOW..HIGH", action="append", default=[], help="numbers for Optuna to "
                       "choose from; on a logarithmic scale where HIGH is 10 times LOW or more")
    group.add_argument("--optuna", action="store_true", default=False, help="let Optuna propose the trials, and stop "
                       "those that fall behind")
    group.add_argument("--trials", type=int, metavar="N", help="how many Optuna tries in all (default 20)")
    group.add_argument("--select", choices=sweep.SELECT, default="validation", help="best by a linear probe on "
                       "validation nodes; or without labels, by links hidden before training or by effective rank, "
                       "which alone is for collections")
    group.add_argument("--out", metavar="FOLDER", help="the sweep folder; runs/sweep-METHOD-DATASET-SELECT "
                       "unless given")
    group.add_argument("--recipe", action=argparse.BooleanOptionalAction, help="start from the dataset's recipe")
    arguments.add_common(group)
    group.add_argument("--threads", type=int, metavar="N", help="CPU threads; all cores unless given")
    arguments.add_limits(group)
    options.add_options(parser, method)
    given = parser.parse_args(words)
    if hasattr(given, "trials") and not given.optuna:
        raise InputError("--trials is for --optuna: a grid has as many trials as points")
    files = arguments.own_files(given)
    sweep.check_select(given.select, collection=levels.is_collection(arguments.dataset_name(given, files), files))
    space = sweep.read_space(given.grid, given.range, method)
    arguments.set_threads(getattr(given, "threads", None))
    memory_limit = embeddings.memory_bytes(getattr(given, "memory_limit", None))

    def settle(values: Mapping[str, str]) -> dict[str, Any]:
        merged = {**vars(given), **vars(options.given_by_name(values, method))}
        return arguments.settings_of(argparse.Namespace(**merged), files, method)

    data, dataset = arguments.load(given, files), arguments.dataset_name(given, files)
    outcome = sweep.sweep(
        method, settle, space, data, dataset=dataset, files=files, select=given.select,
        trials=getattr(given, "trials", 20) if given.optuna else None, protocol=getattr(given, "protocol", None),
        out=getattr(given, "out", f"runs/sweep-{method}-{dataset}-{given.select}"),
        memory_limit=memory_limit, attributes=files is None and getattr(given, "attributes", False),
        quiet=getattr(given, "quiet", False), verbose=getattr(given, "verbose", False))
    if getattr(given, "json", False):
        print(json.dumps(outcome))
    else:
        print_sweep(outcome)
