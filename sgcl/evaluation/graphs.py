"""Scores of whole graphs: nested cross-validation with a support vector machine, as the InfoGraph family has it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.evaluation.folds import best_by_folds, stratified_folds
from sgcl.evaluation.labels import checked_labels
from sgcl.evaluation.metrics import METRICS, Array
from sgcl.evaluation.probe import ProbeResult, check_class_inputs
from sgcl.evaluation.protocol import Protocol, ascending_split, random_state
from sgcl.evaluation.splits import Split

SVC_GRID = tuple(10.0**power for power in range(-3, 4))  # values of C tried by svc_probe
_TABLE = 4096  # so many training items have their kernel written out, once for all C; of more, pairs are looked at anew


@dataclass(frozen=True)
class GraphScore:
    """One run of nested cross-validation.

    Args:
        folds: the score of each outer fold.
        C: what the inner folds chose, for each outer fold.
        metric: its name.
        seed: of the folds.
    """

    folds: tuple[float, ...]
    C: tuple[float, ...]
    metric: str
    seed: int

    @property
    def mean(self) -> float:
        """The score of the run; means of several runs, and their deviation, are what papers give."""
        return float(np.mean(self.folds))

    @property
    def fold_deviation(self) -> float:
        """The sample deviation over the folds: far larger than that over runs, and not to be mixed up with it."""
        return float(np.std(self.folds, ddof=1))


@dataclass(frozen=True)
class Tu(Protocol):
    """Collections of graphs: train on all of them, then score (G, D) embeddings by nested cross-validation.

    Folds depend on the labels and the seed alone, so all methods share them. Run i takes seed i; five are usual.

    Args:
        folds: outer folds, stratified.
        inner: folds of the training part that choose C.
    """

    name: ClassVar[str] = "tu"
    level: ClassVar[str] = "graph"
    folds: int = 10
    inner: int = 5

    def __post_init__(self) -> None:
        if self.folds < 2 or self.inner < 2:
            raise InputError(f"tu: {self.folds} folds and {self.inner} inner ones, expected at least 2 of each")

    def restrict(self, data: Data) -> Data:
        if data.get("batch") is None:
            raise self._not_nodes()
        return data

    def split(self, data: Data, seed: int) -> Split:
        """The first of the outer folds."""
        if data.get("batch") is None:
            raise self._not_nodes()
        return self.splits(data.y, seed)[0]

    def splits(self, y: Tensor, seed: int) -> list[Split]:
        """The outer folds of a run: every labelled graph is tested once. There are no validation graphs."""
        random_state(seed)
        labels = checked_labels(self.name, y, len(y)).cpu().numpy()
        labelled, nothing = np.flatnonzero(labels >= 0), np.empty(0, dtype=np.int64)
        fold = stratified_folds(labels[labelled], self.folds, seed)
        return [ascending_split(labelled[fold != number], nothing, labelled[fold == number])
                for number in range(self.folds)]

    def probe(self, embedding: Tensor, y: Tensor, split: Split, *, seed: int = 0,
              metric: str | None = None) -> ProbeResult:
        return svc_probe(embedding, y, split, folds=self.inner, seed=seed, metric=metric or "accuracy")

    def published_probe(self, embedding: Tensor, y: Tensor, split: Split, *, seed: int) -> ProbeResult:
        return self.probe(embedding, y, split, seed=seed)

    def score(self, embedding: Tensor, y: Tensor, *, seed: int = 0, metric: str = "accuracy") -> GraphScore:
        """One run: every outer fold fitted, chosen and scored by itself.

        Args:
            embedding: (G, D).
            y: (G,) labels; -1 for none.
            seed: of the folds.
            metric: one of ``METRICS`` but ``"roc-auc"``.
        """
        labelled = checked_labels(self.name, y, len(y))
        labelled = labelled[labelled >= 0]
        if len(labelled.unique()) == 1:
            raise InputError(f"tu: all {len(labelled)} labelled graphs are of one class: there is nothing to tell "
                             "apart")
        results = [self.probe(embedding, y, split, seed=seed, metric=metric) for split in self.splits(y, seed)]
        return GraphScore(tuple(result.test for result in results), tuple(result.choice["C"] for result in results),
                          metric, seed)

    @staticmethod
    def _not_nodes() -> InputError:
        return InputError("tu: scores collections of graphs, not the nodes of one: read one with "
                          "sgcl.datasets.load_collection, or use another protocol")


def svc_probe(embedding: Tensor, y: Tensor, split: Split, *, folds: int = 5, metric: str = "accuracy",
              seed: int = 0) -> ProbeResult:
    """A support vector machine with a radial kernel on the rows as they are, C chosen by folds of the training part.

    C runs over 1e-3, 1e-2, ..., 1e3, the width of the kernel is scikit-learn's ``"scale"``; the best mean score over
    the folds wins, ties go to the smaller C. Validation items are not used.

    Args:
        embedding: (N, D).
        y: (N,) labels.
        split: the items to fit and score on.
        folds: of the training items.
        metric: one of ``METRICS`` but ``"roc-auc"``.
        seed: of the folds.
    """
    embedding, y = check_class_inputs("svc_probe", embedding, y, split, metric, needs_val=False)
    x = embedding.cpu().double().numpy()
    train_x, train_y = x[split.train.numpy()], y[split.train].numpy()
    best, score = best_by_folds(lambda rows, labels: _machines(rows, labels, SVC_GRID), train_x, train_y, folds=folds,
                                metric=metric, seed=seed)
    (model,) = _machines(train_x, train_y, SVC_GRID[best:best + 1])
    predicted, fitted = model(x[split.test.numpy()]), model(train_x)
    # All is settled: the labels of the test items are read in the next statement and nowhere else.
    test = METRICS[metric](y[split.test].numpy(), predicted)
    return ProbeResult(test, score, METRICS[metric](train_y, fitted), metric, C=SVC_GRID[best],
                       predictions=torch.from_numpy(predicted))


def _machines(x: Array, y: Array, strengths: tuple[float, ...]) -> list[Callable[[Array], Array]]:
    from sklearn.metrics.pairwise import rbf_kernel  # slow to import: only those who score graphs wait for it
    from sklearn.svm import SVC

    if len(np.unique(y)) == 1:  # of a fold without the other classes
        return [lambda rows: np.repeat(y[:1], len(rows))] * len(strengths)
    if len(x) > _TABLE:
        return [SVC(C=C, kernel="rbf", gamma="scale").fit(x, y).predict for C in strengths]
    kernel = partial(rbf_kernel, Y=x, gamma=1 / (x.shape[1] * x.var()) if x.var() else 1.0)
    table = kernel(x)
    machines = [SVC(C=C, kernel="precomputed").fit(table, y) for C in strengths]
    return [lambda rows, machine=machine: machine.predict(kernel(rows)) for machine in machines]  # type: ignore[misc]
