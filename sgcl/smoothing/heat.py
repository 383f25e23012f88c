"""Heat-kernel smoothing: where a random walk of random length ends (Kondor and Lafferty, 2002; beyond SGCL)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.special import gammainc, gammaln

from sgcl.smoothing.base import Smoothing, check_positive, check_prune
from sgcl.smoothing.walks import series_error, series_tail, walk_series


@dataclass(frozen=True)
class HeatKernel(Smoothing):
    """P = exp(-t (I - T)) = sum_k e^-t t^k / k! T^k, with T = D^-1 A and t = ``time``.

    Args:
        time: t, the mean number of hops.
        prune: entries below it are dropped from every power of T and from their sum, and the series stops once the
            coefficients left sum to less; :meth:`error_bound` says what that costs. No row keeps more than 1 / prune
            entries. 0 keeps everything and is refused where memory may not hold it.
        symmetric: the kernel of I - D^-1/2 A D^-1/2 instead, D^1/2 P D^-1/2.
    """

    time: float = 1.0
    prune: float = 0.005
    symmetric: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("HeatKernel", "time", self.time)
        check_prune("HeatKernel", self.prune)

    def filter(self, adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return walk_series("HeatKernel", adj, self._series()[0], self.prune, self.symmetric, self.most)

    def error_bound(self) -> float:
        """No entry off the diagonal is further than this below the exact kernel's, and none above it, but for
        rounding to float32. About prune (1 + t), plus what the series leaves out, itself less than ``prune`` (1e-8
        without pruning)."""
        return series_error(*self._series(), self.prune)

    def _series(self) -> tuple[np.ndarray, float]:
        """(K + 1,) the coefficients, Poisson's, and the sum of those left out."""
        k = np.arange(int(self.time + 20 * self.time**0.5) + 40, dtype=np.float64)
        beyond = gammainc(k + 1, self.time)                                # the sum of the coefficients after k
        last = int(np.argmax(beyond <= series_tail(self.prune)))
        k = k[:last + 1]
        return np.exp(k * np.log(self.time) - self.time - gammaln(k + 1)), float(beyond[last])
