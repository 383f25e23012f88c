"""Settings as JSON and back: parts such as smoothings and views become a name with its numbers."""

from __future__ import annotations

import inspect
import numbers
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from sgcl.errors import InputError, unknown_name
from sgcl.graph import prepare
from sgcl.methods import METHODS, Method
from sgcl.samplers import SAMPLERS, Sampler
from sgcl.smoothing import SMOOTHINGS, Smoothing
from sgcl.trainer import train
from sgcl.views import VIEWS, Compose, View, describe_view

_NOT_SETTINGS = ("self", "in_channels", "method", "graph", "callbacks", "checkpoint", "data")
_LATE = ("start_epoch", "warmup")  # settings that count epochs, beside ``epochs``
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}


class Setting(NamedTuple):
    """What is known of a setting."""

    owner: Callable[..., Any]  # the function or class that takes it
    hint: Any                  # its type
    default: Any


def known(method: str) -> dict[str, Setting]:
    """Every setting of a method, of its training and of its graph, by name."""
    return dict(_known(cast("type[Method]", METHODS[method])))


@cache
def _known(kind: type[Method]) -> dict[str, Setting]:
    found = {}
    for owner in (kind, train, prepare):
        hints = get_type_hints(owner.__init__ if isinstance(owner, type) else owner)  # type: ignore[misc]
        for name, parameter in inspect.signature(owner).parameters.items():
            if name not in _NOT_SETTINGS:
                found[name] = Setting(owner, hints[name], kind.trained_with.get(name, parameter.default))
    return found


def defaults(method: str) -> dict[str, Any]:
    """Every setting of a method, of its training and of its graph, with its default."""
    return {name: setting.default for name, setting in known(method).items()}


def resolve(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults with ``given`` over them; a name that is no setting or a value of another type is an error."""
    settings = known(method)
    for name in given:
        if name not in settings:
            raise unknown_name(f"{method} setting", name, settings)
    return {**defaults(method), **{name: _checked(name, value, settings[name].hint)
                                   for name, value in decode(given).items()}}


def with_epochs(method: str, given: Mapping[str, Any], epochs: int) -> dict[str, Any]:
    """Settings with so many epochs, and with what begins in one of them moved along."""
    full = {**defaults(method), **given}
    share = epochs / full["epochs"]
    moved = {name: max(int(name == "start_epoch"), round(share * full[name])) for name in _LATE
             if full.get(name) is not None}
    return {**given, **moved, "epochs": epochs}


def split(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Settings of the method, of the training and of the graph."""
    training, graph = inspect.signature(train).parameters, inspect.signature(prepare).parameters
    return ({k: v for k, v in settings.items() if k not in training and k not in graph},
            {k: v for k, v in settings.items() if k in training},
            {k: v for k, v in settings.items() if k in graph})


def encode(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as plain JSON values."""
    return {name: _encode(value) for name, value in settings.items()}


def decode(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`encode`; values that are parts already are kept."""
    return {name: _decode(name, value) for name, value in settings.items()}


def without_none(hint: Any) -> Any:
    """T for a type hint ``T | None``; any other hint as it is."""
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        return kinds[0] if len(kinds) == 1 else hint
    return hint


def _encode(value: Any) -> Any:
    if isinstance(value, Smoothing):
        return SMOOTHINGS.describe(value)
    if isinstance(value, Sampler):
        return SAMPLERS.describe(value)
    if isinstance(value, View):
        return describe_view(value)
    return value


def _decode(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "smoothing":
        return value if isinstance(value, Smoothing) else SMOOTHINGS.build(value)
    if name == "sampler":
        return value if isinstance(value, Sampler) else SAMPLERS.build(value)
    if name in ("view1", "view2"):
        return value if isinstance(value, View) else _view(value)
    if name == "accumulate" and isinstance(value, bool):  # of a run before it was a number
        return int(not value)
    return value


def _view(value: Any) -> View:
    """From views, their names or their JSON: one, or several in a list."""
    parts = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return Compose(tuple(part if isinstance(part, View) else VIEWS.build(part) for part in parts))


def _checked(name: str, value: Any, hint: Any) -> Any:
    """The value, as a plain Python number where it is one."""
    kind = without_none(hint)
    if value is None and kind is not hint:
        return None
    if kind is int and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if kind is float and isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise InputError(f"{name} is {value!r}, expected one of {', '.join(map(str, get_args(kind)))}")
    if kind in (int, float) or (isinstance(kind, type) and not isinstance(value, kind)):
        raise InputError(f"{name} is {value!r}, expected {_WORDS.get(kind, f'a {kind.__name__}')}")
    return value
