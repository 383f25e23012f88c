"""InfoNCE between two views, with negatives of both, over all N² pairs: exact, in memory linear in N.

Zhu et al., *Deep Graph Contrastive Representation Learning*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sgcl.errors import InputError

Weights = Callable[[slice, slice], Tensor]

_NODES = 512      # a tile holds the pairs of so many nodes with as many others, in both views
_COLDEST = 0.02   # below, N e^(1 / temperature) is soon no number in single precision
_TINY = 1e-30     # a mean weight of 0 divides as this


def info_nce(z1: Tensor, z2: Tensor, *, temperature: float = 0.5, weights: Weights | None = None,
             population: int | None = None) -> Tensor:
    r"""The mean of log(1 + q / p) over the 2N rows of both views, where for row i of view 1

    .. math::
        p = e^{<u_i, v_i> / \tau}, \quad
        q = \sum_{k \ne i} w_{ik} (e^{<u_i, v_k> / \tau} + e^{<u_i, u_k> / \tau})

    on rows u and v scaled to length 1, and for row i of view 2 the same with the views changed over, w_ki in place of
    w_ik. A row of zeros stays one, and gets no gradient.

    The 2N x 2N exponentials are walked through in square tiles, each pair once, and made again in the backward. Time
    O(N² D), memory O(N D).

    Args:
        z1, z2: (N, D) projections of the two views.
        temperature: tau, at least 0.02.
        weights: what (u_i, v_k) weighs: from the slices I and K to an (n, m) matrix of numbers of at least 0, asked for
            twice. Each anchor's weights are divided by their mean over its negatives; they get no gradient. All 1
            unless given.
        population: of how many nodes the N are a sample; q is scaled up to as many.
    """
    check_views("info_nce", z1, z2)
    check_temperature("info_nce", temperature)
    share = 1.0 if population is None else (population - 1) / (len(z1) - 1)
    losses: Tensor = _InfoNCE.apply(unit_rows(z1), unit_rows(z2), temperature, weights, share)
    return losses.mean()


def anchor_losses(u: Tensor, v: Tensor, *, temperature: float) -> Tensor:
    """(2, N) what :func:`info_nce` is the mean of: log(1 + q / p) for each row of (N, D) rows u and v of length 1."""
    losses: Tensor = _InfoNCE.apply(u, v, temperature, None, 1.0)
    return losses


def unit_rows(z: Tensor) -> Tensor:
    """(N, D) rows scaled to length 1. A row of zeros stays one, and gets no gradient."""
    norm = torch.linalg.vector_norm(z, dim=1, keepdim=True)                # (N, 1)
    unit: Tensor = z / norm.masked_fill(norm < 1e-12, torch.inf)
    return unit


def check_views(owner: str, z1: Tensor, z2: Tensor) -> None:
    """Raise unless both are (N, D), N at least 2."""
    if z1.dim() != 2 or z1.shape != z2.shape:
        raise InputError(f"{owner}: projections have shapes {tuple(z1.shape)} and {tuple(z2.shape)}, expected the same "
                         "(N, D) twice")
    if len(z1) < 2:
        raise InputError(f"{owner}: a batch of one has no negatives: draw larger batches")


def check_temperature(owner: str, temperature: float, least: float = _COLDEST) -> None:
    """Raise where exponentials of cosines over the temperature would overflow; losses that add up logarithms may go
    lower."""
    if not least <= temperature < torch.inf:
        raise InputError(f"{owner}: temperature is {temperature}, expected a finite number of at least {least}")


class _Tile(NamedTuple):
    """All pairs of some nodes, in both views, with others."""

    rows: slice
    columns: slice
    exponentials: Tensor       # (2, n, 2, m), 0 where a node meets itself
    forth: Tensor | None       # (2, n, 1, m) what the columns weigh for the rows
    back: Tensor | None        # (1, n, 2, m) what the rows weigh for the columns


class _InfoNCE(torch.autograd.Function):
    """Both views are one (2, N, D) array z, in units of the root of tau, and a tile is E = e^(z_I z_Kᵀ). Its row sums
    belong to the nodes I and its column sums, by symmetry, to K. With g = dL/dq over the mean weight, for each anchor,

        S = E * (w_IK g_I + w_KIᵀ g_Kᵀ),   dz_I += S z_K,   dz_K += Sᵀ z_I.
    """

    @staticmethod
    def forward(ctx: Any, u: Tensor, v: Tensor, temperature: float, weights: Weights | None, share: float) -> Tensor:
        z = torch.stack([u, v]) * temperature**-0.5                        # (2, N, D)
        wide = torch.float32 if z.device.type == "mps" else torch.float64  # MPS has no float64
        negative = torch.zeros(z.shape[:2], dtype=wide, device=z.device)   # (2, N)
        weighed = torch.zeros_like(negative)                               # (2, N)
        for rows, columns, tile, forth, back in _tiles(z, weights):
            sides = ((rows, forth, 2, 3), (columns, back, 0, 1))           # those of one view more are alike
            for nodes, weight, view, axis in sides if rows != columns else sides[:1]:
                if weight is None:
                    negative[:, nodes] += tile.sum((view, axis))
                else:
                    negative[:, nodes] += (tile.sum(view, keepdim=True) * weight).sum((view, axis))
                    weighed[:, nodes] += weight.sum((view, axis))
        scale = share if weights is None else share * (z.size(1) - 1) / weighed.clamp(min=_TINY)
        positive = torch.linalg.vecdot(z[0], z[1]).to(wide)                # (N,) logarithms
        total = positive.exp() + negative * scale                          # (2, N)
        ctx.save_for_backward(z, 1 - positive.exp() / total, scale / total)
        ctx.temperature, ctx.weights = temperature, weights
        losses: Tensor = total.log() - positive
        return losses.to(u.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        z, miss, slope = ctx.saved_tensors
        factor = grad_outputs[0] * ctx.temperature**-0.5                   # (2, N)
        slope = (slope * factor).to(z.dtype)                               # (2, N)
        grad = z.flip(0) * -(miss * factor).sum(0).to(z.dtype)[:, None]    # (2, N, D)
        for rows, columns, tile, forth, back in _tiles(z, ctx.weights):
            own, other = slope[:, rows, None, None], slope[:, columns]
            tile *= own + other if forth is None or back is None else forth * own + back * other
            flat = tile.view(-1, other.numel())                            # (2n, 2m)
            grad[:, rows] += (flat @ _flat(z, columns)).view(2, -1, z.size(2))
            if rows != columns:
                grad[:, columns] += (flat.T @ _flat(z, rows)).view(2, -1, z.size(2))
        return grad[0], grad[1], None, None, None


def _tiles(z: Tensor, weights: Weights | None) -> Iterator[_Tile]:
    """Every pair of nodes once. A tile overwrites the one before."""
    num_nodes = z.size(1)
    blocks = [slice(start, min(start + _NODES, num_nodes)) for start in range(0, num_nodes, _NODES)]
    space = z.new_empty(4 * min(_NODES, num_nodes) ** 2)
    for number, rows in enumerate(blocks):
        left = _flat(z, rows)                                              # (2n, D)
        for columns in blocks[number:]:
            right = _flat(z, columns)                                      # (2m, D)
            flat = space[:len(left) * len(right)].view(len(left), len(right))
            tile = torch.mm(left, right.T, out=flat).exp_().view(2, len(left) // 2, 2, -1)
            if rows == columns:
                tile.diagonal(dim1=1, dim2=3).zero_()
            yield _Tile(rows, columns, tile, *_weights_of(weights, rows, columns))


def _weights_of(weights: Weights | None, rows: slice, columns: slice) -> tuple[Tensor, Tensor] | tuple[None, None]:
    """Whom a row of view 1 meets weighs the same in either view, and so for view 2: (2, n, 1, m) and (1, n, 2, m)."""
    if weights is None:
        return None, None
    first, second = weights(rows, columns), weights(columns, rows).T       # (n, m)
    if rows == columns:
        itself = torch.eye(len(first), dtype=torch.bool, device=first.device)
        first, second = first.masked_fill(itself, 0), second.masked_fill(itself, 0)
    return torch.stack([first, second])[:, :, None], torch.stack([second, first], dim=1)[None]


def _flat(z: Tensor, nodes: slice) -> Tensor:
    return z[:, nodes].reshape(-1, z.size(2))                              # (2n, D)
