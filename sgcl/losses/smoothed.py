"""The smoothed contrastive loss over all N² pairs, exact, in time and memory linear in N.

Behmanesh and Ovsjanikov, *Smoothed Graph Contrastive Learning via Seamless Proximity Integration*.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.sparse import CSR, rows_product, sddmm

Similarity = Literal["cosine", "correlation"]
Terms = Literal["both", "positive", "negative"]

_TINY = 1e-12     # rows shorter than this count as zero
_ROWS = 1 << 13   # rows at a time


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
        a, b, weight = 0.5, 0.5, 1 / (2 * num_nodes)
    else:
        a, b, weight = 1 / width, 0.0, 1 / num_nodes
        h1, h2 = _standardise(h1), _standardise(h2)                        # (N, D)
    weight = weight if negative_weight is None else negative_weight
    form = _Form(a, b, 0.0 if terms == "negative" else 1.0, 0.0 if terms == "positive" else weight,
                 unit=similarity == "cosine")
    loss: Tensor = _SmoothedLoss.apply(h1, h2, positives12, positives21, form)
    return loss


class _Form(NamedTuple):
    """c = a <u, v> + b, the weights of the two norms, and whether rows are normalised."""

    a: float
    b: float
    pull: float
    push: float
    unit: bool


class _Side(NamedTuple):
    """One view as the loss needs it."""

    rows: Tensor             # (N, D) u
    inverse: Tensor | None   # (N, 1) 1 / ||h||, where rows are normalised
    gram: Tensor             # (D, D) UᵀU
    total: Tensor            # (D,) Uᵀ1


class _SmoothedLoss(torch.autograd.Function):
    """Forward: two sets of sampled products, two Gram matrices. Backward, a block of rows at a time, so that no further
    (N, D) array is held: with m_ij = dL/d<u_i, v_j> over P12 and n_ij over P21,

        dU = M V + Nᵀ V + λ (2a² U VᵀV + 2ab 1 (Vᵀ1)ᵀ),   dh_i = (du_i - u_i <u_i, du_i>) / ||h_i||.
    """

    @staticmethod
    def forward(ctx: Any, h1: Tensor, h2: Tensor, positives12: CSR, positives21: CSR, form: _Form) -> Tensor:
        first, second = _side(h1, form.unit), _side(h2, form.unit)
        forth, slope12 = _listed_pairs(first.rows, second.rows, positives12, form)
        back, slope21 = _listed_pairs(second.rows, first.rows, positives21, form)
        everything = (form.a**2 * (first.gram * second.gram).sum() + 2 * form.a * form.b * (first.total * second.total
                      ).sum() + form.b**2 * len(h1) ** 2)
        ctx.form, ctx.positives = form, (positives12, positives21)
        ctx.save_for_backward(*first, *second, slope12, slope21)
        return ((forth + back) / 2 + form.push * everything).to(h1.dtype)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        saved, form = ctx.saved_tensors, ctx.form
        first, second, (slope12, slope21) = _Side(*saved[:4]), _Side(*saved[4:8]), saved[8:]
        positives12, positives21 = ctx.positives
        grad1 = grad2 = None
        if ctx.needs_input_grad[0]:
            grad1 = _gradient(first, second, positives12, slope12, positives21, slope21, form, grad_outputs[0])
        if ctx.needs_input_grad[1]:
            grad2 = _gradient(second, first, positives21, slope21, positives12, slope12, form, grad_outputs[0])
        return grad1, grad2, None, None, None


def _side(h: Tensor, unit: bool) -> _Side:
    """Rows, Gram matrix and column sums. A row of zeros stays one, and gets no gradient (the quotient would make it
    infinite). Sums are kept in a wide type: float32 over millions of rows would lose digits."""
    wide = torch.float32 if h.device.type == "mps" else torch.float64      # MPS has no float64
    rows, inverse = h.detach(), None
    if unit:
        norm = torch.linalg.vector_norm(rows, dim=1, keepdim=True)         # (N, 1)
        inverse = torch.where(norm > _TINY, 1 / norm, 0.0)
        rows = rows * inverse
    gram = torch.zeros(h.size(1), h.size(1), dtype=wide, device=h.device)
    total = torch.zeros(h.size(1), dtype=wide, device=h.device)
    for block in rows.split(_ROWS):
        gram += block.T @ block
        total += block.sum(0)
    return _Side(rows, inverse, gram, total)


def _listed_pairs(u: Tensor, v: Tensor, positives: CSR, form: _Form) -> tuple[Tensor, Tensor]:
    """The sum over the entries of P, () in the wide type, and half of its slope against each <u_i, v_j>, (nnz,)."""
    p = positives.values().to(u.dtype)                                     # (nnz,)
    c = form.a * sddmm(positives, u, v) + form.b                           # (nnz,)
    pull = form.pull * p.square()
    push = form.push * ((1 - p).square() - 1)
    cost = pull * (1 - c).square() + push * c.square()
    slope = form.a * (push * c - pull * (1 - c))
    return cost.sum(dtype=torch.float32 if u.device.type == "mps" else torch.float64), slope


def _gradient(own: _Side, other: _Side, forth: CSR, forth_slope: Tensor, back: CSR, back_slope: Tensor, form: _Form,
              grad: Tensor) -> Tensor:
    """dL/dh of one view, (N, D)."""
    dtype = own.rows.dtype
    back_slope, turned = back_slope[back.perm], back.with_values(None).T
    gram = (2 * form.push * form.a**2 * other.gram).to(dtype)              # (D, D)
    shift = (2 * form.push * form.a * form.b * other.total).to(dtype)      # (D,)
    out = torch.empty_like(own.rows)
    for start in range(0, len(out), _ROWS):
        rows = slice(start, start + _ROWS)
        u = own.rows[rows]
        du = torch.addmm(shift, u, gram)
        du += rows_product(forth, forth_slope, other.rows, rows)
        du += rows_product(turned, back_slope, other.rows, rows)
        if own.inverse is not None:
            du = torch.addcmul(du, u, torch.linalg.vecdot(du, u)[:, None], value=-1).mul_(own.inverse[rows])
        torch.mul(du, grad, out=out[rows])
    return out


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
