"""PageRank smoothing: where a random walk stands that now and then restarts (Page et al., 1999; beyond SGCL)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from sgcl.errors import InputError
from sgcl.smoothing.base import Smoothing, check_prune
from sgcl.smoothing.walks import series_error, series_tail, walk_series


@dataclass(frozen=True)
class PageRank(Smoothing):
    """P = alpha (I - (1 - alpha) T)^-1 = alpha sum_k (1 - alpha)^k T^k, with T = D^-1 A.

    Row i is the personalised PageRank of node i.

    Args:
        alpha: the probability to restart, at each hop.
        prune: entries below it are dropped from every power of T and from their sum, and the series stops once the
            coefficients left sum to less; :meth:`error_bound` says what that costs. No row keeps more than 1 / prune
            entries. 0 keeps everything and is refused where memory may not hold it.
        symmetric: the same with D^-1/2 A D^-1/2 for T, D^1/2 P D^-1/2.
    """

    alpha: float = 0.15
    prune: float = 0.005
    symmetric: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.alpha < 1.0:
            raise InputError(f"PageRank: alpha is {self.alpha}, expected a restart probability in (0, 1)")
        check_prune("PageRank", self.prune)

    def filter(self, adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return walk_series("PageRank", adj, self._series()[0], self.prune, self.symmetric, self.most)

    def error_bound(self) -> float:
        """No entry off the diagonal is further than this below the exact one, and none above it, but for rounding to
        float32. About prune / alpha, plus what the series leaves out, itself less than ``prune`` (1e-8 without
        pruning)."""
        return series_error(*self._series(), self.prune)

    def _series(self) -> tuple[np.ndarray, float]:
        """(K + 1,) the coefficients, and the sum (1 - alpha)^(K + 1) of those left out."""
        terms = max(1, math.ceil(math.log(series_tail(self.prune)) / math.log1p(-self.alpha)))
        return self.alpha * (1 - self.alpha) ** np.arange(terms), (1 - self.alpha) ** terms
