"""Batches of whole graphs of a collection."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers.base import Sampler, check_counts
from sgcl.sparse import row_entries


@dataclass(frozen=True)
class WholeGraphs(Sampler):
    """The graphs of a collection in a random order, dealt out to batches whose sizes differ by one at most.

    An epoch sees every graph once. A single batch holds the whole collection, in its own order.

    Args:
        size: graphs of a batch, at most.
        batches: batches of an epoch, where not all graphs are to be seen in each.
    """

    size: int = 128
    batches: int | None = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        check_counts("WholeGraphs", size=self.size, batches=self.batches)

    def on(self, graph: Graph) -> WholeGraphs:
        if graph.graph_ptr is None:
            raise InputError("the sampler draws graphs of a collection, this is a single graph: take another sampler")
        return dataclasses.replace(self, batches=min(self.batches or graph.num_graphs, self._parts(graph)))

    def nodes(self, graph: Graph, generator: torch.Generator) -> Tensor:
        assert graph.graph_ptr is not None
        return row_entries(graph.graph_ptr, self._drawn(graph, generator))[1]

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        return graph.take(self._drawn(graph, generator))

    def part(self, graph: Graph, number: int, shuffle: torch.Generator, generator: torch.Generator) -> Graph:
        parts = self._parts(graph)
        if parts == 1:
            return graph
        order = torch.randperm(graph.num_graphs, generator=shuffle)
        return graph.take(order.tensor_split(parts)[number].sort().values.to(graph.device))

    def _drawn(self, graph: Graph, generator: torch.Generator) -> Tensor:
        """(n,) graphs, ascending."""
        return torch.randperm(graph.num_graphs, generator=generator)[:self.size].sort().values.to(graph.device)

    def _parts(self, graph: Graph) -> int:
        return -(-graph.num_graphs // self.size)
