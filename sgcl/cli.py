"""The command line: words in, calls out. Results go to standard output, progress to standard error.

Exit codes: 0 done, 1 the run failed, 2 a request that cannot be met, told in one line, 130 and 143 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sgcl import distributed, launch
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
    commands: dict[str, Callable[[list[str]], None]] = {
        "train": _train, "evaluate": _evaluate, "embed": _embed, "sweep": _sweep, "runs": _runs, "show": _show,
        "import": _elsewhere("importing", "import_command"), "datasets": _datasets, "methods": _methods, "demo": _demo,
        "partition": _elsewhere("partitioning", "partition_command"), "bench": _elsewhere("bench.command", "command")}
    if words and words[0] in commands:
        return commands[words[0]](words[1:])
    parser = Parser(prog="sgcl", description=_OVERVIEW, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="store_true", help="say which version this is")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=", ".join(commands))
    given = parser.parse_args(words)
    if given.version:
        print(version("sgcl"))
    elif given.command is None:
        parser.print_help()
    else:
        parser.error(no_such("command", given.command, commands))


def _elsewhere(module: str, name: str) -> Callable[[list[str]], None]:
    """A command that lies in a module of its own, loaded when it is called."""
    return lambda words: getattr(import_module(f"sgcl.{module}"), name)(words)


def _note(message: Warning | str, *rest: Any, **more: Any) -> None:
    print(f"sgcl: note: {message}", file=sys.stderr)


def _fail(code: int, why: object) -> int:
    if not launch.tell(why):
        print(f"sgcl: {why}", file=sys.stderr)
    return code


def _train(words: list[str]) -> None:
    from sgcl import engines, options, workflow

    if any(word.split("=")[0] == "--resume" for word in words):
        return _resume(words)
    asked, method = ["train", *words], _method(words)
    parser = Parser(prog=f"sgcl train {method}", argument_default=argparse.SUPPRESS, allow_abbrev=False,
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
    _add_running(graph)
    engines.add_flags(graph)
    options.add_options(parser, method)
    given = parser.parse_args(words)
    files = _own_files(given)
    _set_threads(getattr(given, "threads", None))
    chosen = _chosen(given, files, method)
    running = _running(given)
    where = {"dataset": _dataset_name(given, files), "files": files, **_given(given, "out", "protocol")}
    attributes = files is None and getattr(given, "attributes", False)
    if (ranks := engines.ranks(given)) > 1 or engines.with_ray(given):
        folder = workflow.check_run(method, chosen, **where, ranks=ranks)
        if not engines.with_ray(given):
            sys.exit(engines.run_local(given, asked, folder))
        return _print_run(given, engines.run_with_ray(given, method, chosen, folder, **where, **running,
                                                      **_fetching(given), attributes=attributes))
    with engines.joined(given) as group:
        if group.rank == 0:
            workflow.check_run(method, chosen, **where)
        outcome = workflow.train_run(method, chosen, _load(given, files), **where, **running, attributes=attributes)
    if group.rank == 0:
        _print_run(given, outcome)


def _method(words: list[str]) -> str:
    """The method that the first of the words names, taken out, in the form for what the others say is trained on."""
    from sgcl import levels

    method = words.pop(0) if words and not words[0].startswith("-") else "sgcl"
    look = Parser(add_help=False, allow_abbrev=False)
    for flag in ("--collection", "--dataset", "--graph"):
        look.add_argument(flag, nargs="?")
    seen, _ = look.parse_known_args(words)
    if seen.collection is None and seen.dataset is None and seen.graph is None:
        return method  # what is missing is told later
    return levels.method_for(method, seen.collection is not None or (
        seen.graph is None and levels.is_collection(seen.dataset)))


def _chosen(given: Any, files: dict[str, Any] | None, method: str) -> dict[str, Any]:
    """The settings in JSON form: the flags over the recipe of a named dataset, if it has one."""
    from sgcl import options, recipes, settings

    base = {}
    if files is None and getattr(given, "recipe", True):
        wanted = getattr(given, "smoothing", None)
        base = recipes.recipe(method, given.dataset, wanted or settings.encode(settings.defaults(method)).get(
            "smoothing", {}).get("name"))
    return options.collect(given, base, method)


def _dataset_name(given: Any, files: dict[str, Any] | None) -> str:
    return str(given.dataset) if files is None else Path(files.get("collection") or files["edges"]).name.split(".")[0]


def _resume(words: list[str]) -> None:
    from sgcl import engines, runs, settings, workflow
    from sgcl.turns import check_accumulate

    parser = Parser(prog="sgcl train --resume", argument_default=argparse.SUPPRESS, allow_abbrev=False,
                     description="Go on with a run that was cut short, exactly as if it had not been. Its settings and "
                                 "its graph are the run's own.")
    _add_common(parser)
    _add_running(parser)
    engines.add_flags(parser, anew=False)
    given, others = parser.parse_known_args(words)
    if others:
        raise InputError(f"--resume goes on with the run's own settings: leave out {others[0]}")
    config = runs.read_config(Path(given.resume))
    if (ranks := engines.ranks(given)) > 1:
        check_accumulate(ranks, settings.decode(config["settings"]).get("accumulate", 1))
        sys.exit(engines.run_local(given, ["train", *words], given.resume))
    _set_threads(getattr(given, "threads", None if distributed.is_started() else config.get("threads")))
    with engines.joined(given) as group:
        outcome = workflow.resume_run(given.resume, **_fetching(given), **_running(given))
    if group.rank == 0:
        _print_run(given, outcome)


def _add_running(parser: Any) -> None:
    parser.add_argument("--threads", type=int, metavar="N", help="CPU threads; all cores unless given")
    parser.add_argument("--checkpoint-every", type=float, metavar="SECONDS", help="the time between two "
                        "checkpoints, which changes no result; default 60")
    parser.add_argument("--tensorboard", action="store_true", help="also write RUN/tensorboard, for TensorBoard")
    _add_limits(parser)
    parser.add_argument("--resume", metavar="RUN", help="go on with a run that was cut short, with its own settings")


def _add_limits(parser: Any) -> None:
    parser.add_argument("--memory-limit", metavar="SIZE", help="refuse what would take more in all, e.g. 4GB; what "
                        "memory is free unless given")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line an epoch, and notes")


def _running(given: Any) -> dict[str, Any]:
    """How a training runs, which changes nothing of its result."""
    from sgcl import embeddings

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


def _evaluate(words: list[str]) -> None:
    from sgcl import workflow
    from sgcl.evaluation import TASKS
    from sgcl.report import print_scores

    parser = Parser(prog="sgcl evaluate", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                     description="Score embeddings beside raw features and the untrained encoder. Several runs that\n"
                                 "differ in their seed alone are put together. Rows join their run's results.jsonl.",
                     epilog="tasks:\n" + "\n".join(f"  {name:<12}{task.about}" for name, task in TASKS.items()) +
                            "\n\nAll but links judge the embedding that the run left. It was made with all links in "
                            "sight, so\nfor links the run's method is trained anew for each split, with its settings, "
                            "on 90 % of the\nlinks; the rest is told from as many pairs without a link by the cosine. "
                            "It takes as long as\nthe trainings.")
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--task", metavar="NAMES", type=lambda names: names.split(","), default=["probe"],
                        help="one or more of " + ",".join(TASKS) + ", set apart by commas (default probe)")
    parser.add_argument("--protocol", metavar="NAME", help="how nodes are split; the run's own unless given")
    parser.add_argument("--seeds", type=int, metavar="N", help="splits 0 to N-1 for each run; the split of the run's "
                        "own seed unless given")
    parser.add_argument("--probe", choices=("converged", "published"), default="converged",
                        help="logistic regression run to convergence, its regularisation chosen on validation nodes, "
                        "or the probe of the protocol's paper")
    parser.add_argument("--labels", metavar="FILE", help="a table with an id and a label column, instead of the "
                        "graph's own labels; nodes may be left out")
    _add_columns(parser)
    parser.add_argument("--graph", metavar="STORE", help="for runs that were trained from parts, the store these were "
                        "cut from; it is embedded into the run first")
    parser.add_argument("--floors", action=argparse.BooleanOptionalAction, default=True,
                        help="also score raw features and the untrained encoder")
    _add_common(parser)
    parser.add_argument("--threads", type=int, metavar="N", default=None, help="CPU threads; all cores unless given")
    given = parser.parse_args(words)
    _set_threads(given.threads)
    if given.seeds is not None and given.seeds < 1:
        raise InputError(f"--seeds is {given.seeds}, expected at least 1")
    rows = workflow.evaluate_runs(given.runs, tasks=given.task, protocol=given.protocol, seeds=given.seeds,
                                  probe=given.probe, labels=given.labels, floors=given.floors, whole_store=given.graph,
                                  columns=_given(given, "id_column", "label_column"),
                                  **_fetching(given), quiet=getattr(given, "quiet", False))
    if getattr(given, "json", False):
        print(json.dumps({"results": rows}))
    else:
        print_scores(rows)


def _sweep(words: list[str]) -> None:
    from sgcl import embeddings, levels, options, sweep
    from sgcl.report import print_sweep

    method = _method(words)
    parser = Parser(prog=f"sgcl sweep {method}", argument_default=argparse.SUPPRESS, allow_abbrev=False,
                    usage="sgcl sweep [METHOD] --dataset NAME --grid NAME=VALUE,VALUE [--grid ...] [flag ...]",
                    description="Train with many settings, score each without a look at test labels, and print the "
                                "command line of the best. The same command goes on with a sweep that was cut short.",
                    epilog="example: sgcl sweep --dataset digits --grid lr=1e-3,1e-4 --grid drop-edges=0.3,0.5 "
                           "--epochs 50")
    group = parser.add_argument_group("graph and sweep")
    _add_graph(group)
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
    _add_common(group)
    group.add_argument("--threads", type=int, metavar="N", help="CPU threads; all cores unless given")
    _add_limits(group)
    options.add_options(parser, method)
    given = parser.parse_args(words)
    if hasattr(given, "trials") and not given.optuna:
        raise InputError("--trials is for --optuna: a grid has as many trials as points")
    files = _own_files(given)
    sweep.check_select(given.select, collection=levels.is_collection(_dataset_name(given, files), files))
    space = sweep.read_space(given.grid, given.range, method)
    _set_threads(getattr(given, "threads", None))
    memory_limit = embeddings.memory_bytes(getattr(given, "memory_limit", None))

    def settle(values: Mapping[str, str]) -> dict[str, Any]:
        merged = {**vars(given), **vars(options.given_by_name(values, method))}
        return _chosen(argparse.Namespace(**merged), files, method)

    data, dataset = _load(given, files), _dataset_name(given, files)
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


def _runs(words: list[str]) -> None:
    from sgcl import summary
    from sgcl.report import print_runs

    parser = Parser(prog="sgcl runs", allow_abbrev=False, description="List the runs in a folder, oldest first.")
    parser.add_argument("folder", nargs="?", default="runs", metavar="FOLDER", help="where to look, however deep "
                        "(default runs)")
    parser.add_argument("--json", action="store_true", help="one JSON value on standard output")
    given = parser.parse_args(words)
    rows = summary.list_runs(given.folder)
    if given.json:
        print(json.dumps(rows))
    elif rows:
        print_runs(given.folder, rows)
    else:
        print(f"no runs in {given.folder}")


def _show(words: list[str]) -> None:
    from sgcl import summary
    from sgcl.report import print_run

    parser = Parser(prog="sgcl show", allow_abbrev=False, description="Sum up a run: what differs from the defaults, "
                    "what it was made with, how it went, its results and files, and how to go on.")
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args(words)
    run = summary.show_run(given.run)
    if given.json:
        print(json.dumps(run))
    else:
        print_run(run)


def _embed(words: list[str]) -> None:
    from sgcl import embeddings, levels, runs, workflow
    from sgcl.estimator import Estimator

    parser = Parser(prog="sgcl embed", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                     description="Embed the nodes of a graph with a trained run: nodes it has not seen, or a new graph "
                                 "with the same features; or the graphs of a collection, with a run on one. Writes "
                                 "them under their ids.")
    parser.add_argument("run", metavar="RUN")
    _add_graph(parser)
    parser.add_argument("--out", metavar="FILE", required=True, help="a .parquet, .csv or .npy file")
    parser.add_argument("--device", metavar="NAME", help="where to work; where the run was trained unless given")
    parser.add_argument("--memory", metavar="SIZE", help="what to take at most beside the graph and the weights, e.g. "
                        "2GB: it works in blocks then, with temporary files beside FILE")
    _add_common(parser)
    given = parser.parse_args(words)
    files, device = _own_files(given), getattr(given, "device", None)
    memory = embeddings.memory_bytes(getattr(given, "memory", None))
    embeddings.check_file(Path(given.out))
    Estimator.load(given.run, device=device)  # what is wrong with the run is told before the graph is read
    config = runs.read_config(Path(given.run))
    levels.check_level(config["method"], getattr(given, "dataset", None), files)
    files = levels.same_features(config, files) if files else None
    if files is None and config.get("attributes"):
        given.attributes = True
    outcome = workflow.embed(given.run, _load(given, files), given.out, device, memory,
                             quiet=getattr(given, "quiet", False))
    rows = "graphs" if "graphs" in outcome else "nodes"
    print(json.dumps(outcome) if getattr(given, "json", False) else
          f"{outcome['out']}: {outcome[rows]} {rows}, width {outcome['width']}")


def _datasets(words: list[str]) -> None:
    from sgcl import datasets
    from sgcl.report import print_table
    from sgcl.store import in_memory

    parser = Parser(prog="sgcl datasets", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                     description="List the named datasets; describe and measure one, or a graph of your own.")
    parser.add_argument("dataset", nargs="?", metavar="NAME")
    _add_graph(parser, named=False)
    _add_common(parser)
    given = parser.parse_args(words)
    root, download = getattr(given, "data_root", None), getattr(given, "download", False)
    own = hasattr(given, "graph") or hasattr(given, "collection")
    if own and hasattr(given, "dataset"):
        raise InputError("which graph? give either NAME or --graph EDGES")
    if download and not hasattr(given, "dataset"):
        raise InputError("--download is for one dataset: give its NAME")
    if own:
        measured = datasets.statistics(in_memory(_load(given, _own_files(given, featured=False)), "to measure it"))
        rows = [{"name": getattr(given, "graph", None) or given.collection, **measured}]
    elif hasattr(given, "dataset"):
        rows = [{**datasets.describe(given.dataset), "here": download or datasets.available(given.dataset, root)}]
        if rows[0]["here"]:
            load = datasets.load_collection if rows[0]["task"] == "graph" else datasets.load
            rows[0] |= {"measured": datasets.statistics(load(given.dataset, root, download=download))}
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

    parser = Parser(prog="sgcl methods", allow_abbrev=False, description="List the methods, or describe one.")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("--json", action="store_true", help="one JSON value on standard output")
    given = parser.parse_args(words)
    names = [given.name] if given.name else list(METHODS)
    rows: list[dict[str, Any]] = [
            {"name": name, "level": METHODS[name].level,  # type: ignore[attr-defined]
             "summary": (inspect.getdoc(METHODS[name]) or "").splitlines()[0],
             "settings": settings.encode(settings.defaults(name))} for name in names]
    if given.json:
        print(json.dumps(rows))
    elif given.name:
        print(inspect.getdoc(METHODS[given.name]))
    else:
        print_table("methods", ["name", "embeds", "what"],
                    [[row["name"], f"{row['level']}s", row["summary"]] for row in rows])


def _demo(words: list[str]) -> None:
    from sgcl import demo

    parser = Parser(prog="sgcl demo", allow_abbrev=False,
                     description="Train SGCL with each smoothing on the nearest-neighbour graph of scikit-learn's "
                                 "digits, print one table and leave a run folder. Needs no download.")
    parser.add_argument("--out", metavar="RUN", default="runs/demo", help="the run folder (default runs/demo)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="encoders, and splits, for a row (default 3)")
    parser.add_argument("--epochs", type=int, default=None, metavar="N", help="of each training")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    given = parser.parse_args(words)
    demo.run(given.out, seeds=given.seeds, epochs=given.epochs, as_json=given.json, quiet=given.quiet)


def _add_graph(parser: Any, *, named: bool = True) -> None:
    if named:
        parser.add_argument("--dataset", metavar="NAME", help="a named graph; `sgcl datasets` lists them")
    parser.add_argument("--graph", metavar="EDGES", help="a graph of your own: an edge list (.csv, .tsv, .parquet), "
                        "a .graphml file, a sparse .npz adjacency, or what `sgcl import` or `sgcl partition` made")
    parser.add_argument("--collection", metavar="FOLDER", help="graphs of your own, each to be embedded: a folder with "
                        "an edge list for each, or in the TU format")
    parser.add_argument("--features", metavar="FILE", help="its node features: a table with an id column, an .npy or "
                        ".npz array, or one of degree, walk, spectral, ones to make them from the graph, or learned; "
                        "of a collection, a folder of tables, or degree, walk or ones (what it has, or degree, unless "
                        "given)")
    parser.add_argument("--attributes", action="store_true", default=argparse.SUPPRESS, help="also the continuous node "
                        "attributes of a collection in the TU format")
    parser.add_argument("--labels", metavar="FILE", help="a table with an id and a label column, for `sgcl evaluate`")
    parser.add_argument("--ids", metavar="FILE", help="an .npy file with the ids of the rows of array features")
    parser.add_argument("--source", metavar="COLUMN", help="the column of an edge's one end; source unless given")
    parser.add_argument("--target", metavar="COLUMN", help="the column of the other end; target unless given")
    parser.add_argument("--edge-weight", metavar="COLUMN", help="the column of the edge weights; weight unless given")
    parser.add_argument("--no-edge-weight", dest="edge_weight", action="store_false", help="all edges weigh the same")
    _add_columns(parser)


def _add_columns(parser: Any) -> None:
    parser.add_argument("--id-column", metavar="COLUMN", default=argparse.SUPPRESS,
                        help="the column of the ids in the features and labels; id unless given")
    parser.add_argument("--label-column", metavar="COLUMN", default=argparse.SUPPRESS,
                        help="the column of the labels; label unless given")


def _own_files(given: Any, *, featured: bool = True) -> dict[str, Any] | None:
    """What ``read_graph`` is called with, paths in full; None for a named dataset."""
    from sgcl import datasets
    from sgcl.readers import STRUCTURAL
    from sgcl.store import is_store

    if sum(hasattr(given, name) for name in ("graph", "collection", "dataset")) != 1:
        raise InputError("which graph? give either --dataset NAME (`sgcl datasets` lists them) or --graph EDGES, or "
                         "for many graphs --collection FOLDER")
    if hasattr(given, "dataset"):
        datasets.DATASETS[given.dataset]  # an unknown name is told before anything else
        return None
    if hasattr(given, "collection"):
        featured = False
    elif hasattr(given, "attributes"):
        raise InputError("--attributes is for collections in the TU format: leave it out")
    if featured and not hasattr(given, "features") and not is_store(getattr(given, "graph", None)):
        raise InputError("the graph has no node features: give --features FILE, or one of "
                         f"{', '.join(STRUCTURAL)} to make them from the graph")
    named = _given(given, "features", "labels", "ids", "collection", edges="graph")
    if "collection" in named and "ids" in named:
        raise InputError("--ids is for the rows of one graph: for a collection give features as tables with an id "
                         "column")
    files = {name: str(Path(file).resolve()) if (Path(file).suffix or Path(file).exists()) and file not in STRUCTURAL
             else file for name, file in named.items()}
    return {**files, **_given(given, "source", "target", "id_column", "label_column", "attributes",
                              weight="edge_weight")}


def _fetching(given: Any) -> dict[str, Any]:
    """Where named datasets come from."""
    return {"data_root": getattr(given, "data_root", None), "download": getattr(given, "download", True)}


def _given(given: Any, *names: str, **renamed: str) -> dict[str, Any]:
    """The arguments whose flags were given; those that are called otherwise than their flags come first."""
    return {name: getattr(given, flag) for name, flag in {**renamed, **{name: name for name in names}}.items()
            if hasattr(given, flag)}


def _load(given: Any, files: dict[str, Any] | None) -> Any:
    from sgcl import levels
    from sgcl.store import read_files

    if files is None:
        fetching = _fetching(given)
        return levels.load_dataset(given.dataset, fetching["data_root"], download=fetching["download"],
                                   attributes=getattr(given, "attributes", False))
    data = read_files(files)
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
    parser.add_argument("--download", action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS,
                        help="whether the raw files of a named dataset are fetched where they are not here")
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
