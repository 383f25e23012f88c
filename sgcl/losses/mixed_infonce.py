"""InfoNCE with further negatives, mixed from the heaviest of each anchor: exact, in memory linear in N.

Xia et al., *ProGCL: Rethinking Hard Negative Mining in Graph Contrastive Learning*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sgcl.errors import InputError
from sgcl.losses.infonce import Weights, check_temperature, check_views, unit_rows

_ROWS = 256    # anchors at a time
_TINY = 1e-12  # smaller weights count as this, so that two of them have a mean


def mixed_info_nce(z1: Tensor, z2: Tensor, *, weights: Weights, order: Tensor, temperature: float = 0.5) -> Tensor:
    r"""As :func:`~sgcl.losses.infonce.info_nce` without weights, and for each anchor M more terms in q.

    Of the cosines s_ik = <u_i, v_k>, k other than i, those of the M largest weights are taken, s_(1) to s_(M); with
    w_(m) and another of them, m' = order[m], the further terms are

    .. math:: \sum_m \exp\Big( \frac{w_{(m)} s_{(m)} + w_{(m')} s_{(m')}}{\tau (w_{(m)} + w_{(m')})} \Big)

    and the same for the rows of view 2 with w_ki. The weights get no gradient. A block of anchors at a time, its
    gradient taken at once. Time O(N² (D + log M)), memory O(N D) and a block of fixed height.

    Args:
        z1, z2: (N, D) projections of the two views.
        weights: what (u_i, v_k) weighs: from the slices I and K to an (n, m) matrix of numbers of at least 0.
        order: (M,) a permutation of 0 to M - 1, M below N.
        temperature: tau, at least 0.02.
    """
    check_views("mixed_info_nce", z1, z2)
    check_temperature("mixed_info_nce", temperature)
    if len(order) >= len(z1):
        raise InputError(f"mixed_info_nce: order has {len(order)} entries, but an anchor of {len(z1)} nodes has "
                         f"{len(z1) - 1} negatives; give at most as many")

    def cost(rows: slice, u: Tensor, v: Tensor) -> Tensor:
        everyone = slice(0, len(u))
        forth = _cost(rows, u, v, weights(rows, everyone), order, temperature)
        return forth + _cost(rows, v, u, weights(everyone, rows).T, order, temperature)

    loss: Tensor = _Blockwise.apply(cost, unit_rows(z1), unit_rows(z2))
    return loss / (2 * len(z1))


def mixed_cosines(cosines: Tensor, weight: Tensor, itself: Tensor, order: Tensor) -> Tensor:
    """(n, M) the means, by weight, of the cosines of each anchor's M heaviest and, in that order, of others of them.

    Args:
        cosines: (n, N) of the anchors with all.
        weight: (n, N) of at least 0; gets no gradient.
        itself: (n, N) true where an anchor meets itself.
        order: (M,) a permutation.
    """
    top = weight.masked_fill(itself, -1).topk(len(order))                  # (n, M)
    chosen, pull = cosines.gather(1, top.indices), top.values.clamp(min=_TINY)
    return (chosen * pull + chosen[:, order] * pull[:, order]) / (pull + pull[:, order])


def _cost(rows: slice, a: Tensor, b: Tensor, weight: Tensor, order: Tensor, temperature: float) -> Tensor:
    """The sum of log((p + q) / p) over some anchors of view a; their (n, N) weights are ranked."""
    cross, own = a[rows] @ b.T, a[rows] @ a.T                              # (n, N)
    itself = torch.zeros_like(cross, dtype=torch.bool)
    itself.diagonal(rows.start).fill_(True)
    mixed = mixed_cosines(cross, weight, itself, order)                    # (n, M)
    terms = [(cosines / temperature).exp().sum(1) for cosines in (cross, own.masked_fill(itself, -torch.inf), mixed)]
    total = torch.stack(terms).sum(0)                                      # (n,)
    return (total.log() - cross.diagonal(rows.start) / temperature).sum()


class _Blockwise(torch.autograd.Function):
    """The sum of cost(rows, u, v) over blocks of rows. Each block's gradient is taken as soon as its cost is known, so
    that what one block holds is freed before the next."""

    @staticmethod
    def forward(ctx: Any, cost: Callable[[slice, Tensor, Tensor], Tensor], u: Tensor, v: Tensor) -> Tensor:
        leaves = [part.detach().requires_grad_() for part in (u, v)]
        total = u.new_zeros(())
        for start in range(0, len(u), _ROWS):
            with torch.enable_grad():
                part = cost(slice(start, min(start + _ROWS, len(u))), *leaves)
            part.backward()
            total += part.detach()
        ctx.save_for_backward(*(leaf.grad for leaf in leaves))
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[None, Tensor, Tensor]:
        first, second = ctx.saved_tensors
        return None, first * grad_outputs[0], second * grad_outputs[0]
