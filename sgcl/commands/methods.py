"""``sgcl methods``: what each method does, and its settings."""

from __future__ import annotations

import inspect
import json
from typing import Any

from sgcl import settings
from sgcl.methods import METHODS
from sgcl.options import Parser
from sgcl.report import print_table


def command(words: list[str]) -> None:
    """Run the command with these words."""
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
