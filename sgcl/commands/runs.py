"""``sgcl runs``: the runs there are."""

from __future__ import annotations

import json

from sgcl import summary
from sgcl.options import Parser
from sgcl.report import print_runs


def command(words: list[str]) -> None:
    """Run the command with these words."""
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
