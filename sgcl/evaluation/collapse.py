"""Signs of collapse: embeddings that use few directions, or that all point the same way."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation.embedding import checked_embedding

_BLOCK = 1 << 22  # numbers of an embedding turned to float64 at a time


@dataclass(frozen=True)
class Collapse:
    """How far an embedding has collapsed.

    Args:
        effective_rank: from 1, all rows on one line, to ``width``.
        mean_cosine: from about 0, directions spread evenly, to 1, all the same.
        width: D.
    """

    effective_rank: float
    mean_cosine: float
    width: int


def collapse(embedding: Tensor) -> Collapse:
    """Both signs, see :func:`effective_rank` and :func:`mean_cosine`."""
    return Collapse(effective_rank(embedding), mean_cosine(embedding), int(embedding.size(1)))


def effective_rank(embedding: Tensor) -> float:
    """exp(-Σ_k p_k log p_k), p_k = σ_k / Σ_l σ_l, σ the singular values of the (N, D) rows as they are.

    Roy and Vetterli, The Effective Rank, EUSIPCO 2007. The σ_k² are the eigenvalues of the (D, D) Gram matrix, summed
    in float64, so that memory is O(N D + D²). 0 for an embedding of zeros.
    """
    embedding = checked_embedding("effective_rank", embedding)
    width = embedding.size(1)
    gram = torch.zeros(width, width, dtype=torch.float64)
    for rows in embedding.split(max(1, _BLOCK // width)):
        part = rows.cpu().double()
        gram += part.T @ part
    square = torch.linalg.eigvalsh(gram)
    square = square[square > width * torch.finfo(torch.float64).eps * square.max()]  # the rest is rounding
    if len(square) == 0:
        return 0.0
    share = square.sqrt() / square.sqrt().sum()
    return float(torch.exp(-(share * share.log()).sum()))


def mean_cosine(embedding: Tensor) -> float:
    """The mean of cos(x_i, x_j) over all pairs i != j, exactly, from the sum of the unit rows u_i:

    (||Σ_i u_i||² - Σ_i ||u_i||²) / (N (N - 1)). A row of zeros has the cosine 0 with all others.
    """
    embedding = checked_embedding("mean_cosine", embedding)
    if len(embedding) < 2:
        raise InputError("mean_cosine: the embedding has a single row, and pairs need two")
    total, square = torch.zeros(embedding.size(1), dtype=torch.float64), 0.0
    for rows in embedding.split(max(1, _BLOCK // embedding.size(1))):
        unit = F.normalize(rows.cpu().double())
        total += unit.sum(0)
        square += float(unit.square().sum())
    return (float(total.square().sum()) - square) / (len(embedding) * (len(embedding) - 1))
