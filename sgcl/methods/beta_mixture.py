"""A mixture of two beta distributions, fitted by expectation and maximisation: which numbers are of the lower kind."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_EDGE = 1e-6   # how near to 0 and 1 a number may come


class BetaMixture(NamedTuple):
    """Numbers x in (0, 1), of kind 0 with probability share[0] and then by Beta(alpha[0], beta[0]), else of kind 1.

    As fitted, kind 0 is the one of the lower mean.
    """

    alpha: Tensor   # (2,)
    beta: Tensor    # (2,)
    share: Tensor   # (2,)

    @classmethod
    def fit(cls, x: Tensor, *, prior: float, iterations: int = 10) -> BetaMixture:
        """The mixture after so many rounds from Beta(1, 2) and Beta(2, 1), by moments in place of the likelihood.

        A round asks each x for the probability of its two kinds and, with these as weights, gives each kind the mean m
        and the variance s of its numbers: alpha = m (m (1 - m) / s - 1) and beta = alpha (1 - m) / m. A beta[1] below
        1, which would leave the upper kind no peak short of 1, becomes 1.01. O(n) for n numbers.

        Args:
            x: (n,) numbers in [0, 1].
            prior: the share of kind 1 to begin with.
            iterations: rounds.
        """
        x = x.cpu().double().clamp(_EDGE, 1 - _EDGE)
        mixture = cls(x.new_tensor([1.0, 2.0]), x.new_tensor([2.0, 1.0]), x.new_tensor([1 - prior, prior]))
        for _ in range(iterations):
            lower = mixture.lower(x)
            weight = torch.stack([lower, 1 - lower]).clamp(min=1e-12)      # (2, n)
            mean = (weight * x).sum(1) / weight.sum(1)                     # (2,)
            variance = (weight * (x - mean[:, None]).square()).sum(1) / weight.sum(1)
            alpha = mean * (mean * (1 - mean) / variance.clamp(min=1e-6) - 1)
            beta = alpha * (1 - mean) / mean
            beta[1] = torch.where(beta[1] < 1, 1.01, beta[1])
            mixture = cls(alpha, beta, weight.mean(1) / weight.mean(1).sum())
        mean = mixture.alpha / (mixture.alpha + mixture.beta)
        return mixture if mean[0] <= mean[1] else cls(*(part.flip(0) for part in mixture))

    def lower(self, x: Tensor) -> Tensor:
        """The probability that each x is of kind 0, in the shape and type of x."""
        x = x.clamp(_EDGE, 1 - _EDGE)
        scale = self.share.log() + (self.alpha + self.beta).lgamma() - self.alpha.lgamma() - self.beta.lgamma()  # (2,)
        a, b, c = (float(term[0] - term[1]) for term in (self.alpha, self.beta, scale))
        return x.log().mul_(a).add_((1 - x).log_(), alpha=b).add_(c).sigmoid_()

    def apart(self, x: Tensor) -> float:
        """How far the mean of the numbers x of kind 1 lies above that of kind 0; 0 or NaN where all are alike."""
        lower, x = self.lower(x.cpu().double()), x.cpu().double()
        return float(((1 - lower) * x).sum() / (1 - lower).sum() - (lower * x).sum() / lower.sum())
