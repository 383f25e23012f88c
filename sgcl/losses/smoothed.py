"""The smoothed contrastive loss over all N² pairs, exact, in time and memory linear in N.

Behmanesh and Ovsjanikov, *Smoothed Graph Contrastive Learning via Seamless Proximity Integration*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sgcl.errors import InputError
from sgcl.sparse import CSR, sddmm, spmm, turned, union

Similarity = Literal["cosine", "correlation"]
Terms = Literal["both", "positive", "negative"]

_TINY = 1e-12     # rows shorter than this count as zero
_COLUMNS = 128    # of the Gram matrix at a time
_ROWS = 1 << 10   # rows at a time: what they touch should stay in a processor's cache
_NUMBERS = 1 << 19  # of a block of narrow rows


def smoothed_contrastive_loss(h1: Tensor, h2: Tensor, positives12: CSR, positives21: CSR, *,
                              negative_weight: float | None = None, similarity: Similarity = "cosine",
                              terms: Terms = "both", total: Callable[[Tensor], Tensor] | None = None) -> Tensor:
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
        total: where several processes hold some of the nodes each, sums a tensor over them: the loss is then that of
            all nodes, with their N, and each process gives its share and the whole gradient of its rows. Only the Gram
            matrices, column sums and N travel, no positives join nodes of two processes. With the cosine alone.
    """
    _check(h1, h2, positives12, positives21, similarity, terms)
    if total is not None and similarity != "cosine":
        raise InputError("smoothed_contrastive_loss: a total over processes goes with similarity 'cosine' alone")
    num_nodes, width = h1.shape
    if total is not None:
        num_nodes = int(total(torch.tensor(num_nodes, device=h1.device)))
    if similarity == "cosine":
        a, b, weight = 0.5, 0.5, 1 / (2 * num_nodes)
    else:
        a, b, weight = 1 / width, 0.0, 1 / num_nodes
        h1, h2 = _standardise(h1), _standardise(h2)                        # (N, D)
    weight = weight if negative_weight is None else negative_weight
    form = _Form(a, b, 0.0 if terms == "negative" else 1.0, 0.0 if terms == "positive" else weight,
                 unit=similarity == "cosine", nodes=num_nodes, total=total)
    loss: Tensor = _SmoothedLoss.apply(h1, h2, positives12, positives21, form)
    return loss


class _Form(NamedTuple):
    """c = a <u, v> + b, the weights of the two norms, whether rows are normalised, and what makes sums of all nodes."""

    a: float
    b: float
    pull: float
    push: float
    unit: bool
    nodes: int                                   # of all processes
    total: Callable[[Tensor], Tensor] | None


class _Side(NamedTuple):
    """One view as the loss needs it; u = h * inverse is made a block at a time."""

    h: Tensor                # (N, D)
    inverse: Tensor | None   # (N, 1) 1 / ||h||, where rows are normalised
    gram: Tensor             # (D, D) UᵀU
    total: Tensor            # (D,) Uᵀ1

    def rows(self, block: slice) -> Tensor:
        """(n, D) some rows of U."""
        return self.h[block] if self.inverse is None else self.h[block] * self.inverse[block]


class _SmoothedLoss(torch.autograd.Function):
    """Value and gradient a block of rows at a time, so that no further (N, D) array is held. While the neighbours of a
    block are in the cache, their products give m_ij = dL/d<u_i, v_j> of the listed pairs and these at once

        dU = M V + λ (2a² U VᵀV + 2ab 1 (Vᵀ1)ᵀ),   dh_i = (du_i - u_i <u_i, du_i>) / ||h_i||.

    The backward pass adds dV, the same with Mᵀ.
    """

    @staticmethod
    def forward(ctx: Any, h1: Tensor, h2: Tensor, positives12: CSR, positives21: CSR, form: _Form) -> Tensor:
        first, second = _side(h1.detach(), form.unit), _side(h2.detach(), form.unit)
        if form.total is not None:
            first, second = _of_all(first, second, form.total)
        pairs = union(positives12, positives21, h1.dtype)
        cost, slope, grad1 = _listed_pairs(first, second, pairs, form, ctx.needs_input_grad[0])
        everything = (form.a**2 * torch.dot(first.gram.view(-1), second.gram.view(-1))
                      + 2 * form.a * form.b * torch.dot(first.total, second.total)
                      + form.b**2 * form.nodes**2) * (len(h1) / form.nodes)
        ctx.form, ctx.slopes = form, pairs.with_values(slope)
        ctx.save_for_backward(*first, *second, grad1)
        return (cost / 2 + form.push * everything).to(h1.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        saved, (scale,) = ctx.saved_tensors, grad_outputs
        first, second, grad1, grad2 = _Side(*saved[:4]), _Side(*saved[4:8]), saved[8], None
        if ctx.needs_input_grad[1]:
            slopes, spread = turned(ctx.slopes), _spread(first, ctx.form)
            grad2 = torch.empty_like(second.h)
            for block in _blocks(second.h):
                _gradient(second, first, second.rows(block), slopes.rows(block), spread, block, out=grad2[block])
        if scale != 1:
            grad1, grad2 = (None if grad is None else grad * scale for grad in (grad1, grad2))
        return grad1, grad2, None, None, None


def _side(h: Tensor, unit: bool) -> _Side:
    """Norms, Gram matrix and column sums. A row of zeros stays one, and gets no gradient (the quotient would make it
    infinite). Sums are kept in a wide type: float32 over millions of rows would lose digits."""
    inverse, product = h.new_empty(len(h), 1) if unit else None, h.new_empty(h.size(1), h.size(1))
    side = _Side(h, inverse, h.new_zeros(product.shape, dtype=_wide(h)), h.new_zeros(h.size(1), dtype=_wide(h)))
    for block in _blocks(h, 4):  # few sums in the wide type
        if inverse is not None:
            norm = torch.linalg.vector_norm(h[block], dim=1, keepdim=True)  # (n, 1)
            inverse[block] = torch.where(norm > _TINY, 1 / norm, 0.0)
        u = side.rows(block)
        side.total.add_(u.sum(0))
        for start in range(0, h.size(1), _COLUMNS):  # UᵀU is symmetric: what lies below its diagonal is copied
            some = slice(start, start + _COLUMNS)
            torch.mm(u[:, some].T, u[:, start:], out=product[some, start:])
            product[start + _COLUMNS:, some] = product[some, start + _COLUMNS:].T
        side.gram.add_(product)
    return side


def _of_all(first: _Side, second: _Side, total: Callable[[Tensor], Tensor]) -> tuple[_Side, _Side]:
    """The sides with the sums over the rows of all processes: 2 (D² + D) numbers."""
    own = [part for side in (first, second) for part in (side.gram, side.total)]
    sums = total(torch.cat([part.view(-1) for part in own])).split([part.numel() for part in own])
    gram1, total1, gram2, total2 = (found.view_as(part) for found, part in zip(sums, own, strict=True))
    return first._replace(gram=gram1, total=total1), second._replace(gram=gram2, total=total2)


def _listed_pairs(own: _Side, other: _Side, pairs: CSR, form: _Form, needs_gradient: bool,
                  ) -> tuple[Tensor, Tensor, Tensor | None]:
    """The sum over the listed pairs of both directions, () in the wide type; half of its slope against each
    <u_i, v_j>, (nnz,); and, where needed, dL/dh of the view of the rows, (N, D)."""
    cost = own.h.new_zeros((), dtype=_wide(own.h))
    slope = own.h.new_empty(pairs.nnz)
    gradient, spread = torch.empty_like(own.h) if needs_gradient else None, _spread(other, form)
    done = 0
    for block in _blocks(own.h):
        u, part = own.rows(block), pairs.rows(block)
        p, q = part.values().unbind(1)                                     # (n,) twice, entries of the block
        c = sddmm(part, u, other.h)
        if other.inverse is not None:
            c *= other.inverse[:, 0].index_select(0, part.idx)
        c.mul_(form.a).add_(form.b)
        pull = form.pull * (p.square() + q.square())
        push = form.push * ((1 - p).square() + (1 - q).square() - 2)
        cost += (pull * (1 - c).square() + push * c.square()).sum()
        bent = torch.mul(push * c - pull * (1 - c), form.a, out=slope[done:done + part.nnz])
        done += part.nnz
        if gradient is not None:
            _gradient(own, other, u, part.with_values(bent), spread, block, out=gradient[block])
    return cost, slope, gradient


def _spread(other: _Side, form: _Form) -> tuple[Tensor, Tensor]:
    """What all pairs together add to the gradient: u_i times the first (D, D), plus the second (D,)."""
    return (other.gram.to(other.h.dtype) * (2 * form.push * form.a**2),
            other.total.to(other.h.dtype) * (2 * form.push * form.a * form.b))


def _gradient(own: _Side, other: _Side, u: Tensor, slopes: CSR, spread: tuple[Tensor, Tensor], block: slice, *,
              out: Tensor) -> None:
    """dL/dh of a block of one view, (n, D), from the slopes of its pairs."""
    if other.inverse is not None:
        slopes = slopes.with_values(slopes.values() * other.inverse[:, 0].index_select(0, slopes.idx))
    torch.mm(u, spread[0], out=out)
    out += spmm(slopes, other.h).add_(spread[1])
    if own.inverse is not None:
        out.addcmul_(u, torch.linalg.vecdot(out, u)[:, None], value=-1).mul_(own.inverse[block])


def _blocks(h: Tensor, times: int = 1) -> list[slice]:
    step = times * max(_ROWS, _NUMBERS // h.size(1)) * (1 if h.device.type == "cpu" else 64)
    step = max(-(-len(h) // max(round(len(h) / step), 1)), 1)  # blocks of one size, none of them a rest
    return [slice(start, min(start + step, len(h))) for start in range(0, len(h), step)]


def _wide(h: Tensor) -> torch.dtype:
    return torch.float32 if h.device.type == "mps" else torch.float64      # MPS has no float64


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
