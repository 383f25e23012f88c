"""``sgcl embed``: a run and another graph to embeddings."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sgcl import embeddings, levels, runs, workflow
from sgcl.commands import arguments
from sgcl.estimator import Estimator
from sgcl.options import Parser


def command(words: list[str]) -> None:
    """Run the command with these words."""
    parser = Parser(prog="sgcl embed", allow_abbrev=False, argument_default=argparse.SUPPRESS,
                    description="Embed the nodes of a graph with a trained run: nodes it has not seen, or a new graph "
                                "with the same features; or the graphs of a collection, with a run on one. Writes "
                                "them under their ids.")
    parser.add_argument("run", metavar="RUN")
    arguments.add_graph(parser)
    parser.add_argument("--out", metavar="FILE", required=True, help="a .parquet, .csv or .npy file")
    parser.add_argument("--device", metavar="NAME", help="where to work; where the run was trained unless given")
    parser.add_argument("--memory", metavar="SIZE", help="what to take at most beside the graph and the weights, e.g. "
                        "2GB: it works in blocks then, with temporary files beside FILE")
    arguments.add_common(parser)
    given = parser.parse_args(words)
    files, device = arguments.own_files(given), getattr(given, "device", None)
    memory = embeddings.memory_bytes(getattr(given, "memory", None))
    embeddings.check_file(Path(given.out))
    Estimator.load(given.run, device=device)  # what is wrong with the run is told before the graph is read
    config = runs.read_config(Path(given.run))
    levels.check_level(config["method"], getattr(given, "dataset", None), files)
    files = levels.same_features(config, files) if files else None
    if files is None and config.get("attributes"):
        given.attributes = True
    outcome = workflow.embed(given.run, arguments.load(given, files), given.out, device, memory,
                             quiet=getattr(given, "quiet", False))
    rows = "graphs" if "graphs" in outcome else "nodes"
    print(json.dumps(outcome) if getattr(given, "json", False) else
          f"{outcome['out']}: {outcome[rows]} {rows}, width {outcome['width']}")
