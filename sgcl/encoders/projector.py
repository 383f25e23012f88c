"""The head that contrastive losses are taken behind."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.errors import InputError


class Projector(nn.Module):
    """z = W2 ELU(W1 h + b1) + b2.

    Args:
        channels: D, the width of h and of z.
        hidden_channels: the width in between; D unless given.
    """

    def __init__(self, channels: int, hidden_channels: int | None = None) -> None:
        super().__init__()
        between = channels if hidden_channels is None else hidden_channels
        if between < 1:
            raise InputError(f"Projector: hidden_channels is {between}, expected at least 1")
        self.first, self.second = nn.Linear(channels, between), nn.Linear(between, channels)

    def forward(self, h: Tensor) -> Tensor:
        """(N, D) gives (N, D)."""
        z: Tensor = self.second(F.elu(self.first(h)))
        return z
