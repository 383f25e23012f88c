"""Scores of predictions against labels, each in [0, 1]."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

Array = np.ndarray[Any, Any]


def roc_auc(true: Array, scores: Array) -> float:
    """The chance that a node of class 1 has a higher score than one of class 0, ties counting half.

    For (n, T) labels and scores the mean over the tasks that have nodes of both classes, as OGB's evaluator has it;
    labels of -1 are left out. NaN where no task has both.
    """
    columns = [(true, scores)] if true.ndim == 1 else zip(true.T, scores.T, strict=True)
    areas = [_area(labels[labels >= 0], values[labels >= 0]) for labels, values in columns]
    defined = [area for area in areas if area is not None]
    return float(np.mean(defined)) if defined else float("nan")


def _area(true: Array, scores: Array) -> float | None:
    positive = true == 1
    ones = int(positive.sum())
    zeros = len(true) - ones
    if ones == 0 or zeros == 0:
        return None
    rank_sum = float(scipy.stats.rankdata(scores)[positive].sum())
    return (rank_sum - ones * (ones + 1) / 2) / (ones * zeros)


def _accuracy(true: Array, predicted: Array) -> float:
    return float(np.mean(true == predicted))


def _macro_f1(true: Array, predicted: Array) -> float:
    """The mean of 2 hits / (true + predicted) over the classes that are either."""
    size = int(max(true.max(), predicted.max())) + 1
    hits = np.bincount(true[true == predicted], minlength=size)
    both = np.bincount(true, minlength=size) + np.bincount(predicted, minlength=size)
    return float(np.mean(2 * hits[both > 0] / both[both > 0]))


METRICS: dict[str, Callable[[Array, Array], float]] = {
    "accuracy": _accuracy,    # of predicted classes
    "micro-f1": _accuracy,    # which is the same where a node has one class
    "macro-f1": _macro_f1,
    "roc-auc": roc_auc,       # of scores
}

OF_SCORES = frozenset({"roc-auc"})  # metrics that take scores instead of predicted classes
