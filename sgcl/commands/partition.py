"""``sgcl partition``: a graph store cut into parts, for machines that have one of them each."""

from __future__ import annotations

import argparse
import json
from typing import get_args

from sgcl import store
from sgcl.options import Parser
from sgcl.partition import How
from sgcl.progress import Shares


def command(words: list[str]) -> None:
    """Run the command with these words."""
    given = _parser().parse_args(words)
    chosen = {name: getattr(given, name) for name in ("how", "memory") if hasattr(given, name)}
    with Shares("partition", quiet=getattr(given, "quiet", False)) as bar:
        made = store.cut_store(given.store, given.out, given.parts, **chosen, tell=bar)
    if getattr(given, "json", False):
        print(json.dumps(made))
        return
    print(f"{given.out}: {made['nodes']:,} nodes in {given.parts} parts by {made['how']}, the largest "
          f"{made['balance']:.2f} times the mean; {made['cut']:.1%} of the edges lie between parts and are dropped")


def _parser() -> Parser:
    parser = Parser(prog="sgcl partition", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                    usage="sgcl partition STORE --parts N --out FOLDER [flag ...]",
                    description="Cut a graph store into parts with few edges between them, each a store of its own: "
                                "FOLDER/part-0.store and so on. `sgcl train --graph FOLDER` draws its batches from the "
                                "parts in turn; a machine needs FOLDER/manifest.json and the parts of its own ranks. "
                                "Edges between parts are dropped.")
    parser.add_argument("store", metavar="STORE", help="what `sgcl import` made")
    parser.add_argument("--parts", type=int, metavar="N", required=True, help="how many")
    parser.add_argument("--out", metavar="FOLDER", required=True, help="a new folder")
    parser.add_argument("--how", choices=get_args(How), help="metis cuts few edges and takes ten times the memory of "
                        "the edges; streaming reads them a few times; auto (default) takes METIS where it is installed "
                        "and fits")
    parser.add_argument("--memory", metavar="SIZE", help="what to take at most, e.g. 4GB; default 2GB")
    parser.add_argument("--json", action="store_true", help="the manifest on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    return parser
