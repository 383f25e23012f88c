"""The linear probe: logistic regression on frozen embeddings, its strength chosen without a look at the test labels."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from threadpoolctl import threadpool_limits
from torch import Tensor

from sgcl.errors import InputError, unknown_name
from sgcl.evaluation.labels import checked_labels
from sgcl.evaluation.logistic import Array, Logistic, logistic_path
from sgcl.evaluation.splits import Split

C_GRID = tuple(2.0**power for power in range(-10, 11))  # inverse penalties tried by linear_probe

_BLOCK = 1 << 24  # numbers of an embedding turned to float64 at a time


@dataclass(frozen=True)
class ProbeResult:
    """Scores of one probe, each in [0, 1].

    Args:
        test, val, train: the metric on each set, for the probe that was chosen; ``val`` is NaN without such nodes.
        metric: its name.
        C: the chosen inverse penalty, of a linear probe.
        step: the optimiser step that was kept, of a published probe.
        converged: whether every fit of a linear probe reached its tolerance.
        predictions: (n_test,) predicted classes, in the order of ``split.test``.
    """

    test: float
    val: float
    train: float
    metric: str
    C: float | None = None
    step: int | None = None
    converged: bool = True
    predictions: Tensor = field(default_factory=lambda: torch.empty(0), repr=False, compare=False)

    @property
    def choice(self) -> dict[str, float]:
        """What was chosen on the validation nodes, as JSON: ``{"C": ...}`` or ``{"step": ...}``."""
        return {name: value for name, value in (("C", self.C), ("step", self.step)) if value is not None}


def linear_probe(embedding: Tensor, y: Tensor, split: Split, *, metric: str = "accuracy") -> ProbeResult:
    """Multinomial logistic regression on L2-normalised rows, run to convergence, C chosen on the validation nodes.

    C runs over 2^-10, 2^-9, ..., 2^10; the best validation score wins, ties go to the smaller C.

    Args:
        embedding: (N, D).
        y: (N,) labels.
        split: the nodes to fit, choose and score on.
        metric: one of ``METRICS``.
    """
    if metric not in METRICS:
        raise unknown_name("metric", metric, METRICS)
    embedding, y = check_inputs("linear_probe", embedding, y, split, needs_val=True)
    with threadpool_limits(1, user_api="blas"):  # these products are too small for several, which wait for each other
        model, converged = choose(_rows(embedding, split.train), y[split.train].numpy(),
                                  _rows(embedding, split.val), y[split.val].numpy(), metric=metric)
    predicted = {name: _predict(model, embedding, nodes) for name, nodes in split.sets.items()}
    # All is settled: the labels of the test nodes are read in the next statement and nowhere else.
    scores = {name: METRICS[metric](y[nodes].numpy(), predicted[name]) for name, nodes in split.sets.items()}
    return ProbeResult(scores["test"], scores["val"], scores["train"], metric, C=model.C, converged=converged,
                       predictions=torch.from_numpy(predicted["test"]))


def choose(train_x: Array, train_y: Array, val_x: Array, val_y: Array, *,
           metric: str = "accuracy") -> tuple[Logistic, bool]:
    """The model with the best validation score over ``C_GRID``, and whether every fit converged.

    No test node is passed in.
    """
    best, best_score, stuck = None, -math.inf, []
    for model in logistic_path(train_x, train_y, C_GRID):
        score = METRICS[metric](val_y, model.predict(val_x))
        if score > best_score:
            best, best_score = model, score
        if not model.converged:
            stuck.append(f"{model.C:g}")
    if stuck:
        warnings.warn(f"linear_probe: no convergence at C = {', '.join(stuck)}: those fits are approximate",
                      stacklevel=3)
    assert best is not None
    return best, not stuck


def check_inputs(owner: str, embedding: Tensor, y: Tensor, split: Split, *, needs_val: bool) -> tuple[Tensor, Tensor]:
    """The embedding, detached, and the labels (N,) on the CPU, when a probe can be fitted to them."""
    if embedding.dim() != 2 or not embedding.is_floating_point() or embedding.numel() == 0:
        raise InputError(f"{owner}: the embedding is {embedding.dtype} of shape {tuple(embedding.shape)}, expected "
                         "floats (N, D)")
    if not bool(torch.isfinite(embedding).all()):
        raise InputError(f"{owner}: the embedding holds NaN or infinite values: the training diverged")
    y = checked_labels(owner, y, len(embedding)).cpu()
    for name, nodes in split.sets.items():
        if len(nodes) == 0 and (name != "val" or needs_val):
            raise InputError(f"{owner}: the split has no {name} nodes")
        if len(nodes) and int(nodes.max()) >= len(embedding):
            raise InputError(f"{owner}: the split names node {int(nodes.max())}, but the embedding has "
                             f"{len(embedding)} rows: split the graph that was embedded")
        if bool((y[nodes] < 0).any()):
            raise InputError(f"{owner}: {int((y[nodes] < 0).sum())} of the {name} nodes have no label (-1)")
    if len(torch.unique(y[split.train])) < 2:
        raise InputError(f"{owner}: all training nodes are of class {int(y[split.train][0])}: two classes are needed")
    return embedding.detach(), y


def _rows(embedding: Tensor, nodes: Tensor) -> Array:
    """(n, D) rows of unit length in float64."""
    rows: Array = F.normalize(embedding[nodes.to(embedding.device)].cpu().double()).numpy()
    return rows


def _predict(model: Logistic, embedding: Tensor, nodes: Tensor) -> Array:
    parts = torch.split(nodes, max(1, _BLOCK // embedding.size(1)))
    return np.concatenate([model.predict(_rows(embedding, part)) for part in parts])


def _accuracy(true: Array, predicted: Array) -> float:
    return float(np.mean(true == predicted))


def _macro_f1(true: Array, predicted: Array) -> float:
    """The mean of 2 hits / (true + predicted) over the classes that are either."""
    size = int(max(true.max(), predicted.max())) + 1
    hits = np.bincount(true[true == predicted], minlength=size)
    both = np.bincount(true, minlength=size) + np.bincount(predicted, minlength=size)
    return float(np.mean(2 * hits[both > 0] / both[both > 0]))


METRICS: dict[str, Callable[[Array, Array], float]] = {"accuracy": _accuracy, "macro-f1": _macro_f1}
