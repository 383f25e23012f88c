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
from pathlib import Path
from typing import Any, NoReturn

from sgcl.errors import InputError
from sgcl.trainer import TrainingError

_OVERVIEW = """node embeddings without labels, by smoothed graph contrastive learning

  sgcl demo                                         see it work, on data that comes along
  sgcl train --dataset cora --smoothing taubin      train and leave a run folder
  sgcl train --graph edges.csv --features x.csv     the same on a graph of your own
  sgcl evaluate runs/sgcl-taubin-cora-0             score a run beside its floors
  sgcl embed RUN --graph new.csv --features x.csv --out new.parquet   embed other nodes with it
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
        "train": _train, "evaluate": _evaluate, "embed": _embed, "datasets": _datasets, "methods": _methods,
        "demo": _demo}
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
    from sgcl import options, recipes, settings, workflow

    method = words.pop(0) if words and not words[0].startswith("-") else "sgcl"
    parser = _Parser(prog=f"sgcl train {method}", argument_default=argparse.SUPPRESS, allow_abbrev=False,
                     usage="sgcl train [METHOD] --dataset NAME [--smoothing NAME] [--seed N] [--out RUN] [flag ...]",
                     description="Train on a graph without labels and leave a run folder: settings, metrics, "
                                 "weights, embeddings by node id and a training curve. A dataset that has a recipe "
                                 "starts from its settings; flags go over them.",
                     epilog="example: sgcl train --dataset digits --smoothing bilateral --bilateral-hops 2 --epochs 50")
    graph = parser.add_argument_group("graph and run")
    _add_graph(graph)
    graph.add_argument("--protocol", metavar="NAME", help="decides the graph (development: its largest component) and "
                       "how `sgcl evaluate` splits it; the dataset's own unless given")
    graph.add_argument("--out", metavar="RUN", help="the run folder; runs/METHOD-SMOOTHING-DATASET-SEED unless given")
    graph.add_argument("--recipe", action=argparse.BooleanOptionalAction, help="start from the dataset's recipe")
    _add_common(graph)
    graph.add_argument("--threads", type=int, metavar="N", help="CPU threads; all cores unless given")
    options.add_options(parser, method)
    given = parser.parse_args(words)
    files = _own_files(given)
    _set_threads(getattr(given, "threads", None))
    base = {}
    if files is None and getattr(given, "recipe", True):
        wanted = getattr(given, "smoothing", None)
        base = recipes.recipe(method, given.dataset, wanted or settings.encode(settings.defaults(method)).get(
            "smoothing", {}).get("name"))
    chosen = options.collect(given, base, method)
    data = _load(given, files)
    dataset = given.dataset if files is None else Path(files["edges"]).name.split(".")[0]
    outcome = workflow.train_run(method, chosen, data, dataset=dataset, files=files, out=getattr(given, "out", None),
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
                ["", f"test {first['metric']} %", "validation %", "runs x splits", "disparity"], table)


def _embed(words: list[str]) -> None:
    from sgcl import workflow

    parser = _Parser(prog="sgcl embed", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                     description="Embed the nodes of a graph with a trained run: nodes it has not seen, or a new graph "
                                 "with the same features. Writes them under their ids.")
    parser.add_argument("run", metavar="RUN")
    _add_graph(parser)
    parser.add_argument("--out", metavar="FILE", required=True, help="a .parquet, .csv or .npy file")
    parser.add_argument("--device", metavar="NAME", help="where to work; where the run was trained unless given")
    _add_common(parser)
    given = parser.parse_args(words)
    outcome = workflow.embed(given.run, _load(given, _own_files(given)), given.out, getattr(given, "device", None))
    print(json.dumps(outcome) if getattr(given, "json", False) else
          f"{outcome['out']}: {outcome['nodes']} nodes, width {outcome['width']}")


def _datasets(words: list[str]) -> None:
    from sgcl import datasets
    from sgcl.report import print_table

    parser = _Parser(prog="sgcl datasets", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                     description="List the named datasets; describe and measure one, or a graph of your own.")
    parser.add_argument("dataset", nargs="?", metavar="NAME")
    _add_graph(parser, named=False)
    _add_common(parser)
    given = parser.parse_args(words)
    root = getattr(given, "data_root", None)
    if hasattr(given, "graph"):
        rows = [{"name": given.graph, **datasets.statistics(_load(given, _own_files(given)))}]
    elif hasattr(given, "dataset"):
        rows = [{**datasets.describe(given.dataset), "here": datasets.available(given.dataset, root)}]
        if rows[0]["here"]:
            load = datasets.load_collection if rows[0]["task"] == "graph" else datasets.load
            rows[0] |= {"measured": datasets.statistics(load(given.dataset, root))}
    else:
        rows = [{**datasets.describe(name), "here": datasets.available(name, root)} for name in datasets.DATASETS]
    if getattr(given, "json", False):
        print(json.dumps(rows))
    elif len(rows) == 1:
        flat = {**rows[0], **{f"measured {key}": value for key, value in rows[0].get("measured", {}).items()}}
        flat.pop("measured", None)
        print_table(rows[0]["name"], ["", "value"], [[key, _shown(value)] for key, value in flat.items()
                                                      if value not in (None, "", {}, [])])
    else:
        print_table("datasets", ["name", "graphs", "nodes", "edges", "features", "classes", "protocol", "here"],
                    [[row["name"], *(_shown(row[key]) for key in ("graphs", "nodes", "edges", "features", "classes")),
                      row["protocol"] or "", _shown(row["here"])] for row in rows])


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


def _add_graph(parser: Any, *, named: bool = True) -> None:
    if named:
        parser.add_argument("--dataset", metavar="NAME", help="a named graph; `sgcl datasets` lists them")
    parser.add_argument("--graph", metavar="EDGES", help="a graph of your own: an edge list (.csv, .tsv, .parquet), "
                        "a .graphml file or a sparse .npz adjacency")
    parser.add_argument("--features", metavar="FILE", help="its node features: a table with an id column, an .npy or "
                        ".npz array, or one of degree, walk, spectral, ones to make them from the graph")
    parser.add_argument("--labels", metavar="FILE", help="a table with an id and a label column, for `sgcl evaluate`")
    parser.add_argument("--ids", metavar="FILE", help="an .npy file with the ids of the rows of array features")
    parser.add_argument("--edge-weight", metavar="COLUMN", help="the column of the edge weights; weight unless given")


def _own_files(given: Any) -> dict[str, Any] | None:
    """What ``read_graph`` is called with, paths in full; None for a named dataset."""
    from sgcl import datasets

    if hasattr(given, "graph") == hasattr(given, "dataset"):
        raise InputError("which graph? give either --dataset NAME (`sgcl datasets` lists them) or --graph EDGES")
    if hasattr(given, "dataset"):
        datasets.DATASETS[given.dataset]  # an unknown name is told before anything else
        return None
    files = {"edges": given.graph, **{name: getattr(given, name) for name in ("features", "labels", "ids")
                                      if hasattr(given, name)}}
    files = {name: str(Path(file).resolve()) if Path(file).suffix or Path(file).exists() else file
             for name, file in files.items()}
    return {**files, "weight": given.edge_weight} if hasattr(given, "edge_weight") else files


def _load(given: Any, files: dict[str, Any] | None) -> Any:
    from sgcl import datasets
    from sgcl.readers import read_graph

    if files is None:
        return datasets.load(given.dataset, getattr(given, "data_root", None))
    data = read_graph(**files)
    for note in data.notes:
        _note(note)
    return data


def _shown(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


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
