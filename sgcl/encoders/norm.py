"""Batch norm over the nodes whose averages are right from the first step on."""

from __future__ import annotations

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

    def forward(self, h: Tensor) -> Tensor:
        """(N, D) gives (N, D)."""
        if self.training:
            if len(h) < 2:
                raise InputError("batch norm: a batch of one node has no spread: draw larger batches")
            assert self.num_batches_tracked is not None
            self.momentum = max(1 / (1 + int(self.num_batches_tracked)), self.least)
        return super().forward(h)
