"""Sums over random walks, sum_k c_k T^k, by powers that are pruned on the way, with a bound on the error."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from sgcl.smoothing.memory import check_memory, held, reach
from sgcl.smoothing.rows import (
    by_rows,
    degree_power,
    identity,
    product,
    pruned,
    random_walk,
    scaled,
    times,
)

_TAIL = 1e-8  # what even an unpruned series may leave out at its end


def walk_series(owner: str, adj: scipy.sparse.csr_array, coefficients: np.ndarray, prune: float, symmetric: bool,
                top: int | None = None) -> scipy.sparse.csr_array:
    """P = sum_k c_k T^k with T = D^-1 A, never more than it by rounding, and less by at most :func:`series_error`.

    The powers are R_0 = I, R_(k+1) = T R_k without its entries below ``prune``, and those of their sum below
    ``prune`` go too. Rows of T^k sum to 1, so no row of R_k or P has more than 1 / prune entries.

    Args:
        adj: (N, N) adjacency.
        coefficients: (K + 1,) c_0 to c_K, none negative, of a sum of at most 1.
        prune: the threshold; 0 keeps everything.
        symmetric: scale to D^1/2 P D^-1/2, the same series in D^-1/2 A D^-1/2. Of the two entries (i, j) and (j, i),
            which pruning sets apart, both get the larger: the one whose error the scaling shrinks is among them, so
            the bound holds here as well.
        top: where nothing is pruned, how many entries of a row are kept, the largest.
    """
    walk = random_walk(adj)
    if prune:
        positives = pruned(_pruned_sum(walk, coefficients, prune), prune)
    else:
        bound = reach(adj, len(coefficients) - 1)
        check_memory(f"{owner} with prune=0", held(bound, top), "prune > 0, e.g. prune=0.005")
        positives = by_rows(lambda rows: _sum_of_rows(walk, coefficients, rows), bound, top)
    if not symmetric:
        return positives
    positives = scaled(positives, degree_power(adj, 0.5), degree_power(adj, -0.5))
    return positives.maximum(positives.T.tocsr())


def series_error(coefficients: np.ndarray, tail: float, prune: float) -> float:
    """How far an entry of :func:`walk_series` may be below the infinite series.

    Entries below ``prune`` dropped from R_k are missed by T^m R_k, m >= 0, whose entries are averages of those of
    R_k: they cost less than prune (c_k + c_(k+1) + ...). Dropped from the sum, they cost less than prune, which is
    the same at k = 0. What is beyond K, the ``tail``, adds its own sum, as entries of T^k are at most 1:

        prune sum_(k=0..K) sum_(m >= k) c_m + sum_(m > K) c_m.
    """
    left = np.cumsum(coefficients[::-1])                                   # c_K, c_K + c_(K-1), ...
    return float(prune * (left + tail).sum() + tail)


def series_tail(prune: float) -> float:
    """The sum of coefficients a series may leave out at its end."""
    return max(prune, _TAIL)


def _pruned_sum(walk: scipy.sparse.csr_array, coefficients: np.ndarray, prune: float) -> scipy.sparse.csr_array:
    power = identity(walk.shape[0])
    total = coefficients[0] * power
    for coefficient in coefficients[1:]:
        power = product(walk, power, prune)
        if power.nnz == 0:
            break
        total = total + coefficient * power
    return total


def _sum_of_rows(walk: scipy.sparse.csr_array, coefficients: np.ndarray, rows: slice) -> scipy.sparse.csr_array:
    """A block of rows of the whole series; without pruning they do not need the others."""
    power = identity(walk.shape[0])[rows]
    total = coefficients[0] * power
    for coefficient in coefficients[1:]:
        power = times(power, walk)
        if isinstance(power, np.ndarray) and scipy.sparse.issparse(total):
            total = total.toarray()
        total = total + coefficient * power
    return pruned(total, 0.0)
