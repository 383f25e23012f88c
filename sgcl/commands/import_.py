"""``sgcl import``: files of any size to a graph store, or a store checked."""

from __future__ import annotations

import argparse
import json
from typing import Any

from sgcl import store
from sgcl.errors import InputError
from sgcl.options import Parser
from sgcl.progress import Shares


def command(words: list[str]) -> None:
    """Run the command with these words."""
    given = _parser().parse_args(words)
    if hasattr(given, "verify"):
        if given.edges:
            raise InputError("--verify reads a store that is there: leave out the edges")
        _print(given, given.verify, store.verify(given.verify), "is whole: every checksum holds, ")
        return
    if not given.edges or not hasattr(given, "out"):
        raise InputError("give the edges and where to put the store: sgcl import EDGES --features FILE --out STORE")
    named = {name: value for name, value in vars(given).items() if name not in ("edges", "out", "json", "quiet")}
    with Shares("import", quiet=getattr(given, "quiet", False)) as bar:
        manifest = store.import_graph(given.edges, given.out, **named, tell=bar)
    _print(given, given.out, manifest, "")


def _parser() -> Parser:
    parser = Parser(prog="sgcl import", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                    usage="sgcl import EDGES [EDGES ...] --features FILE --out STORE [flag ...]",
                    description="Bring a graph of any size into a folder of memory-mapped arrays, which --graph takes. "
                                "The same nodes and edges as --graph would make of the files, in bounded memory.")
    parser.add_argument("edges", nargs="*", default=[], metavar="EDGES", help="edge lists (.csv, .tsv, .parquet), all "
                        "parts of one graph; or a raw folder of OGB's, which has its features and labels")
    parser.add_argument("--out", metavar="STORE", help="the store, a new folder; temporary files lie beside it")
    parser.add_argument("--features", metavar="FILE", help="node features: a table with an id column or an .npy or "
                        ".npz array; or degree or ones, to make them from the graph")
    parser.add_argument("--labels", metavar="FILE", help="a table with an id and a label column")
    parser.add_argument("--ids", metavar="FILE", help="an .npy file with the ids of the rows of array features")
    parser.add_argument("--memory", metavar="SIZE", help="what to take at most, e.g. 4GB; default 2GB")
    parser.add_argument("--feature-dtype", choices=("float32", "float16"), help="how features are kept; float16 takes "
                        "half the room, and batches are float32 all the same (default float32)")
    parser.add_argument("--source", metavar="COLUMN", help="the column of an edge's one end; source unless given")
    parser.add_argument("--target", metavar="COLUMN", help="the column of the other end; target unless given")
    parser.add_argument("--edge-weight", dest="weight", metavar="COLUMN", help="the column of the edge weights; weight "
                        "unless given")
    parser.add_argument("--no-edge-weight", dest="weight", action="store_false", help="all edges weigh the same")
    parser.add_argument("--id-column", metavar="COLUMN", help="the column of the ids in features and labels; id unless "
                        "given")
    parser.add_argument("--label-column", metavar="COLUMN", help="the column of the labels; label unless given")
    parser.add_argument("--verify", metavar="STORE", help="import nothing: read a store and compare its checksums")
    parser.add_argument("--json", action="store_true", help="the manifest on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    return parser


def _print(given: Any, path: str, manifest: dict[str, Any], verdict: str) -> None:
    if getattr(given, "json", False):
        print(json.dumps(manifest))
        return
    size = sum(record["bytes"] for record in manifest["arrays"].values())
    print(f"{path}: {verdict}{manifest['nodes']:,} nodes, {manifest['edges']:,} edges, {manifest['features']} "
          f"features, {size / 2**20:,.1f} MB")
    for note in manifest["notes"]:
        print(f"note: {note}")
