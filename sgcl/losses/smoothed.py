"""The smoothed contrastive loss over all N² pairs, exact, in time and memory linear in N.

Behmanesh and Ovsjanikov, *Smoothed Graph Contrastive Learning via Seamless Proximity Integration*.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.sparse import CSR, sddmm

Similarity = Literal["cosine", "correlation"]
Terms = Literal["both", "positive", "negative"]

_TINY = 1e-12    # rows shorter than this count as zero
_ROWS = 1 << 15  # rows whose Gram matrix is summed in the input's precision before it joins the wider total


def smoothed_contrastive_loss(h1: Tensor, h2: Tensor, positives12: CSR, positives21: CSR, *,
                              negative_weight: float | None = None, similarity: Similarity = "cosine",
                              terms: Terms = "both") -> Tensor:
    r"""Half the sum of both directions, (L(1,2) + L(2,1)) / 2, with

    .. math:: L(1,2) = ||P * (1 - C)||_F^2 + \lambda ||(1 - P) * C||_F^2, \quad c_{ij} = a <u_i, v_j> + b.

    P is sparse, so all pairs outside it enter through two D x D Gram matrices:

    .. math::
        \sum_{ij} c_{ij}^2 = a^2 <U^T U, V^T V> + 2ab <U^T 1, V^T 1> + b^2 N^2

        L(1,2) = \sum_{(i,j) \in P} [p^2 (1-c)^2 + \lambda ((1-p)^2 - 1) c^2] + \lambda \sum_{ij} c_{ij}^2

    which is no approximation. Time O(N D² + nnz(P) D), memory O(N D + nnz(P)).

    Args:
        h1, h2: (N, D) embeddings of the two views.
        positives12: (N, N) P for the direction 1 to 2: rows are nodes of view 1, columns nodes of view 2.
        positives21: (N, N) the same for 2 to 1.
        negative_weight: lambda; 1/(2N) for cosine and 1/N for correlation unless given.
        similarity: ``"cosine"``, a = b = 1/2 on normalised rows; ``"correlation"``, a = 1/D, b = 0 on columns
            standardised over the batch.
        terms: ``"positive"`` or ``"negative"`` keeps one of the two norms, for ablation.
    """
    _check(h1, h2, positives12, positives21, similarity, terms)
    num_nodes, width = h1.shape
    if similarity == "cosine":
        u, v, a, b = _unit_rows(h1), _unit_rows(h2), 0.5, 0.5              # (N, D)
        default_weight = 1 / (2 * num_nodes)
    else:
        u, v, a, b = _standardise(h1), _standardise(h2), 1 / width, 0.0    # (N, D)
        default_weight = 1 / num_nodes
    weight = default_weight if negative_weight is None else negative_weight
    forth = _listed_pairs(u, v, positives12, a, b, weight, terms)
    back = _listed_pairs(v, u, positives21, a, b, weight, terms)
    total = (forth + back) / 2
    if terms != "positive":
        total = total + weight * _all_pairs(u, v, a, b)
    return total.to(h1.dtype)


def _listed_pairs(u: Tensor, v: Tensor, positives: CSR, a: float, b: float, weight: float, terms: Terms) -> Tensor:
    """The sum over the entries of P, () in the wide type."""
    p = positives.values().to(u.dtype)                                     # (nnz,)
    c = a * sddmm(positives, u, v) + b                                     # (nnz,)
    cost = torch.zeros_like(c)
    if terms != "negative":
        cost = cost + (p * (1 - c)).square()
    if terms != "positive":
        cost = cost + weight * ((1 - p).square() - 1) * c.square()
    return torch.sum(cost, dtype=_wide(cost))


def _all_pairs(u: Tensor, v: Tensor, a: float, b: float) -> Tensor:
    """The sum of c_ij² over all N² pairs, () in the wide type."""
    total: Tensor = _AllPairs.apply(u, v, a, b)
    return total


class _AllPairs(torch.autograd.Function):
    """Forward: two Gram products. Backward: dU = 2a² U (VᵀV) + 2ab 1 (Vᵀ1)ᵀ, and the same for V."""

    @staticmethod
    def forward(ctx: Any, u: Tensor, v: Tensor, a: float, b: float) -> Tensor:
        gram_u, gram_v = _gram(u), _gram(v)                                # (D, D) in the wide type
        sum_u, sum_v = u.sum(0, dtype=_wide(u)), v.sum(0, dtype=_wide(v))  # (D,)
        ctx.save_for_backward(u, v, gram_u.to(u.dtype), gram_v.to(u.dtype), sum_u.to(u.dtype), sum_v.to(u.dtype))
        ctx.a, ctx.b = a, b
        return a * a * (gram_u * gram_v).sum() + 2 * a * b * (sum_u * sum_v).sum() + b * b * len(u) * len(v)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        u, v, gram_u, gram_v, sum_u, sum_v = ctx.saved_tensors
        grad = grad_outputs[0].to(u.dtype)
        square, cross = 2 * ctx.a**2 * grad, 2 * ctx.a * ctx.b * grad
        grad_u = torch.addmm(cross * sum_v, u, square * gram_v) if ctx.needs_input_grad[0] else None
        grad_v = torch.addmm(cross * sum_u, v, square * gram_u) if ctx.needs_input_grad[1] else None
        return grad_u, grad_v, None, None


def _gram(u: Tensor) -> Tensor:
    """UᵀU, (D, D), block by block with a wide total: float32 sums over millions of rows would lose digits."""
    total = torch.zeros(u.size(1), u.size(1), dtype=_wide(u), device=u.device)
    for block in u.split(_ROWS):
        total += block.T @ block
    return total


def _wide(x: Tensor) -> torch.dtype:
    """The type of sums: float64, where the device has it."""
    return torch.float32 if x.device.type == "mps" else torch.float64


def _unit_rows(h: Tensor) -> Tensor:
    """h_i / ||h_i||; a row of zeros stays one, and gets no gradient (the quotient would make it infinite)."""
    rows: Tensor = _UnitRows.apply(h)
    return rows


class _UnitRows(torch.autograd.Function):
    """Backward: (g - u <u, g>) / ||h||, in three sweeps."""

    @staticmethod
    def forward(ctx: Any, h: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(h, dim=1, keepdim=True)            # (N, 1)
        inverse = torch.where(norm > _TINY, 1 / norm, 0.0)
        u = h * inverse
        ctx.save_for_backward(u, inverse)
        return u

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> Tensor:
        (grad,), (u, inverse) = grad_outputs, ctx.saved_tensors
        along = torch.linalg.vecdot(grad, u)[:, None]                      # (N, 1)
        return torch.addcmul(grad, u, along, value=-1).mul_(inverse)


def _standardise(h: Tensor) -> Tensor:
    return (h - h.mean(0)) / (h.std(0) + 1e-5)


def _check(h1: Tensor, h2: Tensor, positives12: CSR, positives21: CSR, similarity: str, terms: str) -> None:
    if h1.dim() != 2 or h1.shape != h2.shape:
        raise InputError(f"smoothed_contrastive_loss: embeddings have shapes {tuple(h1.shape)} and {tuple(h2.shape)}, "
                         "expected the same (N, D) twice")
    for name, positives in (("positives12", positives12), ("positives21", positives21)):
        if positives.shape != (len(h1), len(h1)):
            raise InputError(f"smoothed_contrastive_loss: {name} has shape {positives.shape}, expected (N, N) = "
                             f"({len(h1)}, {len(h1)}); smooth the same sub-graph that was encoded")
    if similarity not in ("cosine", "correlation"):
        raise InputError(f"smoothed_contrastive_loss: similarity is {similarity!r}, expected 'cosine' or 'correlation'")
    if terms not in ("both", "positive", "negative"):
        raise InputError(f"smoothed_contrastive_loss: terms is {terms!r}, expected 'both', 'positive' or 'negative'")
