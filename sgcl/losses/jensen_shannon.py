"""How much nodes tell of their own graph and not of others: a lower bound in the manner of Jensen and Shannon.

Sun et al., *InfoGraph: Unsupervised and Semi-supervised Graph-Level Representation Learning via Mutual Information
Maximization*.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError


def jensen_shannon(nodes: Tensor, graphs: Tensor, graph_of: Tensor) -> Tensor:
    r"""With the scores T_vg = <nodes_v, graphs_g> and sp(t) = log(1 + e^t), minus the estimate of the information:

    .. math::
        \frac{1}{N} \sum_v [sp(-T_{v g(v)}) - \log 2] +
        \frac{1}{N (G - 1)} \sum_v \sum_{g \ne g(v)} [sp(T_{vg}) - \log 2].

    Time O(N G D), memory O(N (D + G)).

    Args:
        nodes: (N, D) of the nodes of a batch.
        graphs: (G, D) of its graphs, G at least 2.
        graph_of: (N,) the number of each node's graph.
    """
    if nodes.dim() != 2 or graphs.dim() != 2 or nodes.size(1) != graphs.size(1) or len(graph_of) != len(nodes):
        raise InputError(f"jensen_shannon: nodes, graphs and graph_of have shapes {tuple(nodes.shape)}, "
                         f"{tuple(graphs.shape)} and {tuple(graph_of.shape)}, expected (N, D), (G, D) and (N,)")
    if len(graphs) < 2:
        raise InputError("jensen_shannon: a batch of a single graph has nothing to tell it from; give at least 2")
    scores = nodes @ graphs.T                                              # (N, G)
    own = graph_of[:, None]
    others = F.softplus(scores.scatter(1, own, -torch.inf)).sum() / (len(nodes) * (len(graphs) - 1))
    return F.softplus(-scores.gather(1, own)).mean() + others - 2 * math.log(2)
