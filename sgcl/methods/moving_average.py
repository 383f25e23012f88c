"""Slow copies: a target whose parameters are moving averages of those of the encoder that learns."""

from __future__ import annotations

import torch
from torch import nn


@torch.no_grad()
def follow(slow: nn.Module, fast: nn.Module, share: float) -> None:
    """phi <- phi + share (theta - phi), for the parameters phi of ``slow`` and theta of ``fast``; buffers stay."""
    for phi, theta in zip(slow.parameters(), fast.parameters(), strict=True):
        phi.lerp_(theta, share)
