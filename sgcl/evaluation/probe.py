"""The linear probe: logistic regression on frozen embeddings, its strength chosen without a look at the test labels."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from threadpoolctl import threadpool_limits
from torch import Tensor

from sgcl.errors import InputError, unknown_name
from sgcl.evaluation.embedding import checked_embedding
from sgcl.evaluation.labels import checked_labels, checked_tasks, has_tasks
from sgcl.evaluation.logistic import Array, Logistic, logistic_path, task_path
from sgcl.evaluation.metrics import METRICS, OF_SCORES
from sgcl.evaluation.splits import Split

C_GRID = tuple(2.0**power for power in range(-10, 11))  # inverse penalties tried by linear_probe

_BLOCK = 1 << 24  # numbers of an embedding turned to float64 at a time


@dataclass(frozen=True)
class ProbeResult:
    """Scores of one probe, each in [0, 1].

    Args:
        test, val, train: the metric on each set, for the probe that was chosen. Without validation nodes ``val`` is the
            mean over the inner folds, where a probe has them, else NaN.
        metric: its name.
        C: the chosen inverse penalty, of a linear probe or a support vector machine.
        step: the optimiser step that was kept, of a published probe.
        converged: whether every fit of a linear probe reached its tolerance.
        predictions: (n_test,) predicted classes, in the order of ``split.test``; (n_test, T) of T tasks.
        decay: the chosen weight decay, of a published probe that chooses one.
        k: the number of neighbours, of a k-NN probe.
        scores: (n_test,) or (n_test, T) what ROC-AUC is taken of; empty for other metrics.
    """

    test: float
    val: float
    train: float
    metric: str
    C: float | None = None
    step: int | None = None
    converged: bool = True
    predictions: Tensor = field(default_factory=lambda: torch.empty(0), repr=False, compare=False)
    decay: float | None = None
    k: int | None = None
    scores: Tensor = field(default_factory=lambda: torch.empty(0), repr=False, compare=False)

    @property
    def choice(self) -> dict[str, float]:
        """What was chosen on the validation nodes, as JSON: ``{"C": ...}``, ``{"step": ...}`` and the like."""
        chosen = (("C", self.C), ("step", self.step), ("decay", self.decay), ("k", self.k))
        return {name: value for name, value in chosen if value is not None}


def linear_probe(embedding: Tensor, y: Tensor, split: Split, *, metric: str = "accuracy") -> ProbeResult:
    """Logistic regression on L2-normalised rows, run to convergence, C chosen on the validation nodes.

    Multinomial for one label a node; for labels (N, T) of 0 and 1 one regression a task, with one C for all of them.
    C runs over 2^-10, 2^-9, ..., 2^10; the best validation score wins, ties go to the smaller C.

    Args:
        embedding: (N, D).
        y: (N,) labels, or (N, T) labels of T tasks.
        split: the nodes to fit, choose and score on.
        metric: one of ``METRICS``; ``"roc-auc"`` is for labels 0 and 1, of one task or several.
    """
    embedding, y = check_inputs("linear_probe", embedding, y, split, needs_val=True)
    check_metric("linear_probe", metric, y, split)
    with threadpool_limits(1, user_api="blas"):  # these products are too small for several, which wait for each other
        model, converged = choose(unit_rows(embedding, split.train), y[split.train].numpy(),
                                  unit_rows(embedding, split.val), y[split.val].numpy(), metric=metric)
    return outcome("linear_probe", model, embedding, y, split, metric, converged=converged)


def choose(train_x: Array, train_y: Array, val_x: Array, val_y: Array, *,
           metric: str = "accuracy") -> tuple[Logistic, bool]:
    """The model with the best validation score over ``C_GRID``, and whether every fit converged.

    No test node is passed in.
    """
    best, best_score, stuck = None, -math.inf, []
    for model in _path(train_x, train_y):
        answer = model.scores(val_x) if metric in OF_SCORES else model.predict(val_x)
        score = judged("linear_probe", metric, val_y, answer, "val")
        if score > best_score:
            best, best_score = model, score
        if not model.converged:
            stuck.append(f"{model.C:g}")
    if stuck:
        warnings.warn(f"linear_probe: no convergence at C = {', '.join(stuck)}: those fits are approximate",
                      stacklevel=3)
    assert best is not None
    return best, not stuck


def outcome(owner: str, model: Logistic, embedding: Tensor, y: Tensor, split: Split, metric: str, *,
            converged: bool, val: float | None = None) -> ProbeResult:
    """The scores of a model that is settled; ``val`` stands for the validation score where it comes from elsewhere."""
    by_score = metric in OF_SCORES
    found = {name: _applied(model.scores if by_score else model.predict, embedding, nodes)
             for name, nodes in split.sets.items() if len(nodes)}
    predictions = _applied(model.predict, embedding, split.test) if by_score else found["test"]
    # All is settled: the labels of the test nodes are read in the next statement and nowhere else.
    scores = {name: judged(owner, metric, y[split.sets[name]].numpy(), result, name) for name, result in found.items()}
    return ProbeResult(scores["test"], scores.get("val", math.nan) if val is None else val, scores["train"], metric,
                       C=model.C, converged=converged, predictions=torch.from_numpy(predictions),
                       scores=torch.from_numpy(found["test"]) if by_score else torch.empty(0))


def check_inputs(owner: str, embedding: Tensor, y: Tensor, split: Split, *, needs_val: bool) -> tuple[Tensor, Tensor]:
    """The embedding, detached, and the labels (N,) or (N, T) on the CPU, when a probe can be fitted to them."""
    embedding = checked_embedding(owner, embedding)
    if has_tasks(y):
        y = checked_tasks(owner, y, len(embedding)).cpu()
    else:
        y = checked_labels(owner, y, len(embedding)).cpu()
    for name, nodes in split.sets.items():
        if len(nodes) == 0 and (name != "val" or needs_val):
            hint = ", on which it chooses: the protocol 'random' has some" if name == "val" else ""
            raise InputError(f"{owner}: the split has no {name} nodes{hint}")
        if len(nodes) and int(nodes.max()) >= len(embedding):
            raise InputError(f"{owner}: the split names node {int(nodes.max())}, but the embedding has "
                             f"{len(embedding)} rows: split the graph that was embedded")
        unlabelled = (y[nodes] < 0) if y.dim() == 1 else (y[nodes] < 0).all(1)
        if bool(unlabelled.any()):
            raise InputError(f"{owner}: {int(unlabelled.sum())} of the {name} nodes have no label (-1)")
    train = y[split.train]
    if y.dim() == 1 and len(torch.unique(train)) < 2:
        raise InputError(f"{owner}: all training nodes are of class {int(train[0])}: two classes are needed")
    if y.dim() == 2 and not bool(((train == 1).any(0) & (train == 0).any(0)).any()):
        raise InputError(f"{owner}: no task has training nodes of both classes")
    return embedding, y


def check_class_inputs(owner: str, embedding: Tensor, y: Tensor, split: Split, metric: str, *,
                       needs_val: bool) -> tuple[Tensor, Tensor]:
    """As :func:`check_inputs`, for a probe that predicts one class a node and is scored by its predictions."""
    if metric not in METRICS or metric in OF_SCORES:
        raise unknown_name("metric of predicted classes", metric, METRICS.keys() - OF_SCORES)
    if has_tasks(y):
        raise InputError(f"{owner}: predicts one class a node, but the labels are of several tasks: use linear_probe")
    return check_inputs(owner, embedding, y, split, needs_val=needs_val)


def check_metric(owner: str, metric: str, y: Tensor, split: Split) -> None:
    """Raise unless the metric is known and fits the labels."""
    if metric not in METRICS:
        raise unknown_name("metric", metric, METRICS)
    if y.dim() == 2 and metric not in OF_SCORES:
        raise InputError(f"{owner}: the labels are of {y.size(1)} tasks: score them by metric='roc-auc'")
    if y.dim() == 1 and metric in OF_SCORES and torch.unique(y[split.train]).tolist() != [0, 1]:
        raise InputError(f"{owner}: {metric} is for labels 0 and 1, but the training nodes have "
                         f"{len(torch.unique(y[split.train]))} classes up to {int(y[split.train].max())}")


def judged(owner: str, metric: str, true: Array, answer: Array, where: str) -> float:
    """The metric on the nodes of one set."""
    score = METRICS[metric](true, answer)
    if math.isnan(score):
        raise InputError(f"{owner}: {metric} is undefined on the {where} nodes: they are all of one class")
    return score


def _path(x: Array, y: Array) -> Iterator[Logistic]:
    return task_path(x, y, C_GRID) if y.ndim == 2 else logistic_path(x, y, C_GRID)


def unit_rows(embedding: Tensor, nodes: Tensor) -> Array:
    """(n, D) rows of unit length in float64."""
    rows: Array = F.normalize(embedding[nodes.to(embedding.device)].cpu().double()).numpy()
    return rows


def _applied(ask: Callable[[Array], Array], embedding: Tensor, nodes: Tensor) -> Array:
    """What a model says of some nodes, in parts."""
    parts = torch.split(nodes, max(1, _BLOCK // embedding.size(1)))
    return np.concatenate([ask(unit_rows(embedding, part)) for part in parts])
