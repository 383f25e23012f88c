"""Command-line flags made from signatures: every hyper-parameter of a method, its training and its parts is a flag."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from sgcl import settings
from sgcl.errors import InputError
from sgcl.graph import prepare
from sgcl.registry import Registry
from sgcl.samplers import SAMPLERS
from sgcl.settings import without_none
from sgcl.smoothing import SMOOTHINGS
from sgcl.trainer import train
from sgcl.views import VIEWS

_PARTS: dict[str, tuple[Registry, str]] = {"smoothing": (SMOOTHINGS, "who counts as a positive"),
                                           "sampler": (SAMPLERS, "how batches are drawn")}
_VIEWS = ("view1", "view2")
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and name the nearest flag."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._negative_number_matcher = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$", re.IGNORECASE)  # -1e-3 too

    def error(self, message: str) -> NoReturn:
        raise InputError(message)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flags, word = [flag for action in self._actions for flag in action.option_strings], unknown[0].split("=")[0]
            self.error(f"no argument {word!r}: {self.prog} makes no views" if word.removeprefix("--") in VIEWS else
                       no_such("argument", word, flags))
        return given


def no_such(kind: str, word: str, known: Iterable[str]) -> str:
    """What to say of a word that is not known: the nearest that is."""
    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f"no {kind} {word!r}; " + (f"did you mean {nearest[0]!r}?" if nearest else "see --help")


def add_options(parser: argparse.ArgumentParser, method: str) -> None:
    """A flag for every setting. What is not given is absent from the parsed namespace."""
    known = settings.known(method)
    titles: dict[Any, str] = {train: "training", prepare: "features"}
    groups: dict[Any, Any] = {}
    for name, setting in known.items():
        if setting.owner not in groups:
            groups[setting.owner] = parser.add_argument_group(titles.get(setting.owner, f"method {method}"))
        if name not in _PARTS and name not in _VIEWS:
            _add(groups[setting.owner], f"--{_dashed(name)}", setting.hint, setting.default, dest=name,
                 about=_about(setting.owner).get(name, ""))
    if any(name in known for name in _VIEWS):
        _add_views(parser)
    for name in _PARTS:
        if name in known:
            _add_part(parser, name, known[name].default)


def collect(given: argparse.Namespace, base: Mapping[str, Any], method: str) -> dict[str, Any]:
    """``base`` (JSON settings) with the given flags over it, as JSON settings."""
    chosen = dict(base)
    default = settings.encode(settings.defaults(method))
    for name in default:
        if name in _PARTS:
            chosen[name] = _collect_part(given, name, chosen.get(name, default[name]))
        elif name in _VIEWS:
            chosen[name] = _collect_view(given, _VIEWS.index(name), chosen.get(name, default[name]))
        elif hasattr(given, name):
            chosen[name] = getattr(given, name)
    return chosen


def given_by_name(values: Mapping[str, str], method: str) -> argparse.Namespace:
    """What the command line would give for these flags, by their names without dashes in front.

    >>> given_by_name({"hidden_channels": "64", "drop-edges": "0.3 0.5", "shared": "no"}, "sgcl")
    Namespace(hidden_channels=64, shared=False, **{'view.drop-edges': [0.3, 0.5]})
    """
    parser = Parser(allow_abbrev=False, add_help=False, argument_default=argparse.SUPPRESS)
    add_options(parser, method)
    actions = {flag.removeprefix("--"): action for action in parser._actions for flag in action.option_strings
               if not flag.startswith("--no-")}
    words = []
    for name, value in values.items():
        action = actions.get(_dashed(name))
        if action is None:
            raise InputError(no_such(f"setting of {method}", _dashed(name), actions))
        if isinstance(action, argparse.BooleanOptionalAction):
            if value.lower() not in _BOOLEANS:
                raise InputError(f"{name} is {value!r}, expected one of {', '.join(_BOOLEANS)}")
            words.append(action.option_strings[0 if _BOOLEANS[value.lower()] else 1])
        elif isinstance(action.nargs, str):  # several numbers
            words += [action.option_strings[0], *value.split()]
        else:
            words.append(f"{action.option_strings[0]}={value}")
    given: argparse.Namespace = parser.parse_args(words)
    return given


def _add(group: Any, flag: str, hint: Any, default: Any, *, dest: str, about: str) -> None:
    kind = without_none(hint)
    known = "" if default is None or default is dataclasses.MISSING else f"default {default}"
    more: dict[str, Any] = {"dest": dest, "default": argparse.SUPPRESS, "help": _joined(about, known)}
    if kind is bool:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, **more)
    elif get_origin(kind) is Literal:
        group.add_argument(flag, choices=get_args(kind), **more)
    elif kind in (int, float, str):
        group.add_argument(flag, type=kind, metavar=kind.__name__.upper(), **more)


def _add_part(parser: argparse.ArgumentParser, name: str, default: Any) -> None:
    registry, what = _PARTS[name]
    group = parser.add_argument_group(name)
    known = "" if default is None else f"default {registry.name_of(default)}"
    group.add_argument(f"--{name}", metavar="NAME", default=argparse.SUPPRESS,
                       help=_joined(f"{what}: {', '.join(registry)}", known))
    for part in registry:
        hints, about = get_type_hints(registry[part]), dict[str, str]()
        for kind in reversed(registry[part].__mro__):  # fields of a base are described there
            about |= _about(kind)
        for field in dataclasses.fields(registry[part]):
            _add(group, f"--{part}-{_dashed(field.name)}", hints[field.name], field.default,
                 dest=f"{name}.{part}.{field.name}", about=about.get(field.name, ""))


def _add_views(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("views", "one number for both views, or one for each; 0 leaves it out")
    for name in VIEWS:
        summary = (inspect.getdoc(VIEWS[name]) or "").split("\n")[0]
        group.add_argument(f"--{name}", dest=f"view.{name}", type=float, nargs="+", default=argparse.SUPPRESS,
                           metavar=_rate(name).upper(), help=_joined(summary))


def _collect_part(given: argparse.Namespace, name: str, base: Any) -> Any:
    """The part of that kind as JSON: the one of ``base``, or another by its name, with its flags over it."""
    registry = _PARTS[name][0]
    spec = {"name": base} if isinstance(base, str) else dict(base or {})
    wanted = getattr(given, name, spec.get("name"))
    if wanted != spec.get("name"):
        spec = {"name": wanted}
    for key, value in vars(given).items():
        if key.startswith(f"{name}."):
            _, owner, field = key.split(".")
            if owner != wanted:
                raise InputError(f"--{owner}-{_dashed(field)} does nothing: the {name} is {wanted!r}; "
                                 f"add --{name} {owner}")
            spec[field] = value
    return registry.describe(registry.build(spec)) if spec else None


def _collect_view(given: argparse.Namespace, number: int, base: Any) -> list[dict[str, Any]]:
    """View ``number`` (0 or 1) as JSON: the steps of ``base``; those that have a flag changed, added or left out."""
    steps: list[dict[str, Any]] = settings.encode(settings.decode({_VIEWS[number]: base}))[_VIEWS[number]]
    for name in VIEWS:
        rates = getattr(given, f"view.{name}", None)
        if rates is None:
            continue
        if len(rates) > len(_VIEWS):
            raise InputError(f"--{name} takes one number for both views or two, got {len(rates)}")
        rate = rates[min(number, len(rates) - 1)]
        position = next((i for i, step in enumerate(steps) if step["name"] == name), len(steps))
        step = {"name": name, **dict(*steps[position:position + 1]), _rate(name): rate}
        steps[position:position + 1] = [] if rate == 0 else [step]
    return steps


def _rate(view: str) -> str:
    return dataclasses.fields(VIEWS[view])[0].name


def _about(owner: Any) -> dict[str, str]:
    """What the "Args" of a docstring say of each name, the first sentence of it, on one line."""
    text = re.split(r"^Args:\n", inspect.getdoc(owner) or "", maxsplit=1, flags=re.MULTILINE)[-1]
    text = re.split(r"^\S", text, maxsplit=1, flags=re.MULTILINE)[0]       # up to the next section
    found = {}
    for names, words in re.findall(r"^ {4}(\w[\w, ]*): ((?:.*\n?)(?: {5,}.*\n?)*)", text, flags=re.MULTILINE):
        sentence = re.split(r"(?<!e\.g)\. ", " ".join(words.split()), maxsplit=1)[0]
        found.update(dict.fromkeys(names.split(", "), sentence))
    return found


def _joined(*texts: str) -> str:
    """Texts of docstrings as the help of a flag: plain, one after the other."""
    plain = "; ".join(text.rstrip(".") for text in texts if text)
    return re.sub(r":\w+:`([^`]*)`|``", r"\1", plain).replace("%", "%%")


def _dashed(name: str) -> str:
    return name.replace("_", "-")
