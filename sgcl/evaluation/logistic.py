"""Logistic regression with an L2 penalty, to convergence, along a path of penalties: multinomial, or task by task."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.special

Array = np.ndarray[Any, Any]

_TOLERANCE = 1e-6     # largest entry of the preconditioned gradient at which a fit counts as converged
_MAX_STEPS = 10_000   # an end for hopeless fits; 5 to 200 steps are usual


@dataclass(frozen=True)
class Logistic:
    """A fitted model: column k has the score <w_k, x> + b_k.

    Args:
        weight: (D, K).
        bias: (K,).
        C: the inverse strength of the penalty.
        converged: whether the fit reached its tolerance.
        classes: (K,) the label of each column; ``None`` where a column is a task of its own, its score the log-odds.
    """

    weight: Array
    bias: Array
    C: float
    converged: bool
    classes: Array | None = None

    def predict(self, x: Array) -> Array:
        """(n,) labels for (n, D) rows; (n, K) 0 or 1 of K tasks."""
        score = x @ self.weight + self.bias
        chosen: Array = (score > 0).astype(np.int64) if self.classes is None else self.classes[score.argmax(1)]
        return chosen

    def scores(self, x: Array) -> Array:
        """(n,) log-odds of the second of two classes, for (n, D) rows; (n, K) of K tasks."""
        score: Array = x @ self.weight + self.bias
        return score if self.classes is None else score[:, 1] - score[:, 0]


def logistic_path(x: Array, y: Array, strengths: Iterable[float]) -> Iterator[Logistic]:
    """The minimiser of ½||W||² + C Σ_i (log Σ_k exp(<w_k, x_i> + b_k) - <w_{y_i}, x_i> - b_{y_i}), for each C in turn.

    It is scikit-learn's ``LogisticRegression`` (for two classes: with C doubled), found in fewer steps. The rows are
    centred, which moves the bias alone, and written in the eigenvectors of their second moments, inside their span,
    which moves nothing. There the curvature is nearly diagonal, s_j p (1 - p) + 1 / (n C) for the moment s_j, so
    L-BFGS on coordinates scaled by its root needs few steps, whatever the scales of the columns. Each fit starts from
    the one before.

    Args:
        x: (n, D) float64 rows.
        y: (n,) labels, of two or more classes.
        strengths: values of C; ascending ones are quickest.
    """
    classes, target = np.unique(y, return_inverse=True)
    centre = x.mean(0)                                                     # (D,)
    z, basis, moment = _rotate(x - centre)                                 # (n, R), (D, R), (R,)
    curvature = (1 - 1 / len(classes)) / len(classes)                      # p (1 - p) of a coin with K sides
    fitted = np.zeros((z.shape[1] + 1, len(classes)))                      # the bias last
    for strength in strengths:
        penalty = 1 / (len(x) * strength)
        scale = np.append(1 / np.sqrt(curvature * moment + penalty), 1 / np.sqrt(curvature))[:, None]  # (R + 1, 1)
        fitted, converged = _minimised(_loss, fitted, z, target, scale, penalty)
        weight = basis @ fitted[:-1]                                       # (D, K)
        yield Logistic(weight, fitted[-1] - centre @ weight, float(strength), converged, classes)


def task_path(x: Array, y: Array, strengths: Iterable[float]) -> Iterator[Logistic]:
    """The minimiser of ½||w_t||² + C Σ_i log(1 + exp(-s_it (<w_t, x_i> + b_t))) for each task t, for each C in turn.

    s_it is 1 or -1 for a label of 1 or 0; nodes without a label (-1) are left out of the sum. It is scikit-learn's
    ``LogisticRegression`` for each task, all of them found at once, the way :func:`logistic_path` does. A task whose
    labels are all the same gets the weight 0.

    Args:
        x: (n, D) float64 rows.
        y: (n, T) labels, 0, 1 or -1.
        strengths: values of C; ascending ones are quickest.
    """
    known = y >= 0
    ones, count = (y == 1).sum(0), known.sum(0)                            # (T,)
    both = (ones > 0) & (ones < count)
    rate = ones[both] / count[both]
    sign = np.where(known[:, both], np.where(y[:, both] == 1, 1.0, -1.0), 0.0)                 # (n, T)
    centre = x.mean(0)
    z, basis, moment = _rotate(x - centre)                                 # (n, R), (D, R), (R,)
    curvature = rate * (1 - rate) * count[both] / len(x)                   # (T,)
    fitted = np.zeros((z.shape[1] + 1, int(both.sum())))                   # the bias last
    fitted[-1] = np.log(rate / (1 - rate))
    for strength in strengths:
        penalty = 1 / (len(x) * strength)
        scale = 1 / np.sqrt(np.vstack([np.outer(moment, curvature) + penalty, curvature]))     # (R + 1, T)
        fitted, converged = _minimised(_task_loss, fitted, z, sign, scale, penalty)
        weight, bias = np.zeros((x.shape[1], y.shape[1])), np.where(ones > 0, 1.0, -1.0)
        weight[:, both] = basis @ fitted[:-1]
        bias[both] = fitted[-1] - centre @ weight[:, both]
        yield Logistic(weight, bias, float(strength), converged)


def _rotate(x: Array) -> tuple[Array, Array, Array]:
    """Rows in an orthonormal basis of their span that makes the columns uncorrelated; the basis; the second moments."""
    span = np.linalg.qr(x.T)[0] if len(x) < x.shape[1] else None           # (D, n)
    z = x if span is None else x @ span
    moment, rotation = scipy.linalg.eigh(z.T @ z / len(z))
    return z @ rotation, rotation if span is None else span @ rotation, np.maximum(moment, 0)


def _minimised(loss: Callable[..., tuple[float, Array]], start: Array, z: Array, target: Array, scale: Array,
               penalty: float) -> tuple[Array, bool]:
    """The parameters (R + 1, K) at which the loss is least, and whether the search reached its tolerance."""
    found = scipy.optimize.minimize(loss, (start / scale).ravel(), (z, target, scale, penalty), method="L-BFGS-B",
                                    jac=True, options={"gtol": _TOLERANCE, "ftol": 0.0, "maxiter": _MAX_STEPS,
                                                       "maxfun": 2 * _MAX_STEPS})
    return found.x.reshape(start.shape) * scale, bool(found.success)


def _loss(scaled: Array, z: Array, target: Array, scale: Array, penalty: float) -> tuple[float, Array]:
    """The mean loss plus penalty / 2 ||W||², and its gradient, in scaled coordinates (R + 1, K), the bias last."""
    parameters = scaled.reshape(len(scale), -1) * scale
    weight, each = parameters[:-1], np.arange(len(z))
    score = z @ weight + parameters[-1]                                    # (n, K)
    score -= score.max(1, keepdims=True)
    at_target = score[each, target]
    probability = np.exp(score, out=score)
    total = probability.sum(1, keepdims=True)
    probability /= total
    value = np.log(total).mean() - at_target.mean() + penalty / 2 * np.square(weight).sum()
    probability[each, target] -= 1
    probability /= len(z)
    gradient = np.vstack([z.T @ probability + penalty * weight, probability.sum(0)])
    return float(value), (gradient * scale).ravel()


def _task_loss(scaled: Array, z: Array, sign: Array, scale: Array, penalty: float) -> tuple[float, Array]:
    """The sum over tasks of the mean loss plus penalty / 2 ||w||², and its gradient, as :func:`_loss` has them."""
    parameters = scaled.reshape(scale.shape) * scale
    weight = parameters[:-1]
    margin = sign * (z @ weight + parameters[-1])                          # (n, T)
    value = (np.abs(sign) * np.logaddexp(0, -margin)).sum() / len(z) + penalty / 2 * np.square(weight).sum()
    pull = sign * scipy.special.expit(-margin) / -len(z)                   # (n, T)
    gradient = np.vstack([z.T @ pull + penalty * weight, pull.sum(0)])
    return float(value), (gradient * scale).ravel()
