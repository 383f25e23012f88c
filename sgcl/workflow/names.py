"""What tables call a run: its method and smoothing, and the settings that tell it from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sgcl import levels

BESIDE = ("seed", "device", "workers")  # runs that differ in these alone share a row
_VARIANTS = {"taubin": "T", "bilateral": "B", "diffusion": "D", "identity": "Identity"}  # as in the paper's tables


def label(method: str, chosen: Mapping[str, Any]) -> str:
    """A method with its smoothing (settings in JSON form), as tables call it: SGCL-T, SGCL-Identity, GRACE."""
    smoothing = chosen.get("smoothing")
    if smoothing is None:
        return levels.title(method)
    name = smoothing if isinstance(smoothing, str) else smoothing["name"]
    return f"{levels.title(method)}-{_VARIANTS.get(name, name)}"


def row_names(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The label of each run, with the settings that tell it apart where runs of one label differ in more than seed."""
    labels = [label(config["method"], config["settings"]) for config in configs]
    flat = [flat_settings(config["settings"]) for config in configs]
    names = []
    for own, chosen in zip(labels, flat, strict=True):
        others = [other for name, other in zip(labels, flat, strict=True) if name == own]
        differing = [f"{name}={value}" for name, value in chosen.items()
                     if name not in BESIDE and any(other.get(name) != value for other in others)]
        names.append(" ".join([own, *differing]))
    return names


def flat_settings(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in JSON form without nesting: {"smoothing.mu": -0.4, "view1.drop-edges.p": 0.5, "lr": 0.001, ...}."""
    flat = {}
    for name, value in chosen.items():
        parts = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        for part in parts:
            prefix = f"{name}.{part['name']}" if isinstance(value, list) else name
            flat.update({f"{prefix}.{key}": number for key, number in part.items()})
        if not parts:
            flat[name] = value
    return flat
