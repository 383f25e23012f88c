"""What looks at each node alone, for dense and sparse features: a dense layer, and dropout."""

from __future__ import annotations

import torch
import torch.nn.functional as F
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


def dropout(x: Features, p: float, training: bool) -> Features:
    """Each entry goes with probability ``p``, the others are scaled by 1 / (1 - p); a zero stays one, so that of sparse
    features only the entries are drawn for."""
    if p == 0 or not training:
        return x
    if isinstance(x, Tensor):
        return F.dropout(x, p)
    _ = x.matrix.perm  # worked out once, for all that is made of these features
    return x.scale_entries(F.dropout(x.matrix.values().new_ones(x.matrix.nnz), p))
