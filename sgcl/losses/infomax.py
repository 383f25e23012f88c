"""Telling real nodes from corrupted ones by a summary of the graph.

Veličković et al., *Deep Graph Infomax*.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError


def infomax_loss(real: Tensor, fake: Tensor, summary: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    r"""Binary cross-entropy of the scores D(h, s) = hᵀ W s + b, the mean over all 2N of them:

    .. math:: -\frac{1}{2N} \sum_i \log \sigma(D(h_i, s)) + \log(1 - \sigma(D(\tilde h_i, s))).

    W s is taken first, so a step costs O(N D + D²) and nothing larger than its input is held.

    Args:
        real, fake: (N, D) embeddings of the graph and of its corruption.
        summary: (D,) s.
        weight: (D, D) W.
        bias: () or (1,) b.
    """
    if real.dim() != 2 or real.shape != fake.shape:
        raise InputError(f"infomax_loss: embeddings have shapes {tuple(real.shape)} and {tuple(fake.shape)}, "
                         "expected the same (N, D) twice")
    direction = weight @ summary                                           # (D,)
    return (F.softplus(-(real @ direction + bias)).mean() + F.softplus(fake @ direction + bias).mean()) / 2
