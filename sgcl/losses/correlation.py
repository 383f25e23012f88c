"""Losses on the correlation of columns: views agree, columns of a view do not repeat each other. No pairs of nodes.

Bielak, Kajdanowicz and Chawla, *Graph Barlow Twins*; Zhang et al., *From Canonical Correlation Analysis to
Self-supervised Graph Neural Networks*.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgcl.errors import InputError

_TINY = 1e-12  # added to variances: a column that is the same at all nodes becomes one of zeros


def barlow_twins_loss(h1: Tensor, h2: Tensor, weight: float | None = None) -> Tensor:
    r"""The cross-correlation of two views against the identity. With columns standardised over the nodes,

    .. math:: C = Z_1^T Z_2 / N, \quad L = \sum_i (1 - c_{ii})^2 + \lambda \sum_{i \ne j} c_{ij}^2.

    Time O(N D²), memory O(N D + D²).

    Args:
        h1, h2: (N, D) embeddings of the two views.
        weight: lambda; 1 / D unless given.
    """
    z1, z2 = _standardised("barlow_twins_loss", h1, h2)
    correlation = z1.T @ z2 / len(h1)                                      # (D, D)
    own = correlation.diagonal()                                           # (D,)
    weight = 1 / h1.size(1) if weight is None else weight
    return (1 - own).square().sum() + weight * (correlation.square().sum() - own.square().sum())


def cca_loss(h1: Tensor, h2: Tensor, weight: float) -> Tensor:
    r"""Views that agree node by node, each with uncorrelated columns. With columns standardised over the nodes,

    .. math:: L = ||Z_1 - Z_2||_F^2 / N + \lambda (||Z_1^T Z_1 / N - I||_F^2 + ||Z_2^T Z_2 / N - I||_F^2).

    Time O(N D²), memory O(N D + D²).

    Args:
        h1, h2: (N, D) embeddings of the two views.
        weight: lambda.
    """
    z1, z2 = _standardised("cca_loss", h1, h2)
    identity = torch.eye(h1.size(1), dtype=h1.dtype, device=h1.device)
    repeated = sum((z.T @ z / len(z) - identity).square().sum() for z in (z1, z2))
    return (z1 - z2).square().sum() / len(z1) + weight * repeated


def _standardised(owner: str, h1: Tensor, h2: Tensor) -> list[Tensor]:
    """Both with columns of mean 0 and mean square 1, (N, D)."""
    if h1.dim() != 2 or h1.shape != h2.shape:
        raise InputError(f"{owner}: embeddings have shapes {tuple(h1.shape)} and {tuple(h2.shape)}, "
                         "expected the same (N, D) twice")
    if len(h1) < 2:
        raise InputError(f"{owner}: a batch of {len(h1)} node has no correlations: draw larger batches")
    return [(h - h.mean(0)) * (h.var(0, correction=0) + _TINY).rsqrt() for h in (h1, h2)]
