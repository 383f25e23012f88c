"""Logarithms of sums of exponentials: over all pairs of rows but some, and over groups of entries."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sgcl.sparse import CSR

_BLOCK = 1 << 20  # pairs at a time


def pair_logsumexp(u: Tensor, v: Tensor, *, temperature: float, without: CSR | None = None) -> Tensor:
    r"""For each row of u the logarithm of a softmax's denominator over the rows of v,

    .. math:: l_i = \log \sum_{j: (i, j) \notin W} \exp(<u_i, v_j> / \tau).

    A block of rows at a time; the backward makes every block again. Time O(N M D), memory O((N + M) D) and a block of
    fixed size. A row with no j left gives minus infinity, and no gradient.

    Args:
        u: (N, D).
        v: (M, D).
        temperature: tau.
        without: (N, M) the pairs W left out.

    Returns:
        (N,)
    """
    sums: Tensor = _PairLogSumExp.apply(u, v, temperature, without)
    return sums


def group_logsumexp(scores: Tensor, group: Tensor, num_groups: int) -> Tensor:
    """(num_groups,) log sum_e exp(score_e) over the entries e of each group; minus infinity for a group of none.

    Args:
        scores: (n,)
        group: (n,) the group of each.
        num_groups: how many groups there are.
    """
    top = scores.new_full((num_groups,), -torch.inf).scatter_reduce(0, group, scores.detach(), "amax")
    top = top.masked_fill(top.isinf(), 0.0)
    total = torch.zeros_like(top).index_add(0, group, (scores - top[group]).exp())
    return total.log() + top


class _PairLogSumExp(torch.autograd.Function):
    """With p_ij = exp(<u_i, v_j> / tau - l_i): du_i = g_i / tau sum_j p_ij v_j and dv_j = sum_i g_i / tau p_ij u_i."""

    @staticmethod
    def forward(ctx: Any, u: Tensor, v: Tensor, temperature: float, without: CSR | None) -> Tensor:
        sums = u.new_empty(len(u))
        for rows in _blocks(u, v):
            sums[rows] = _scores(u, v, temperature, without, rows).logsumexp(1)
        ctx.temperature, ctx.without = temperature, without
        ctx.save_for_backward(u, v, sums)
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        u, v, sums = ctx.saved_tensors
        grad = (grad_outputs[0] / ctx.temperature).masked_fill(sums.isinf(), 0.0)
        sums = sums.masked_fill(sums.isinf(), 0.0)
        grad_u, grad_v = torch.empty_like(u), torch.zeros_like(v)
        for rows in _blocks(u, v):
            share = _scores(u, v, ctx.temperature, ctx.without, rows).sub_(sums[rows, None]).exp_()  # (n, M)
            share.mul_(grad[rows, None])
            torch.mm(share, v, out=grad_u[rows])
            grad_v.addmm_(share.T, u[rows])
        return grad_u, grad_v, None, None


def _scores(u: Tensor, v: Tensor, temperature: float, without: CSR | None, rows: slice) -> Tensor:
    """(n, M) the exponents of some rows."""
    scores = (u[rows] @ v.T).div_(temperature)
    if without is not None:
        part = without.rows(rows)
        scores[part.row, part.idx] = -torch.inf
    return scores


def _blocks(u: Tensor, v: Tensor) -> list[slice]:
    step = max(1, _BLOCK // max(1, len(v)))
    return [slice(start, min(start + step, len(u))) for start in range(0, len(u), step)]
