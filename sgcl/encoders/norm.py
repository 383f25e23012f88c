"""Batch norm over the nodes whose averages are right from the first step on."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.errors import InputError


class BatchNorm(nn.BatchNorm1d):
    """Columns standardised over the nodes of a batch, then scaled and shifted; outside training by running averages.

    Call n moves the averages by max(1 / n, ``momentum``). With a fixed share they would long remember the variance
    of 1 that they begin with, which is far from that of a layer on normalised features.

    Args:
        width: D, the number of columns.
        momentum: how much of the averages a call replaces in the long run.
    """

    def __init__(self, width: int, momentum: float = 0.01) -> None:
        super().__init__(width)
        self.least = momentum
        self.noted: list[Tensor] | None = None  # where the averages shall wait: (2, D) mean and variance of each call

    def forward(self, h: Tensor) -> Tensor:
        """(N, D) gives (N, D)."""
        if self.training:
            if len(h) < 2:
                raise InputError("batch norm: a batch of one node has no spread: draw larger batches")
            if self.noted is not None:
                seen = h.new_zeros(2, h.size(1))
                self.noted.append(seen)
                return F.batch_norm(h, seen[0], seen[1], self.weight, self.bias, True, 1.0, self.eps)
            self.momentum = self._share()
        return super().forward(h)

    @torch.no_grad()
    def follow(self, seen: Tensor) -> None:
        """Move the averages by the (2, D) mean and variance that a call noted, here or in another process."""
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        share = self._share()
        for average, value in zip((self.running_mean, self.running_var), seen.to(self.running_mean), strict=True):
            average.mul_(1 - share).add_(value, alpha=share)
        self.num_batches_tracked += 1

    def _share(self) -> float:
        assert self.num_batches_tracked is not None
        return max(1 / (1 + int(self.num_batches_tracked)), self.least)
