"""PReLU that keeps its result alone, and whose backward pass on a CPU is several times faster than torch's own."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

_LEAST = 1e-6  # slopes up to this do not let x be told from the result


class PReLU(nn.Module):
    """max(x, 0) + slope min(x, 0), the slope learned, one for all columns; it begins at 0.25.

    Args:
        overwrite: the result may take the place of x, which nobody else needs.
    """

    def __init__(self, overwrite: bool = False) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor([0.25]))
        self.overwrite = overwrite

    def forward(self, x: Tensor) -> Tensor:
        if x.device.type != "cpu":
            return F.prelu(x, self.slope)
        activated: Tensor = _PReLU.apply(x, self.slope, self.overwrite)
        return activated


class _PReLU(torch.autograd.Function):
    """While the slope is above 0, the result y tells all about x: min(x, 0) = min(y, 0) / slope. It is what the next
    layer keeps as well, so that x need not be."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor, overwrite: bool) -> Tensor:
        ctx.of_result = float(slope) > _LEAST
        if overwrite and ctx.of_result:
            y = F.leaky_relu_(x, float(slope))
            ctx.mark_dirty(x)
        else:
            y = F.prelu(x, slope)
        ctx.save_for_backward(y if ctx.of_result else x, slope)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None]:
        (grad,), (kept, slope) = grad_outputs, ctx.saved_tensors
        below = kept.clamp(max=0).mul_(grad)
        grad_slope = below.sum().view(1)
        torch.ops.aten.leaky_relu_backward.grad_input(grad, kept, float(slope), ctx.of_result, grad_input=below)
        return below, grad_slope / slope if ctx.of_result else grad_slope, None
