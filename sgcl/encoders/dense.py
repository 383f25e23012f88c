"""A layer that looks at each node alone, for dense and sparse features."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sgcl.graph import Features


class DenseLayer(nn.Module):
    """H' = H W + b.

    Args:
        in_channels, out_channels: the widths of H and H'.
        bias: whether there is a b.
    """

    def __init__(self, in_channels: int, out_channels: int, *, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, out_channels)))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None

    def forward(self, x: Features) -> Tensor:
        """(N, F) features, dense or sparse, give (N, D)."""
        h = x @ self.weight                                                # (N, D)
        return h if self.bias is None else h + self.bias
