"""``sgcl methods``: what each method does, and its settings."""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any

from sgcl import settings
from sgcl.methods import METHODS
from sgcl.options import Parser
from sgcl.report import About, methods_page, print_table


def command(words: list[str]) -> None:
    """Run the command with these words."""
    parser = Parser(prog="sgcl methods", allow_abbrev=False, description="List the methods, or describe one.")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("--json", action="store_true", help="one JSON value on standard output")
    parser.add_argument("--markdown", action="store_true", help="a page with formulas, settings and departures")
    given = parser.parse_args(words)
    names = [given.name] if given.name else list(METHODS)
    rows: list[dict[str, Any]] = [
        {"name": name, "level": METHODS[name].level,  # type: ignore[attr-defined]
         "summary": (inspect.getdoc(METHODS[name]) or "").splitlines()[0],
         "settings": settings.encode(settings.defaults(name))} for name in names]
    if given.markdown:
        print(methods_page([_about(row) for row in rows]), end="")
    elif given.json:
        print(json.dumps(rows))
    elif given.name:
        print(inspect.getdoc(METHODS[given.name]))
    else:
        print_table("methods", ["name", "embeds", "what"],
                    [[row["name"], f"{row['level']}s", row["summary"]] for row in rows])


def _about(row: dict[str, Any]) -> About:
    kind: Any = METHODS[row["name"]]
    idea, _, paper = (sys.modules[kind.__module__].__doc__ or "").strip().partition("\n\n")
    own = inspect.signature(kind).parameters
    return About(row["name"], f"{row['level']}s", idea.partition(": ")[2] or idea, paper, inspect.getdoc(kind) or "",
                 {name: _told(value) for name, value in row["settings"].items() if name in own})


def _told(value: Any) -> str:
    """A default for people: parts by their names and numbers, which have names where there are several."""
    if isinstance(value, list):
        return ", ".join(map(_told, value)) or "none"
    if isinstance(value, dict):
        numbers = {name: _told(part) for name, part in value.items() if name != "name" and part is not None}
        return " ".join([value["name"], *(numbers.values() if len(numbers) == 1 else
                                          (f"{name} {number}" for name, number in numbers.items()))])
    words = {None: "unset", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return words[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
