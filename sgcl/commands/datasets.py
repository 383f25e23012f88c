"""``sgcl datasets``: what can be trained on, described and measured."""

from __future__ import annotations

import argparse
import json
from typing import Any

from sgcl import datasets
from sgcl.commands import arguments
from sgcl.errors import InputError
from sgcl.options import Parser
from sgcl.report import print_table
from sgcl.store import in_memory


def command(words: list[str]) -> None:
    """Run the command with these words."""
    parser = Parser(prog="sgcl datasets", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                    description="List the named datasets; describe and measure one, or a graph of your own.")
    parser.add_argument("dataset", nargs="?", metavar="NAME")
    arguments.add_graph(parser, named=False)
    arguments.add_common(parser)
    given = parser.parse_args(words)
    root, download = getattr(given, "data_root", None), getattr(given, "download", False)
    own = hasattr(given, "graph") or hasattr(given, "collection")
    if own and hasattr(given, "dataset"):
        raise InputError("which graph? give either NAME or --graph EDGES")
    if download and not hasattr(given, "dataset"):
        raise InputError("--download is for one dataset: give its NAME")
    if own:
        data = arguments.load(given, arguments.own_files(given, featured=False))
        rows = [{"name": getattr(given, "graph", None) or given.collection,
                 **datasets.statistics(in_memory(data, "to measure it"))}]
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


def _shown(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)
