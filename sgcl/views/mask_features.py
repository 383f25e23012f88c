"""Hide whole feature columns at random."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sgcl.errors import check_rate
from sgcl.graph import Graph, scale_columns
from sgcl.views.base import View


@dataclass(frozen=True)
class MaskFeatures(View):
    """Each feature column is set to 0 with probability ``p``, for all nodes alike.

    X' = X diag(1 - m), m_f ~ Bernoulli(p). The columns left are not scaled up.

    Args:
        p: probability of hiding a column; 0.5 in the paper, 0.3 in its published code.
    """

    p: float = 0.5

    def __post_init__(self) -> None:
        check_rate("MaskFeatures", "p", self.p)

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        if self.p == 0:
            return graph
        draws = torch.rand(graph.num_features, generator=generator, dtype=torch.float64)
        kept = (draws >= self.p).to(device=graph.device, dtype=graph.x.dtype)     # (F,)
        return graph.replace(x=scale_columns(graph.x, kept))
