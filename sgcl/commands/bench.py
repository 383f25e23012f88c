"""``sgcl bench``: run the tables and figures of the paper, and render what has been run."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sgcl import datasets
from sgcl.bench.bench import Bench
from sgcl.bench.catalogue import BENCHES, named, pages, read_lines, rendered
from sgcl.bench.cells import Cell
from sgcl.bench.lines import Lines
from sgcl.bench.measures import BLOCKS
from sgcl.bench.runner import jobs_of, run
from sgcl.errors import InputError
from sgcl.files import whole
from sgcl.options import Parser
from sgcl.report import print_table


def command(words: list[str]) -> None:
    """Run the command with these words."""
    if words and words[0] == "render":
        return _render(words[1:])
    parser = Parser(prog="sgcl bench", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                    usage="sgcl bench NAME ...|all|list [flag ...]\n       sgcl bench render [--results FOLDER] [--out "
                          "FOLDER]",
                    description="Run the tables and figures of the paper cell by cell, each cell once: a line of JSON "
                                "with its settings,\nseed, protocol, times and versions. The same command goes on "
                                "where it was when it was stopped.",
                    epilog="\n".join(["benchmarks:", *(f"  {one.name:<18}{one.title}" for one in BENCHES.values())]) +
                           "\n\nexample: sgcl bench node-small --datasets cora --methods SGCL-T GRACE --seeds 3")
    parser.add_argument("names", nargs="+", metavar="NAME", help="benchmarks, 'all', or 'list' to see what there is")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="those of the table unless given; others of the "
                        "catalogue are taken too")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="rows, or methods with all their rows")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N-1; as many as the table has unless given")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="begin nothing that would take longer than "
                        "what is left of it")
    parser.add_argument("--jobs", type=int, metavar="N", help="trainings at once, one thread each; as many as cores "
                        "unless given")
    parser.add_argument("--epochs", type=int, metavar="N", help="shorten every training, for a trial; its lines say so "
                        "and are on no page")
    parser.add_argument("--dry-run", action="store_true", help="list the cells that would be run, and run nothing")
    _add_results(parser)
    parser.add_argument("--data-root", metavar="DIR", help="where raw dataset files lie; the environment variable "
                        "SGCL_DATA unless given")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="tell failures alone")
    given = parser.parse_args(words)
    for name in ("seeds", "jobs", "epochs", "budget"):
        if getattr(given, name) is not None and getattr(given, name) <= 0:
            raise InputError(f"--{name} is {getattr(given, name)}, expected more than 0")
    if given.data_root is not None:
        os.environ["SGCL_DATA"] = given.data_root  # children inherit it
    lines = read_lines(given.results)
    if "list" in given.names:
        return _list(lines, given.json)
    benches = _chosen(given)
    if given.dry_run:
        return _dry_run(benches, lines, given)
    told = set[str]()
    outcome = run(lambda lines: _cells(benches, lines, given, told), lines, jobs=given.jobs,
                  budget=None if given.budget is None else 60 * given.budget, quiet=given.quiet)
    if given.json:
        print(json.dumps(vars(outcome)))
        return
    print(f"{' '.join(given.names)}: {outcome.asked} cells, {outcome.known} known before, {outcome.done} measured"
          + (f", {outcome.failed} failed" if outcome.failed else ""))
    if outcome.left:
        print(f"{outcome.left} cells were not begun, for they would not fit the budget: the same command goes on")
    print("next: sgcl bench render" + ("" if given.results == Path("results") else
                                       f" --results {shlex.quote(str(given.results))}"))


def _render(words: list[str]) -> None:
    parser = Parser(prog="sgcl bench render", allow_abbrev=False,
                    description="Make the pages of results from the lines: Markdown, and one HTML page that is read "
                                "offline.")
    _add_results(parser)
    parser.add_argument("--out", type=Path, default=Path("docs/results"), metavar="FOLDER",
                        help="where the pages go (default docs/results)")
    given = parser.parse_args(words)
    made = pages(read_lines(given.results))
    given.out.mkdir(parents=True, exist_ok=True)
    for name, text in rendered(made).items():
        with whole(given.out / name) as part:
            part.write_text(text, encoding="utf-8")
    print(f"{given.out}: {len(made)} pages")


def _add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER", help="where the lines are, "
                        "a folder or a single .jsonl file (default results)")


def _chosen(given: Any) -> list[Bench]:
    """The benchmarks that are asked for; of all of them, those that have such rows and datasets."""
    benches = named(given.names)
    for name in given.datasets or ():
        if not name.startswith(BLOCKS):
            datasets.DATASETS[name]  # an unknown name is told before anything else
    fitting, why = [], None
    for bench in benches:
        try:
            bench.check_datasets(given.datasets or ())
            bench.chosen_rows(given.methods)
        except InputError as error:
            why = error
        else:
            fitting.append(bench)
    if why is not None and (not fitting or "all" not in given.names):
        raise why
    return fitting


def _cells(benches: Sequence[Bench], lines: Lines, given: Any, told: set[str]) -> Iterator[tuple[str, Cell]]:
    """The cells whose data is here, with their files; of a dataset that is not, one line says so."""
    missing: Counter[str] = Counter()
    for bench in benches:
        for cell in bench.cells(lines, names=given.datasets, methods=given.methods, seeds=given.seeds):
            if cell.dataset in missing or not _is_here(cell.dataset):
                missing[cell.dataset] += 1
                if not given.dry_run:
                    lines.note_absent(cell.dataset)
            else:
                yield bench.lines_file, cell if given.epochs is None else cell.shorten(given.epochs)
    for dataset in sorted(missing.keys() - told):
        told.add(dataset)
        print(f"{dataset}: its data is not on this machine, {missing[dataset]} cells left out; sgcl datasets {dataset} "
              "--download fetches it", file=sys.stderr)


def _is_here(dataset: str) -> bool:
    return dataset.startswith(BLOCKS) or datasets.available(dataset)


def _list(lines: Lines, as_json: bool) -> None:
    rows: list[dict[str, Any]] = []
    for bench in BENCHES.values():
        cells = {cell.key: cell for cell in bench.cells(lines)}
        rows.append({"name": bench.name, "title": bench.title, "cells": len(cells),
                     "run": sum(lines.get(cell) is not None for cell in cells.values())})
    if as_json:
        print(json.dumps(rows))
    else:
        print_table("benchmarks", ["name", "what", "cells", "run"],
                    [[row["name"], row["title"], str(row["cells"]), str(row["run"])] for row in rows])


def _dry_run(benches: Sequence[Bench], lines: Lines, given: Any) -> None:
    wanted: dict[Any, Cell] = {}
    for _, cell in _cells(benches, lines, given, set()):
        wanted.setdefault(cell.key, cell)
    jobs = jobs_of([cell for cell in wanted.values() if lines.get(cell) is None], lines)
    if given.json:
        print(json.dumps([{"cells": [str(cell) for cell in job.cells], "seconds": round(job.seconds, 1)}
                          for job in jobs]))
        return
    for job in jobs:
        for cell in job.cells:
            print(cell)
    print(f"{sum(len(job.cells) for job in jobs)} of {len(wanted)} cells in {len(jobs)} trainings, perhaps "
          f"{sum(job.seconds for job in jobs) / 60:.0f} minutes of one core")
