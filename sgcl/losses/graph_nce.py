"""InfoNCE between the graphs of a batch in two views.

You et al., *Graph Contrastive Learning with Augmentations*; weighed or mixed negatives as in ProGCL and AUGCL.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.losses.infonce import check_temperature, check_views, unit_rows
from sgcl.losses.mixed_infonce import mixed_cosines

_TINY = 1e-30  # a smaller weight, or mean of weights, counts as this


def graph_nce(z1: Tensor, z2: Tensor, *, temperature: float = 0.2, positive_in: bool = False, symmetric: bool = False,
              weights: Tensor | None = None, order: Tensor | None = None) -> Tensor:
    r"""With rows u and v scaled to length 1, the mean over the graphs i of

    .. math::
        -\log \frac{e^{<u_i, v_i> / \tau}}
        {[e^{<u_i, v_i> / \tau}] + \sum_{k \ne i} \frac{w_{ik}}{\bar w_i} e^{<u_i, v_k> / \tau}}

    where the bracket is there if ``positive_in``, and w is 1 unless given, its mean taken over k other than i. Time
    O(G² D), memory O(G D + G²): the graphs of a batch are few.

    Args:
        z1, z2: (G, D) projections of the graphs in the two views.
        temperature: tau, at least 0.02.
        positive_in: count the graph itself in the denominator too.
        symmetric: take the mean with the same for the anchors v_i, where v_i weighs u_k by w_ki.
        weights: (G, G) w, numbers of at least 0; they get no gradient.
        order: (M,) a permutation of 0 to M - 1, M below G. The weights then do not weigh: they choose and mix M further
            negatives of each anchor, as in :func:`~sgcl.losses.mixed_infonce.mixed_info_nce`.
    """
    check_views("graph_nce", z1, z2)
    check_temperature("graph_nce", temperature)
    num_graphs = len(z1)
    if weights is None and order is not None:
        raise InputError("graph_nce: order mixes negatives by their weights; give weights too")
    if weights is not None and weights.shape != (num_graphs, num_graphs):
        raise InputError(f"graph_nce: weights have shape {tuple(weights.shape)}, expected ({num_graphs}, {num_graphs})")
    if order is not None and len(order) >= num_graphs:
        raise InputError(f"graph_nce: order has {len(order)} entries, but an anchor of {num_graphs} graphs has "
                         f"{num_graphs - 1} negatives; give at most as many")
    cosines = unit_rows(z1) @ unit_rows(z2).T                              # (G, G)
    loss = _cost(cosines, temperature, positive_in, weights, order)
    if not symmetric:
        return loss
    return (loss + _cost(cosines.T, temperature, positive_in, None if weights is None else weights.T, order)) / 2


def _cost(cosines: Tensor, temperature: float, positive_in: bool, weights: Tensor | None,
          order: Tensor | None) -> Tensor:
    """The mean over the rows, whose positives are on the diagonal."""
    itself = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    logits = cosines / temperature                                         # (G, G)
    positive = logits.diagonal()
    if weights is not None and order is None:
        weight = weights.detach().masked_fill(itself, 0)
        weight = weight * (len(weight) - 1) / weight.sum(1, keepdim=True).clamp(min=_TINY)
        logits = logits + weight.masked_fill(itself, 1).clamp(min=_TINY).log()
    if not positive_in:
        logits = logits.masked_fill(itself, -torch.inf)
    if weights is not None and order is not None:
        top = weights.detach().masked_fill(itself, -1).topk(len(order))    # (G, M)
        mixed = mixed_cosines(cosines.gather(1, top.indices), top.values, order)
        logits = torch.cat([logits, mixed / temperature], dim=1)
    return (logits.logsumexp(1) - positive).mean()
