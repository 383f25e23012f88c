"""Which settings a sweep tries next: all points of a grid, or those that Optuna proposes."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sgcl.errors import InputError

Values = dict[str, Any]


@dataclass(frozen=True)
class Range:
    """All numbers from ``low`` to ``high``, on a logarithmic scale where that is ten times as much or more.

    >>> Range(1e-4, 1e-2).log, Range(0.1, 0.9).log
    (True, False)
    """

    low: float
    high: float
    whole: bool = False  # whole numbers alone

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise InputError(f"a range from {self.low} to {self.high}: expected two numbers, the lower one first")

    @property
    def log(self) -> bool:
        return 0 < 10 * self.low <= self.high

    @property
    def ends(self) -> tuple[float, float]:
        """As numbers of their kind."""
        return (int(self.low), int(self.high)) if self.whole else (self.low, self.high)


Space = Mapping[str, Sequence[str] | Range]


class Proposals(ABC):
    """The trials of a sweep, one after the other."""

    total: int

    @abstractmethod
    def corners(self) -> Iterator[Values]:
        """Points by which one sees whether all can be tried."""

    @abstractmethod
    def ask(self) -> Values | None:
        """The values of the next trial; ``None`` after the last."""

    @abstractmethod
    def tell(self, record: Mapping[str, Any]) -> None:
        """How a trial ended, now or in an earlier part of the sweep: its ``values``, ``state`` and ``scores``."""

    def is_behind(self, epoch: int, score: float) -> bool:
        """Whether the trial at hand shall stop; asked now and then with its score so far."""
        return False


class Grid(Proposals):
    """Every combination of the given values, the last name changing first."""

    def __init__(self, space: Space) -> None:
        choices = []
        for name, values in space.items():
            if isinstance(values, Range):
                raise InputError(f"{name} has a range, which a grid cannot walk through: list values, or add --optuna")
            choices.append([(name, value) for value in dict.fromkeys(values)])
        self.points = [dict(point) for point in itertools.product(*choices)]
        self.total = len(self.points)
        self._told: list[Values] = []

    def corners(self) -> Iterator[Values]:
        return iter(self.points)

    def ask(self) -> Values | None:
        return next((point for point in self.points if point not in self._told), None)

    def tell(self, record: Mapping[str, Any]) -> None:
        self._told.append(record["values"])


class Study(Proposals):
    """Optuna's tree-structured Parzen estimator, and its median pruner: a trial that scores below the median of the
    trials before it, at the same epoch, is stopped.

    A proposal is a function of the seed and of the trials before it, so that a sweep that was cut short goes on as it
    would have.

    Args:
        space: values to choose from, or a :class:`Range`, by name.
        trials: how many in all.
        seed: of the proposals.
    """

    def __init__(self, space: Space, trials: int, *, seed: int = 0) -> None:
        try:
            import optuna
        except ImportError:
            raise InputError("Optuna is not installed: pip install 'sgcl[optuna]'") from None
        if trials < 1:
            raise InputError(f"{trials} trials: expected at least 1")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna, self.space, self.total, self.seed = optuna, space, trials, seed
        self._study = optuna.create_study(direction="maximize", pruner=optuna.pruners.MedianPruner())
        self._trial: Any = None
        self._kinds = {name: self._kind(values) for name, values in space.items()}

    def corners(self) -> Iterator[Values]:
        for end in (0, -1):
            yield {name: values.ends[end] if isinstance(values, Range) else values[end]
                   for name, values in self.space.items()}

    def ask(self) -> Values | None:
        done = len(self._study.trials)
        if done >= self.total:
            return None
        self._study.sampler = self._optuna.samplers.TPESampler(seed=(self.seed * 100_003 + done) % 2**32)
        self._trial = self._study.ask(self._kinds)
        return dict(self._trial.params)

    def is_behind(self, epoch: int, score: float) -> bool:
        self._trial.report(score, epoch)
        return bool(self._trial.should_prune())

    def tell(self, record: Mapping[str, Any]) -> None:
        state = self._optuna.trial.TrialState[{"complete": "COMPLETE", "pruned": "PRUNED", "failed": "FAIL"}[
            record["state"]]]
        if self._trial is not None:
            self._study.tell(self._trial, record["score"] if record["state"] == "complete" else None, state=state)
            self._trial = None
        else:
            self._study.add_trial(self._optuna.trial.create_trial(
                state=state, params=record["values"], distributions=self._kinds, value=record["score"],
                intermediate_values={int(epoch): score for epoch, score in record["scores"].items()}))

    def _kind(self, values: Sequence[str] | Range) -> Any:
        kinds = self._optuna.distributions
        if not isinstance(values, Range):
            return kinds.CategoricalDistribution(tuple(dict.fromkeys(values)))
        kind = kinds.IntDistribution if values.whole else kinds.FloatDistribution
        return kind(*values.ends, log=values.log)
