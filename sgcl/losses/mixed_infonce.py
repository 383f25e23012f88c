"""InfoNCE with further negatives, mixed from the heaviest of each anchor: exact, in memory linear in N.

Xia et al., *ProGCL: Rethinking Hard Negative Mining in Graph Contrastive Learning*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sgcl.errors import InputError
from sgcl.losses.infonce import Weights, anchor_losses, check_temperature, check_views, unit_rows
from sgcl.sparse import CSR, sddmm

_PAIRS = 1 << 20   # at a time
_TINY = 1e-12      # smaller weights count as this, so that two of them have a mean


class Heaviest(NamedTuple):
    """For each anchor the M others of the other view that weigh most, columns ascending, with their weights."""

    forth: CSR   # (N, N) for the rows of view 1
    back: CSR    # (N, N) for the rows of view 2


@torch.no_grad()
def heaviest(weights: Weights, num_nodes: int, count: int) -> Heaviest:
    """Rank all pairs by weight, a block of anchors at a time: memory O(N M).

    Args:
        weights: what (u_i, v_k) weighs: from the slices I and K to an (n, m) matrix of numbers of at least 0.
        num_nodes: N.
        count: M, below N.
    """
    if count >= num_nodes:
        raise InputError(f"heaviest: count is {count}, but an anchor of {num_nodes} nodes has {num_nodes - 1} "
                         "negatives; ask for at most as many")
    everyone = slice(0, num_nodes)
    return Heaviest(_ranked(lambda rows: weights(rows, everyone), num_nodes, count),
                    _ranked(lambda rows: weights(everyone, rows).T, num_nodes, count))


def mixed_info_nce(z1: Tensor, z2: Tensor, *, pairs: Heaviest, order: Tensor, temperature: float = 0.5) -> Tensor:
    r"""As :func:`~sgcl.losses.infonce.info_nce` without weights, and for each anchor M more terms in q.

    Of the cosines s_ik = <u_i, v_k>, k other than i, those of the M largest weights are taken, s_(1) to s_(M) by
    ascending k; with w_(m) and another of them, m' = order[m], the further terms are

    .. math:: \sum_m \exp\Big( \frac{w_{(m)} s_{(m)} + w_{(m')} s_{(m')}}{\tau (w_{(m)} + w_{(m')})} \Big)

    and the same for the rows of view 2 with w_ki. The weights get no gradient. Further terms are made a block of
    anchors at a time, and again in the backward. Time O(N² D + N M D), memory O(N D) and a block of fixed size.

    Args:
        z1, z2: (N, D) projections of the two views.
        pairs: what :func:`heaviest` gave of the weights.
        order: (M,) a permutation of 0 to M - 1.
        temperature: tau, at least 0.02.
    """
    check_views("mixed_info_nce", z1, z2)
    check_temperature("mixed_info_nce", temperature)
    if pairs.forth.nnz != len(z1) * len(order):
        raise InputError(f"mixed_info_nce: order has {len(order)} entries, but {pairs.forth.nnz} pairs are given for "
                         f"{len(z1)} anchors; give as many for each as order has entries")
    u, v = unit_rows(z1), unit_rows(z2)
    further = torch.stack([_Further.apply(u, v, pairs.forth, order, temperature),
                           _Further.apply(v, u, pairs.back, order, temperature)])      # (2, N)
    further = further - torch.linalg.vecdot(u, v) / temperature
    return torch.logaddexp(anchor_losses(u, v, temperature=temperature), further).mean()


def mixed_cosines(cosines: Tensor, weight: Tensor, order: Tensor) -> Tensor:
    """(n, M) the means, by weight, of the cosines of each anchor's M heaviest and, in that order, of others of them.

    Args:
        cosines: (n, M) of the anchors with their heaviest.
        weight: (n, M) of at least 0; gets no gradient.
        order: (M,) a permutation.
    """
    pull = weight.detach().clamp(min=_TINY)
    pulled = cosines * pull
    return (pulled + pulled.index_select(1, order)) / (pull + pull.index_select(1, order))


def _ranked(weigh: Callable[[slice], Tensor], num_nodes: int, count: int) -> CSR:
    """(N, N) the heaviest ``count`` of each row of a matrix that is made by rows; a diagonal entry is none of them."""
    value = weigh(slice(0, 0)).new_empty(num_nodes, count)                 # (N, M)
    idx = torch.empty_like(value, dtype=torch.int32)
    for rows in _blocks(num_nodes, num_nodes):
        weight = weigh(rows).clone(memory_format=torch.contiguous_format)  # (n, N)
        weight.diagonal(rows.start).fill_(-1)
        columns = weight.topk(count, sorted=False).indices.sort(1).values  # (n, M)
        idx[rows], value[rows] = columns, weight.gather(1, columns)
    ptr = torch.arange(num_nodes + 1, device=idx.device) * count
    return CSR(ptr, idx.view(-1), value.view(-1))


class _Further(torch.autograd.Function):
    """(N,) the logarithms of the sums of the further terms; what a block holds is freed before the next."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, pairs: CSR, order: Tensor, temperature: float) -> Tensor:
        ctx.save_for_backward(a, b)
        ctx.given = pairs, order, temperature
        return torch.cat([_further_of(a[rows], b, pairs.rows(rows), order, temperature)
                          for rows in _blocks(len(a), len(order))])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        (a, b), (pairs, order, temperature) = ctx.saved_tensors, ctx.given
        grad_a, grad_b = torch.empty_like(a), torch.zeros_like(b)
        for rows in _blocks(len(a), len(order)):
            own, other = a[rows].detach().requires_grad_(), b.detach().requires_grad_()
            with torch.enable_grad():
                terms = _further_of(own, other, pairs.rows(rows), order, temperature)
            grad_a[rows], grad = torch.autograd.grad(terms, (own, other), grad_outputs[0][rows])
            grad_b += grad
        return grad_a, grad_b, None, None, None


def _further_of(a: Tensor, b: Tensor, pairs: CSR, order: Tensor, temperature: float) -> Tensor:
    cosines = sddmm(pairs, a, b).view(len(a), -1)                          # (n, M)
    mixed = mixed_cosines(cosines, pairs.values().view(len(a), -1), order)
    return (mixed / temperature).logsumexp(1)


def _blocks(num_rows: int, width: int) -> list[slice]:
    step = max(1, _PAIRS // max(1, width))
    return [slice(start, min(start + step, num_rows)) for start in range(0, num_rows, step)]
