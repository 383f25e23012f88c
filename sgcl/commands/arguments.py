"""Flags that several commands have, and what they come to: the graph, the method and its settings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from sgcl import datasets, options, recipes, settings
from sgcl.errors import InputError
from sgcl.options import Parser
from sgcl.readers import STRUCTURAL
from sgcl.store import is_store, read_files


def add_graph(parser: Any, *, named: bool = True) -> None:
    """Flags that say which graph, and where its parts are."""
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
    add_columns(parser)


def add_columns(parser: Any) -> None:
    """Flags for what the columns of tables are called."""
    parser.add_argument("--id-column", metavar="COLUMN", default=argparse.SUPPRESS,
                        help="the column of the ids in the features and labels; id unless given")
    parser.add_argument("--label-column", metavar="COLUMN", default=argparse.SUPPRESS,
                        help="the column of the labels; label unless given")


def add_common(parser: Any) -> None:
    """Flags of whatever reads datasets and gives results."""
    parser.add_argument("--data-root", metavar="DIR", default=argparse.SUPPRESS,
                        help="where raw dataset files lie; the environment variable SGCL_DATA unless given")
    parser.add_argument("--download", action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS,
                        help="whether the raw files of a named dataset are fetched where they are not here")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS,
                        help="one JSON value on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", default=argparse.SUPPRESS, help="no progress")


def add_limits(parser: Any) -> None:
    """Flags of whatever trains."""
    parser.add_argument("--memory-limit", metavar="SIZE", help="refuse what would take more in all, e.g. 4GB; what "
                        "memory is free unless given")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line an epoch, and notes")


def own_files(given: Any, *, featured: bool = True) -> dict[str, Any] | None:
    """What ``read_graph`` is called with, paths in full; None for a named dataset."""
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
    named = only_given(given, "features", "labels", "ids", "collection", edges="graph")
    if "collection" in named and "ids" in named:
        raise InputError("--ids is for the rows of one graph: for a collection give features as tables with an id "
                         "column")
    files = {name: str(Path(file).resolve()) if (Path(file).suffix or Path(file).exists()) and file not in STRUCTURAL
             else file for name, file in named.items()}
    return {**files, **only_given(given, "source", "target", "id_column", "label_column", "attributes",
                                  weight="edge_weight")}


def dataset_name(given: Any, files: dict[str, Any] | None) -> str:
    """What a run calls the graph: the dataset's name, or that of the file or folder."""
    return str(given.dataset) if files is None else Path(files.get("collection") or files["edges"]).name.split(".")[0]


def load(given: Any, files: dict[str, Any] | None) -> Any:
    """The graph that the flags name."""
    from sgcl import levels  # takes a second, and `sgcl datasets` comes here for a graph of one's own alone

    if files is None:
        where = fetching(given)
        return levels.load_dataset(given.dataset, where["data_root"], download=where["download"],
                                   attributes=getattr(given, "attributes", False))
    data = read_files(files)
    for note in data.notes:
        print(f"sgcl: note: {note}", file=sys.stderr)
    return data


def fetching(given: Any) -> dict[str, Any]:
    """Where named datasets come from."""
    return {"data_root": getattr(given, "data_root", None), "download": getattr(given, "download", True)}


def method_of(words: list[str]) -> str:
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


def settings_of(given: Any, files: dict[str, Any] | None, method: str) -> dict[str, Any]:
    """The settings in JSON form: the flags over the recipe of a named dataset, if it has one. With other epochs than
    the recipe's, what it begins in one of them moves along."""
    base = {}
    if files is None and getattr(given, "recipe", True):
        wanted = getattr(given, "smoothing", None)
        base = recipes.recipe(method, given.dataset, wanted or settings.encode(settings.defaults(method)).get(
            "smoothing", {}).get("name"))
    if base and isinstance(getattr(given, "epochs", None), int):
        base = settings.with_epochs(method, base, given.epochs)
    return options.collect(given, base, method)


def only_given(given: Any, *names: str, **renamed: str) -> dict[str, Any]:
    """The arguments whose flags were given; those that are called otherwise than their flags come first."""
    return {name: getattr(given, flag) for name, flag in {**renamed, **{name: name for name in names}}.items()
            if hasattr(given, flag)}


def set_threads(threads: int | None) -> None:
    """Let torch use so many threads; as it is where none are given."""
    if threads is None:
        return
    if threads < 1:
        raise InputError(f"--threads is {threads}, expected at least 1")
    torch.set_num_threads(threads)
