"""How long a cell may take, by what others took."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from sgcl import datasets
from sgcl.bench.cells import Cell
from sgcl.bench.lines import Line
from sgcl.bench.measures import BLOCKS

_GUESS = 1e-4       # seconds of an epoch for a node, where no line tells
_FEW = {"memory": 1, "epoch": 6, "cost": 3}     # epochs that a measure takes, where it is not a training


def estimates(lines: Iterable[Line]) -> Callable[[Cell], float]:
    """How long the training of a cell may take: by what others of its method and dataset took, or of its method."""
    rates: dict[Any, list[float]] = defaultdict(list)
    for line in lines:
        took = line.get("seconds_cpu", line.get("seconds_training"))
        if (took or "cpu_epoch" in line) and "settings" in line and "dataset" in line:
            method, rate = line.get("method", "sgcl"), line.get("cpu_epoch") or took / line["settings"]["epochs"]
            rates[method, line["dataset"]].append(rate)
            rates[method].append(rate / size_of(line["dataset"]))

    def seconds(cell: Cell) -> float:
        if cell.is_floor or cell.measure in ("statistics", "filter"):
            return 1.0
        own, any_ = rates.get((cell.method, cell.dataset)), rates.get(cell.method)
        rate = statistics.median(own) if own else size_of(cell.dataset) * (statistics.median(any_) if any_ else _GUESS)
        return rate * _FEW.get(cell.measure, cell.epochs) + 1.0

    return seconds


def size_of(dataset: str) -> float:
    """Nodes and edges; a node costs about as much as twenty edges, for its row meets the weights."""
    if dataset.startswith(BLOCKS):
        return 1.25 * int(dataset.removeprefix(BLOCKS))
    return datasets.DATASETS[dataset].nodes + datasets.DATASETS[dataset].edges / 20
