"""Folds for cross-validation, and the probe that chooses its strength by them: GRACE's."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits
from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation.logistic import Array, Logistic, task_path
from sgcl.evaluation.metrics import METRICS
from sgcl.evaluation.probe import C_GRID, ProbeResult, check_class_inputs, outcome, unit_rows
from sgcl.evaluation.splits import Split


def cross_validated_probe(embedding: Tensor, y: Tensor, split: Split, *, folds: int = 5, metric: str = "micro-f1",
                          seed: int = 0) -> ProbeResult:
    """One-vs-rest logistic regression on L2-normalised rows, C chosen by folds of the training nodes.

    The probe of GRACE. C runs over 2^-10, 2^-9, ..., 2^10, as the paper has it; the best mean score over the folds
    wins, ties go to the smaller C; then all training nodes are fitted. Validation nodes are not used.

    Departures: folds are stratified and seeded, and the bias carries no penalty, which it does in liblinear.

    Args:
        embedding: (N, D).
        y: (N,) labels.
        split: the nodes to fit and score on.
        folds: of the training nodes.
        metric: one of ``METRICS`` but ``"roc-auc"``.
        seed: of the folds.
    """
    embedding, y = check_class_inputs("cross_validated_probe", embedding, y, split, metric, needs_val=False)
    with threadpool_limits(1, user_api="blas"):
        model, score, converged = _choose(unit_rows(embedding, split.train), y[split.train].numpy(), folds=folds,
                                          metric=metric, seed=seed)
    return outcome("cross_validated_probe", model, embedding, y, split, metric, converged=converged, val=score)


def stratified_folds(y: Array, folds: int, seed: int) -> Array:
    """(n,) the fold of each item: every fold has nearly the same size, and nearly the same share of every class."""
    if not 2 <= folds <= len(y):
        raise InputError(f"{folds} folds of {len(y)} labelled items: expected 2 folds or more, and an item for each")
    shuffled = np.random.RandomState(seed).permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[by_class] = np.arange(len(y)) % folds
    return fold


def best_by_folds(fit: Callable[[Array, Array], Sequence[Callable[[Array], Array]]], x: Array, y: Array, *, folds: int,
                  metric: str, seed: int) -> tuple[int, float]:
    """Which of several models has the best mean score over the folds, the first of equals, and that score.

    Args:
        fit: rows and labels to the same number of models every time, each a function from rows to labels.
    """
    fold, scores = stratified_folds(y, folds, seed), []
    for number in range(folds):
        held_out = fold == number
        models = fit(x[~held_out], y[~held_out])
        scores.append([METRICS[metric](y[held_out], model(x[held_out])) for model in models])
    mean = np.mean(scores, axis=0)
    best = int(np.argmax(mean))
    return best, float(mean[best])


def _choose(x: Array, y: Array, *, folds: int, metric: str, seed: int) -> tuple[Logistic, float, bool]:
    """The model of all training nodes with the C that the folds chose, its score, and whether all fits converged.

    No test node is passed in.
    """
    stuck: set[float] = set()

    def fit(rows: Array, labels: Array) -> list[Callable[[Array], Array]]:
        models = _one_vs_rest(rows, labels, C_GRID)
        stuck.update(model.C for model in models if not model.converged)
        return [model.predict for model in models]

    best, score = best_by_folds(fit, x, y, folds=folds, metric=metric, seed=seed)
    (model,) = _one_vs_rest(x, y, [C_GRID[best]])
    if not model.converged:
        stuck.add(model.C)
    if stuck:
        warnings.warn(f"cross_validated_probe: no convergence at C = {', '.join(f'{C:g}' for C in sorted(stuck))}: "
                      "those fits are approximate", stacklevel=3)
    return model, score, not stuck


def _one_vs_rest(x: Array, y: Array, strengths: Sequence[float]) -> list[Logistic]:
    """A model for each C: class k against all others, the class of the highest log-odds wins."""
    classes = np.unique(y)
    if len(classes) == 1:  # of a fold without the other classes
        return [Logistic(np.zeros((x.shape[1], 1)), np.zeros(1), C, True, classes) for C in strengths]
    targets = (y[:, None] == classes).astype(np.int64)                     # (n, K)
    return [replace(model, classes=classes) for model in task_path(x, targets, strengths)]
