"""``sgcl show``: one run summed up."""

from __future__ import annotations

import json

from sgcl import summary
from sgcl.options import Parser
from sgcl.report import print_run


def command(words: list[str]) -> None:
    """Run the command with these words."""
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
