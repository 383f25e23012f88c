"""The whole graph as the only batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sgcl.graph import Graph
from sgcl.samplers.base import Sampler, check_counts


@dataclass(frozen=True)
class FullGraph(Sampler):
    """The graph itself, neither copied nor renumbered; of a graph in parts, one whole part after the other.

    Args:
        batches: how many times it is handed out in an epoch.
    """

    batches: int = 1

    def __post_init__(self) -> None:
        check_counts("FullGraph", batches=self.batches)

    def nodes(self, graph: Graph, generator: torch.Generator) -> Tensor:
        return torch.arange(graph.num_nodes, device=graph.device)

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        return graph.in_memory()
