"""Command-line flags made from signatures: every hyper-parameter of a method, its training and its parts is a flag."""

from __future__ import annotations

import argparse
import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sgcl import settings
from sgcl.errors import InputError
from sgcl.graph import prepare
from sgcl.methods import METHODS
from sgcl.registry import Registry
from sgcl.samplers import SAMPLERS, Sampler
from sgcl.smoothing import SMOOTHINGS, Smoothing
from sgcl.trainer import train
from sgcl.views import VIEWS, View

_PARTS: dict[str, tuple[Registry, str]] = {"smoothing": (SMOOTHINGS, "who counts as a positive"),
                                           "sampler": (SAMPLERS, "how batches are drawn")}


def add_options(parser: argparse.ArgumentParser, method: str) -> None:
    """A flag for every setting. What is not given is absent from the parsed namespace."""
    groups = {"graph": parser.add_argument_group("graph"), "method": parser.add_argument_group(f"method {method}"),
              "train": parser.add_argument_group("training")}
    constructor: Any = METHODS[method]
    hints = {name: (hint, group) for group, function in (("method", constructor.__init__), ("train", train),
                                                               ("graph", prepare))
             for name, hint in get_type_hints(function).items()}
    for name, default in settings.defaults(method).items():
        hint, group = hints[name]
        if not _is_part(hint):
            _add(groups[group], f"--{_dashed(name)}", hint, default, dest=name)
    if any(hint is View for hint, _ in hints.values()):
        _add_views(parser)
    for name, (registry, what) in _PARTS.items():
        if name in settings.defaults(method):
            _add_part(parser, name, registry, what, settings.defaults(method)[name])


def collect(given: argparse.Namespace, base: Mapping[str, Any], method: str) -> dict[str, Any]:
    """``base`` (JSON settings) with the given flags over it, as JSON settings."""
    chosen = dict(base)
    default = settings.encode(settings.defaults(method))
    for name in default:
        if name in _PARTS:
            chosen[name] = _collect_part(given, name, chosen.get(name, default[name]))
        elif name in ("view1", "view2"):
            chosen[name] = _collect_view(given, int(name[-1]) - 1, chosen.get(name, default[name]))
        elif hasattr(given, name):
            chosen[name] = getattr(given, name)
    return chosen


def _add(group: Any, flag: str, hint: Any, default: Any, *, dest: str) -> None:
    text = "" if default is None else f"default {default}"
    if hint is bool:
        group.add_argument(flag, dest=dest, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text)
    elif get_origin(hint) is Literal:
        group.add_argument(flag, dest=dest, choices=get_args(hint), default=argparse.SUPPRESS, help=text)
    elif (kind := _number_or_word(hint)) is not None:
        group.add_argument(flag, dest=dest, type=kind, metavar=kind.__name__.upper(), default=argparse.SUPPRESS,
                           help=text)


def _add_part(parser: argparse.ArgumentParser, name: str, registry: Registry, what: str, default: Any) -> None:
    group = parser.add_argument_group(name)
    group.add_argument(f"--{name}", metavar="NAME", default=argparse.SUPPRESS,
                       help=f"{what}: {', '.join(registry)}; default {registry.name_of(default)}")
    for part in registry:
        hints = get_type_hints(registry[part])
        for field in dataclasses.fields(registry[part]):
            _add(group, f"--{part}-{_dashed(field.name)}", hints[field.name], field.default,
                 dest=f"{name}.{part}.{field.name}")


def _add_views(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("views", "one number for both views, or one for each; 0 leaves it out")
    for name in VIEWS:
        field = _rate(name)
        group.add_argument(f"--{name}", dest=f"view.{name}", type=float, nargs="+", default=argparse.SUPPRESS,
                           metavar=field.upper(), help=(VIEWS[name].__doc__ or "").splitlines()[0])


def _collect_part(given: argparse.Namespace, name: str, base: Mapping[str, Any] | str) -> dict[str, Any]:
    registry = _PARTS[name][0]
    spec = {"name": base} if isinstance(base, str) else dict(base)
    wanted = getattr(given, name, spec["name"])
    if wanted != spec["name"]:
        spec = {"name": wanted}
    part = registry[wanted]
    for key, value in vars(given).items():
        if key.startswith(f"{name}."):
            _, owner, field = key.split(".")
            if owner != wanted:
                raise InputError(f"--{owner}-{_dashed(field)} does nothing: the {name} is {wanted!r}; "
                                 f"add --{name} {owner}")
            spec[field] = value
    for key in spec:
        if key != "name" and key not in {field.name for field in dataclasses.fields(part)}:
            raise InputError(f"{name} {wanted!r} has no setting {key!r}")
    return spec


def _collect_view(given: argparse.Namespace, number: int, base: list[dict[str, Any]]) -> list[dict[str, Any]]:
    steps = [dict(step) for step in base]
    for name in VIEWS:
        rates = getattr(given, f"view.{name}", None)
        if rates is None:
            continue
        if len(rates) > 2:
            raise InputError(f"--{name} takes one number for both views or two, got {len(rates)}")
        rate = rates[min(number, len(rates) - 1)]
        position = next((i for i, step in enumerate(steps) if step["name"] == name), len(steps))
        steps[position:position + 1] = [] if rate == 0 else [{"name": name, _rate(name): rate}]
    return steps


def _rate(view: str) -> str:
    return dataclasses.fields(VIEWS[view])[0].name


def _is_part(hint: Any) -> bool:
    return hint in (Smoothing, Sampler, View)


def _number_or_word(hint: Any) -> type | None:
    """int, float or str for that type or that type or None; None for what a flag cannot hold."""
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        hint = kinds[0] if len(kinds) == 1 else None
    return hint if hint in (int, float, str) else None


def _dashed(name: str) -> str:
    return name.replace("_", "-")
