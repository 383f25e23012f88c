"""Settings as JSON and back: parts such as smoothings and views become a name with its numbers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sgcl.errors import InputError, unknown_name
from sgcl.graph import prepare
from sgcl.methods import METHODS
from sgcl.samplers import SAMPLERS, Sampler
from sgcl.smoothing import SMOOTHINGS, Smoothing
from sgcl.trainer import train
from sgcl.views import View, build_view, describe_view

_NOT_SETTINGS = ("in_channels", "method", "graph", "callbacks", "data")


def defaults(method: str) -> dict[str, Any]:
    """Every setting of a method, of its training and of its graph, with its default."""
    found = {}
    for function in (METHODS[method], train, prepare):
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in _NOT_SETTINGS:
                found[name] = parameter.default
    return found


def resolve(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults with ``given`` over them; a name that is no setting is an error."""
    settings = defaults(method)
    for name in given:
        if name not in settings:
            raise unknown_name(f"{method} setting", name, settings)
    return {**settings, **decode(given)}


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


def _encode(value: Any) -> Any:
    if isinstance(value, Smoothing):
        return SMOOTHINGS.describe(value)
    if isinstance(value, Sampler):
        return SAMPLERS.describe(value)
    if isinstance(value, View):
        return describe_view(value)
    return value


def _decode(name: str, value: Any) -> Any:
    if name == "smoothing":
        return value if isinstance(value, Smoothing) else SMOOTHINGS.build(value)
    if name == "sampler":
        return value if isinstance(value, Sampler) else SAMPLERS.build(value)
    if name in ("view1", "view2"):
        return value if isinstance(value, View) else build_view(value)
    if isinstance(value, (dict, list)):
        raise InputError(f"setting {name} is {value!r}, expected a number, a word or a part")
    return value
