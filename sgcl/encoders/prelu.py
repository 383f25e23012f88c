"""PReLU with a backward pass of three sweeps: on a CPU several times faster than torch's own."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class PReLU(nn.Module):
    """max(x, 0) + slope min(x, 0), the slope learned, one for all columns; it begins at 0.25."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor([0.25]))

    def forward(self, x: Tensor) -> Tensor:
        if x.device.type != "cpu":
            return F.prelu(x, self.slope)
        activated: Tensor = _PReLU.apply(x, self.slope)
        return activated


class _PReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(x, slope)
        return F.prelu(x, slope)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor]:
        (grad,), (x, slope) = grad_outputs, ctx.saved_tensors
        grad_slope = (grad * x.clamp(max=0)).sum().view(1)
        return torch.ops.aten.leaky_relu_backward(grad, x, float(slope), False), grad_slope
