"""Logarithms of sums of exponentials: over all pairs of rows but some, and over groups of entries."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sgcl.sparse import CSR

_BLOCK = 1 << 20  # pairs at a time

_Gone = tuple[CSR, Tensor]


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


def both_logsumexps(u: Tensor, v: Tensor, *, temperature: float, without: CSR) -> tuple[Tensor, Tensor]:
    """:func:`pair_logsumexp` of u over v and of v over u, the same pairs of indices left out: each product is made once
    for both, in the backward too.

    Args:
        u, v: (N, D) rows of length 1.
        temperature: at least 0.02, for the exponentials are added up as they are.
        without: (N, N) the pairs (i, j) left out: of u_i with v_j, and of v_i with u_j.

    Returns:
        (N,), (N,)
    """
    forth, back = _BothLogSumExps.apply(u, v, temperature, without)
    return forth, back


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


class _BothLogSumExps(torch.autograd.Function):
    """With E = e^(u_I vᵀ / tau) for some rows I, its row sums are of u_I, and its columns are added up for v. With a
    and b the gradients over tau and over the sums, and S = a_I * (E without W) + (E without Wᵀ) * b, du_I = S v and
    dv += Sᵀ u_I."""

    @staticmethod
    def forward(ctx: Any, u: Tensor, v: Tensor, temperature: float, without: CSR) -> tuple[Tensor, Tensor]:
        wide = torch.float32 if u.device.type == "mps" else torch.float64  # MPS has no float64
        forth = torch.zeros(len(u), dtype=wide, device=u.device)           # (N,)
        back = torch.zeros_like(forth)
        for rows in _blocks(u, v):
            exponentials, gone = _exponentials(u, v, temperature, without.T, rows)
            back += exponentials.sum(0)
            forth[rows] = _turned(exponentials, gone, without.rows(rows)).sum(1)
        ctx.temperature, ctx.without = temperature, without
        ctx.save_for_backward(u, v, forth, back)
        return forth.log().to(u.dtype), back.log().to(u.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        u, v, *sums = ctx.saved_tensors
        a, b = ((grad / total / ctx.temperature).masked_fill(total == 0, 0.0).to(u.dtype)
                for grad, total in zip(grad_outputs, sums, strict=True))   # (N,)
        grad_u, grad_v = torch.empty_like(u), torch.zeros_like(v)
        for rows in _blocks(u, v):
            exponentials, gone = _exponentials(u, v, ctx.temperature, ctx.without.T, rows)
            slope = exponentials * b                                       # (n, N)
            slope += _turned(exponentials, gone, ctx.without.rows(rows)).mul_(a[rows, None])
            torch.mm(slope, v, out=grad_u[rows])
            grad_v.addmm_(slope.T, u[rows])
        return grad_u, grad_v, None, None


def _exponentials(u: Tensor, v: Tensor, temperature: float, without: CSR, rows: slice) -> tuple[Tensor, _Gone]:
    """(n, N) e^(u_I vᵀ / tau) with zeros for some pairs, and what stood there."""
    exponentials = (u[rows] @ v.T).div_(temperature).exp_()
    part = without.rows(rows)
    gone = part, exponentials[part.row, part.idx]
    exponentials[part.row, part.idx] = 0.0
    return exponentials, gone


def _turned(exponentials: Tensor, gone: _Gone, without: CSR) -> Tensor:
    """Zeros for other pairs than before, in place."""
    part, value = gone
    exponentials[part.row, part.idx] = value
    exponentials[without.row, without.idx] = 0.0
    return exponentials


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
