"""Dropout for dense and sparse features, whose mask is one byte an entry and, on a CPU, drawn several at a time."""

from __future__ import annotations

from typing import Any, overload

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import check_rate
from sgcl.graph import Features

_CHANCES = 1 << 16  # that an entry has
_WORD = 4           # chances that one random number has bits for


@overload
def dropout(x: Tensor, p: float, training: bool) -> Tensor: ...


@overload
def dropout(x: Features, p: float, training: bool) -> Features: ...


def dropout(x: Features, p: float, training: bool) -> Features:
    """Each entry goes with probability ``p``, the others are scaled by 1 / (1 - p); a zero stays one, so that of sparse
    features only the entries are drawn for. On a CPU, p is rounded to a multiple of 1 / 65,536."""
    check_rate("dropout", "p", p)
    if p == 0 or not training:
        return x
    if isinstance(x, Tensor):
        return F.dropout(x, p) if x.device.type != "cpu" else _Dropout.apply(x, p)  # type: ignore[no-any-return]
    _ = x.matrix.perm  # worked out once, for all that is made of these features
    return x.scale_entries(dropout(x.matrix.values().new_ones(x.matrix.nnz), p, training))


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:
        gone = min(round(p * _CHANCES), _CHANCES - 1)
        words = torch.empty(-(-x.numel() // _WORD), dtype=torch.long).random_(-(1 << 63), None)
        kept = (words.view(torch.int16)[:x.numel()] >= gone - _CHANCES // 2).view(x.shape)
        ctx.scale = 0.0 if p == 1 else _CHANCES / (_CHANCES - gone)
        ctx.save_for_backward(kept)
        return (x * kept).mul_(ctx.scale)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return (grad_outputs[0] * kept).mul_(ctx.scale), None
