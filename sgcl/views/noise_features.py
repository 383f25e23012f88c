"""Multiply features by Gaussian noise around 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.views.base import View


@dataclass(frozen=True)
class NoiseFeatures(View):
    """X' = X * (1 - M), M_if ~ N(0, sigma²), entry by entry.

    A zero stays a zero whatever the noise, so only the other entries are drawn for: sparse features stay sparse, and
    the same generator gives the same X' from dense and from sparse features.

    Args:
        sigma: standard deviation of the noise, relative to each entry.
    """

    sigma: float = 0.1

    def __post_init__(self) -> None:
        if not (self.sigma >= 0 and math.isfinite(self.sigma)):
            raise InputError(f"NoiseFeatures: sigma is {self.sigma}, expected a finite number of at least 0")

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        if self.sigma == 0:
            return graph
        x = graph.x
        if isinstance(x, Tensor):
            return graph.replace(x=x * self._factor(x, generator))
        entries = x.matrix.values()                                        # (nnz,)
        seen = entries if x.scale is None else entries * x.scale[x.matrix.idx]
        return graph.replace(x=x.scale_entries(self._factor(seen, generator)))

    def _factor(self, entries: Tensor, generator: torch.Generator) -> Tensor:
        """1 - M where there is an entry, else 1: the shape of ``entries``."""
        filled = entries != 0
        noise = torch.randn(int(filled.sum()), generator=generator, dtype=entries.dtype).to(entries.device)
        return torch.ones_like(entries).masked_scatter_(filled, 1 - self.sigma * noise)
