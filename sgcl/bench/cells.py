"""A cell of a benchmark: one figure to be measured once, and the JSON line that it becomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from sgcl import datasets, settings
from sgcl.evaluation import PROTOCOLS
from sgcl.recipes import recipe
from sgcl.workflow import BESIDE, FLOORS


@dataclass(frozen=True)
class Row:
    """A row of tables: a method with settings over the recipe of each dataset.

    Args:
        name: as tables call it.
        method: its name; of floors, the method whose encoder is left untrained.
        settings: over the recipe. A smoothing given by its name alone has the settings that the recipe gives it.
        like: a method whose recipe decides all settings that both know, for a comparison on the same encoder.
        epochs: by dataset, where fewer than those of the recipe will do.
        times: settings of the recipe to be multiplied.
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    like: str | None = None
    epochs: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)

    def chosen(self, dataset: str) -> dict[str, Any]:
        """Its settings on a dataset, in JSON form."""
        over = dict(self.settings)
        smoothing = over.get("smoothing")
        named = smoothing if isinstance(smoothing, str) else (smoothing or {}).get("name")
        base = recipe(self.method, dataset, named)
        if isinstance(smoothing, str) and "smoothing" in base:
            del over["smoothing"]
        if self.like is not None:
            known = settings.known(self.method)
            model = settings.encode(settings.resolve(self.like, recipe(self.like, dataset)))
            base |= {name: value for name, value in model.items() if name in known and name not in BESIDE}
        chosen = {**base, **over}
        if dataset in self.epochs:
            chosen = settings.with_epochs(self.method, chosen, self.epochs[dataset])
        return scaled(self.method, chosen, self.times)

    def origin(self, dataset: str) -> str:
        """Whose settings it has on a dataset, for people."""
        return "recipe" if recipe(self.method, dataset) else "the method's defaults"


@dataclass(frozen=True)
class Cell:
    """One figure to be measured.

    Args:
        name: of its row; one of ``FLOORS`` for the features alone or an encoder before training.
        method, settings: what is trained, the settings in JSON form and in full but for defaults.
        dataset: its name; ``sbm-N`` is a block model of N nodes.
        seed: of the training and of the split.
        protocol, probe: how the embedding is scored; ``None`` where nothing is.
        measure: one of :data:`sgcl.bench.measures.MEASURES`.
        shortened: epochs instead of those of the settings, for a trial run.
    """

    name: str
    method: str
    dataset: str
    seed: int = 0
    protocol: str | None = None
    probe: str | None = None
    measure: str = "probe"
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    shortened: int | None = None

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other cells. A row's name has no part in it: what two tables ask for is measured once."""
        return _key(self.measure, self.name, self.method, self.dataset, self.seed, self.protocol, self.probe,
                    self.settings)

    @property
    def training(self) -> tuple[Any, ...]:
        """Cells that agree in this are measured on one training; floors need none."""
        graph = None if self.protocol is None else type(PROTOCOLS[self.protocol]).restrict  # the same where inherited
        return (self.measure, self.is_floor, self.method, self.dataset, self.seed, graph,
                _resolved(self.method, _text(self.settings)))

    @property
    def is_floor(self) -> bool:
        return self.name in FLOORS

    @property
    def epochs(self) -> int:
        """How many the training has."""
        found: int = json.loads(_resolved(self.method, _text(self.settings)))["epochs"]
        return found

    def shorten(self, epochs: int) -> Cell:
        """The same with so many epochs."""
        return replace(self, settings=settings.with_epochs(self.method, self.settings, epochs), shortened=epochs)

    def line(self, **measured: Any) -> dict[str, Any]:
        """The JSON line of what was measured."""
        about = {"name": self.name, "method": self.method, "dataset": self.dataset, "seed": self.seed,
                 "protocol": self.protocol, "probe": self.probe}
        return {**({} if self.measure == "probe" else {"measure": self.measure}), **about, **measured,
                **({} if self.shortened is None else {"shortened": self.shortened})}

    def __str__(self) -> str:
        words = {"split": self.protocol, "probe": self.probe}
        ways = "".join(f", {word} {what}" for what, word in words.items() if word is not None)
        return f"{self.dataset} {self.name} seed {self.seed}{ways}"


def key_of(line: Mapping[str, Any]) -> tuple[Any, ...]:
    """The key of the cell that a line was written for; also of lines that are older than cells."""
    measure = line.get("measure", "memory" if "peak" in line else "probe")
    dataset = line["dataset"] if "dataset" in line else f"sbm-{line['nodes']}"
    return _key(measure, line["name"], line.get("method", "sgcl"), dataset, line.get("seed", 0),
                line.get("protocol"), line.get("probe"), line.get("settings", {}))


def scaled(method: str, given: Mapping[str, Any], times: Mapping[str, float]) -> dict[str, Any]:
    """Settings with some multiplied."""
    full = {**settings.defaults(method), **given}
    products = {name: factor * full[name] for name, factor in times.items() if factor != 1}
    epochs = products.pop("epochs", None)
    base = dict(given) if epochs is None else settings.with_epochs(method, given, max(1, round(epochs)))
    return {**base, **products}


def default_way(dataset: str) -> tuple[str, str]:
    """The protocol of a dataset and the probe that this library scores by."""
    entry = datasets.DATASETS[dataset]
    return (entry.protocol, "svc" if entry.task == "graph" else "converged")


def _key(measure: str, name: str, method: str, dataset: str, seed: int, protocol: str | None, probe: str | None,
         given: Mapping[str, Any]) -> tuple[Any, ...]:
    where = (measure, dataset, seed, protocol, probe)
    if name == FLOORS[1]:  # the settings in which the encoders of recipes and what is taken of them differ
        full = {**settings.defaults(method), **given}
        return (*where, name, full["hidden_channels"], full.get("embedding"))
    if name in FLOORS or measure in ("statistics", "filter"):
        return (*where, name)
    return (*where, method, _resolved(method, _text(given)))


def _text(given: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in given.items() if name not in BESIDE}, sort_keys=True)


@cache
def _resolved(method: str, given: str) -> str:
    """Settings with all defaults, as text that is equal where they are; lines from before a setting get its default."""
    return _text(settings.encode(settings.resolve(method, json.loads(given))))
