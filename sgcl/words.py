"""Settings back to words: the command line that a training can be repeated with."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from typing import Any

from sgcl import options, recipes, settings
from sgcl.errors import InputError
from sgcl.samplers import SAMPLERS
from sgcl.smoothing import SMOOTHINGS
from sgcl.views import VIEWS

_PARTS = {"smoothing": SMOOTHINGS, "sampler": SAMPLERS}
_VIEWS = ("view1", "view2")
_FILES = {"edges": "graph", "weight": "edge_weight"}  # of read_graph; the others have a flag of their own name


def train_command(method: str, chosen: Mapping[str, Any], *, dataset: str, files: Mapping[str, Any] | None = None,
                  attributes: bool = False, protocol: str | None = None, data_root: str | None = None) -> str | None:
    """``sgcl train ...`` for these settings (JSON form) and this graph; ``None`` where no flags can say it."""
    given = flags(method, chosen)
    if given is None:
        return None
    words = ["sgcl", "train", method]
    if files is None:
        words += ["--dataset", dataset, *(["--attributes"] if attributes else [])]
        if recipes.recipe(method, dataset, (chosen.get("smoothing") or {}).get("name")):
            words.append("--no-recipe")  # all that it says is said here
    else:
        words += [word for name, value in files.items() for word in _flag(_FILES.get(name, name), value)]
    words += [] if protocol is None else ["--protocol", protocol]
    words += [] if data_root is None else ["--data-root", data_root]
    return shlex.join([*words, *given])


def flags(method: str, chosen: Mapping[str, Any]) -> list[str] | None:
    """The words that give these settings (JSON form) over the method's defaults; ``None`` where none do, such as views
    in another order.

    >>> flags("sgcl", {"lr": 0.01, "smoothing": {"name": "taubin", "mu": -0.5}, "shared": False})
    ['--no-shared', '--lr', '0.01', '--taubin-mu', '-0.5']
    """
    default = settings.encode(settings.defaults(method))
    wanted = settings.encode(settings.resolve(method, chosen))
    words, names = [], [name for name in wanted if wanted[name] != default[name]]
    for name in names:
        if name not in _PARTS and name not in _VIEWS:
            words += _flag(name, wanted[name])
    if any(name in _VIEWS for name in names):
        words += _view_flags(wanted, default)
    for name in _PARTS:
        if name in names and wanted[name] is not None:
            words += _part_flags(name, wanted[name], default[name])
    return words if _says(words, method, wanted) else None


def _flag(name: str, value: Any) -> list[str]:
    dashed = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{dashed}" if value else f"--no-{dashed}"]
    return [] if value is None else [f"--{dashed}", str(value)]


def _view_flags(wanted: Mapping[str, Any], default: Mapping[str, Any]) -> list[str]:
    words = []
    for name in VIEWS:
        rates, usual = ([_rate(name, chosen.get(view) or []) for view in _VIEWS] for chosen in (wanted, default))
        words += [] if rates == usual else [f"--{name}", *map(str, rates)]
    return words


def _rate(name: str, steps: list[dict[str, Any]]) -> float:
    key = dataclasses.fields(VIEWS[name])[0].name
    return next((step[key] for step in steps if step["name"] == name), 0)


def _part_flags(kind: str, spec: dict[str, Any], default: dict[str, Any] | None) -> list[str]:
    name, same = spec["name"], default is not None and default["name"] == spec["name"]
    usual = default if same and default else _PARTS[kind].describe(_PARTS[kind].build(name))
    words = [] if same else [f"--{kind}", name]
    for key, value in spec.items():
        words += [] if value == usual[key] else _flag(f"{name}-{key}", value)
    return words


def _says(words: list[str], method: str, wanted: Mapping[str, Any]) -> bool:
    parser = options.Parser(allow_abbrev=False)
    options.add_options(parser, method)
    try:
        found = options.collect(parser.parse_args(words), {}, method)
        return settings.encode(settings.resolve(method, found)) == wanted
    except InputError:
        return False
