"""The command line: words in, calls out. Results go to standard output, progress to standard error.

Exit codes: 0 done, 1 the run failed, 2 a request that cannot be met, told in one line.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NoReturn

from sgcl.errors import InputError
from sgcl.trainer import TrainingError

_OVERVIEW = """node embeddings without labels, by smoothed graph contrastive learning

  sgcl demo                                         see it work, on data that comes along
  sgcl train --dataset cora --smoothing taubin      train and leave a run folder
  sgcl evaluate runs/sgcl-taubin-cora-0             score a run beside its floors
  sgcl datasets                                     what can be trained on, and what is here
  sgcl methods sgcl                                 what a method does, and its settings

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
    except TrainingError as error:
        return _fail(1, error)
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
    commands: dict[str, Callable[[list[str]], None]] = {
        "train": _train, "evaluate": _evaluate, "datasets": _datasets, "methods": _methods, "demo": _demo}
    if words and words[0] in commands:
        return commands[words[0]](words[1:])
    parser = _Parser(prog="sgcl", description=_OVERVIEW, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="store_true", help="say which version this is")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=", ".join(commands))
    given = parser.parse_args(words)
    if given.version:
        print(version("sgcl"))
    elif given.command is None:
        parser.print_help()
    else:
        parser.error(_no_such("command", given.command, commands))


def _note(message: Warning | str, *rest: Any, **more: Any) -> None:
    print(f"sgcl: note: {message}", file=sys.stderr)


def _fail(code: int, why: object) -> int:
    print(f"sgcl: {why}", file=sys.stderr)
    return code


def _train(words: list[str]) -> None:
    from sgcl import datasets, options, recipes, settings, workflow

    method = words.pop(0) if words and not words[0].startswith("-") else "sgcl"
    parser = _Parser(prog=f"sgcl train {method}", argument_default=argparse.SUPPRESS, allow_abbrev=False,
                     usage="sgcl train [METHOD] --dataset NAME [--smoothing NAME] [--seed N] [--out RUN] [flag ...]",
                     description="Train on a graph without labels and leave a run folder: settings, metrics, "
                                 "weights, embeddings by node id and a training curve. A dataset that has a recipe "
                                 "starts from its settings; flags go over them.",
                     epilog="example: sgcl train --dataset digits --smoothing bilateral --bilateral-hops 2 --epochs 50")
    graph = parser.add_argument_group("graph and run")
    graph.add_argument("--dataset", metavar="NAME", help="`sgcl datasets` lists them")
    graph.add_argument("--protocol", metavar="NAME", help="decides the graph (development: its largest component) and "
                       "how `sgcl evaluate` splits it; the dataset's own unless given")
    graph.add_argument("--out", metavar="RUN", help="the run folder; runs/METHOD-SMOOTHING-DATASET-SEED unless given")
    graph.add_argument("--recipe", action=argparse.BooleanOptionalAction, help="start from the dataset's recipe")
    _add_common(graph)
    graph.add_argument("--threads", type=int, metavar="N", help="CPU threads; all cores unless given")
    options.add_options(parser, method)
    given = parser.parse_args(words)
    if not hasattr(given, "dataset"):
        raise InputError("what shall be trained on? give --dataset NAME (`sgcl datasets` lists them)")
    datasets.DATASETS[given.dataset]  # an unknown name is told before anything else
    _set_threads(getattr(given, "threads", None))
    base = {}
    if getattr(given, "recipe", True):
        wanted = getattr(given, "smoothing", None)
        base = recipes.recipe(method, given.dataset, wanted or settings.encode(settings.defaults(method)).get(
            "smoothing", {}).get("name"))
    chosen = options.collect(given, base, method)
    data = datasets.load(given.dataset, getattr(given, "data_root", None))
    outcome = workflow.train_run(method, chosen, data, dataset=given.dataset, out=getattr(given, "out", None),
                                 protocol=getattr(given, "protocol", None), quiet=getattr(given, "quiet", False))
    if getattr(given, "json", False):
        print(json.dumps(outcome))
    else:
        loss = "" if outcome["loss"] is None else f"loss {outcome['loss']:.4g} "
        print(f"{outcome['run']}: {outcome['nodes']} nodes, {loss}after {outcome['epochs']} epochs, "
              f"{outcome['seconds']:.1f} s\nnext: sgcl evaluate {outcome['run']}")


def _evaluate(words: list[str]) -> None:
    from sgcl import workflow
    from sgcl.report import mean_and_deviation, print_table

    parser = _Parser(prog="sgcl evaluate", allow_abbrev=False,
                     description="Score frozen embeddings with a linear probe whose regularisation is chosen on "
                                 "validation nodes, beside raw features and the untrained encoder. Several runs that "
                                 "differ in their seed alone are put together.")
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--protocol", metavar="NAME", help="how nodes are split; the run's own unless given")
    parser.add_argument("--seeds", type=int, metavar="N", help="splits 0 to N-1 for each run; the split of the run's "
                        "own seed unless given")
    parser.add_argument("--probe", choices=("converged", "published"), default="converged",
                        help="logistic regression run to convergence, or the probe of the protocol's paper")
    parser.add_argument("--floors", action=argparse.BooleanOptionalAction, default=True,
                        help="also score raw features and the untrained encoder")
    _add_common(parser)
    parser.add_argument("--threads", type=int, metavar="N", default=None, help="CPU threads; all cores unless given")
    given = parser.parse_args(words)
    _set_threads(given.threads)
    if given.seeds is not None and given.seeds < 1:
        raise InputError(f"--seeds is {given.seeds}, expected at least 1")
    rows = workflow.evaluate_runs(given.runs, protocol=given.protocol, seeds=given.seeds, probe=given.probe,
                                  floors=given.floors, data_root=getattr(given, "data_root", None))
    if getattr(given, "json", False):
        print(json.dumps({"results": rows}))
        return
    table = []
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        disparities = [row["disparity"] for row in mine if row["disparity"] is not None]
        table.append([name, mean_and_deviation([row["test"] for row in mine]),
                      mean_and_deviation([row["val"] for row in mine]), str(len(mine)),
                      f"{sum(disparities) / len(disparities):+.3f}" if disparities else "undefined"])
    first = rows[0]
    print_table(f"{first['dataset']}, protocol {first['protocol']}, probe {first['probe']}",
                ["", "test accuracy %", "validation %", "runs x splits", "disparity"], table)


def _datasets(words: list[str]) -> None:
    from sgcl import datasets
    from sgcl.report import print_table

    parser = _Parser(prog="sgcl datasets", allow_abbrev=False,
                     description="List the named datasets, or describe one.")
    parser.add_argument("name", nargs="?", metavar="NAME")
    _add_common(parser)
    given = parser.parse_args(words)
    root = getattr(given, "data_root", None)
    names = [given.name] if given.name else list(datasets.DATASETS)
    rows: list[dict[str, Any]] = []
    for name in names:
        entry = datasets.DATASETS[name]
        rows.append({"name": name, "title": entry.title, "nodes": entry.nodes, "edges": entry.edges,
                     "features": entry.features, "classes": entry.classes, "protocol": entry.protocol,
                     "here": datasets.available(name, root), "citation": entry.citation})
    if getattr(given, "json", False):
        print(json.dumps(rows))
        return
    print_table("datasets", ["name", "nodes", "edges", "features", "classes", "protocol", "on this machine"],
                [[row["name"], *(f"{row[key]:,}" for key in ("nodes", "edges", "features", "classes")),
                  row["protocol"] or "", "yes" if row["here"] else "no"] for row in rows])
    if given.name:
        print(f"{rows[0]['title']}: {rows[0]['citation']}")


def _methods(words: list[str]) -> None:
    import inspect

    from sgcl import settings
    from sgcl.methods import METHODS
    from sgcl.report import print_table

    parser = _Parser(prog="sgcl methods", allow_abbrev=False, description="List the methods, or describe one.")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("--json", action="store_true", help="one JSON value on standard output")
    given = parser.parse_args(words)
    names = [given.name] if given.name else list(METHODS)
    rows: list[dict[str, Any]] = [
            {"name": name, "summary": (inspect.getdoc(METHODS[name]) or "").splitlines()[0],
             "settings": settings.encode(settings.defaults(name))} for name in names]
    if given.json:
        print(json.dumps(rows))
    elif given.name:
        print(inspect.getdoc(METHODS[given.name]))
    else:
        print_table("methods", ["name", "what"], [[row["name"], row["summary"]] for row in rows])


def _demo(words: list[str]) -> None:
    from sgcl import demo

    parser = _Parser(prog="sgcl demo", allow_abbrev=False,
                     description="Train SGCL with each smoothing on the nearest-neighbour graph of scikit-learn's "
                                 "digits, print one table and leave a run folder. Needs no download.")
    parser.add_argument("--out", metavar="RUN", default="runs/demo", help="the run folder (default runs/demo)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="encoders, and splits, for a row (default 3)")
    parser.add_argument("--epochs", type=int, default=None, metavar="N", help="of each training")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    given = parser.parse_args(words)
    demo.run(given.out, seeds=given.seeds, epochs=given.epochs, as_json=given.json, quiet=given.quiet)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and name the nearest flag."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._negative_number_matcher = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$", re.IGNORECASE)  # -1e-3 too

    def error(self, message: str) -> NoReturn:
        raise InputError(message)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings]
            self.error(_no_such("argument", unknown[0].split("=")[0], flags))
        return given


def _no_such(kind: str, word: str, known: Sequence[str] | dict[str, Any]) -> str:
    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f"no {kind} {word!r}; " + (f"did you mean {nearest[0]!r}?" if nearest else "see --help")


def _add_common(parser: Any) -> None:
    parser.add_argument("--data-root", metavar="DIR", default=argparse.SUPPRESS,
                        help="where raw dataset files lie; the environment variable SGCL_DATA unless given")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS,
                        help="one JSON value on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", default=argparse.SUPPRESS, help="no progress")


def _set_threads(threads: int | None) -> None:
    if threads is None:
        return
    if threads < 1:
        raise InputError(f"--threads is {threads}, expected at least 1")
    import torch
    torch.set_num_threads(threads)
