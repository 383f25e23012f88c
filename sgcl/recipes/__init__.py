"""Recipes: the settings that a named dataset is trained with unless flags say otherwise.

A recipe is ``<method>/<dataset>.toml``, for a series of datasets one file: ``homophily.toml`` is for homophily-0.0 to
homophily-0.9. It has a table ``[settings]`` for all smoothings and one named after a smoothing for what differs, where
``smoothing`` may carry settings of its own. It opens with the command, the score with its spread over seeds, and the
time.
"""

import re
import tomllib
from importlib.resources import files
from typing import Any

from sgcl.errors import InputError

_PLACE = r"-\d\.\d$"     # of a dataset in its series


def recipe(method: str, dataset: str, smoothing: str | None = None) -> dict[str, Any]:
    """The settings of the recipe; none where there is no recipe."""
    file = files("sgcl.recipes") / method / f"{re.sub(_PLACE, '', dataset)}.toml"
    if not file.is_file():
        return {}
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the recipe {file.name} is not TOML ({error})") from None
    return {**tables.get("settings", {}), **tables.get(smoothing or "", {})}


__all__ = ["recipe"]
