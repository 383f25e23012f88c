"""Batches of nodes drawn one by one, uniformly, by degree or by any given law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from sgcl.errors import InputError, unknown_name
from sgcl.graph import Graph
from sgcl.samplers.base import Sampler, check_counts, fill, uniform_nodes

_ROUNDS = 8  # after so many, a law leaves so few likely nodes that all are looked at


@dataclass(frozen=True)
class RandomNode(Sampler):
    """``batch_size`` distinct nodes, drawn one after the other with probability P(v) among those not drawn yet.

    Nodes of probability 0 are never drawn; the batch is smaller when fewer than ``batch_size`` others exist, so a
    ``batch_size`` of N or more gives the whole graph when P is uniform.

    Args:
        batch_size: nodes of a batch.
        batches: batches an epoch.
        by: P(v) ``"uniform"``, or proportional to the ``"degree"`` (the number of neighbours).
        probability: any other P(v): N numbers of at least 0, in proportion to which nodes are drawn. Kept as a tuple.
    """

    batch_size: int = 2000
    batches: int = 4
    by: Literal["uniform", "degree"] = "uniform"
    probability: Sequence[float] | Tensor | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_counts("RandomNode", batch_size=self.batch_size, batches=self.batches)
        if self.by not in ("uniform", "degree"):
            raise unknown_name("node law", self.by, ("uniform", "degree"))
        if self.probability is None:
            return
        if self.by != "uniform":
            raise InputError(f"RandomNode: both by={self.by!r} and probability are given; give one of them")
        weight = torch.as_tensor(self.probability, dtype=torch.float64).view(-1)
        if not (bool(torch.isfinite(weight).all()) and bool((weight >= 0).all()) and float(weight.sum()) > 0):
            raise InputError("RandomNode: probability holds NaN, infinite or negative numbers or only zeros; "
                             "expected N numbers of at least 0, not all 0")
        object.__setattr__(self, "probability", tuple(weight.tolist()))

    def nodes(self, graph: Graph, generator: torch.Generator) -> Tensor:
        self._check(graph)
        num_nodes, size = graph.num_nodes, min(self.batch_size, graph.num_nodes)
        if self.probability is None and self.by == "uniform":
            if size == num_nodes:
                return torch.arange(num_nodes, device=graph.device)
            return fill(size, num_nodes, lambda wanted: uniform_nodes(graph, wanted, generator))
        found = fill(size, num_nodes, lambda wanted: self._draw(graph, wanted, generator), rounds=_ROUNDS)
        return found if len(found) == size else _completed(found, size, self._weight(graph), generator)

    def _check(self, graph: Graph) -> None:
        if self.probability is not None and len(self.probability) != graph.num_nodes:
            raise InputError(f"RandomNode: probability has {len(self.probability)} numbers for a graph of "
                             f"{graph.num_nodes} nodes; give one for each node")
        if self.by == "degree" and graph.adj.nnz == 0:
            raise InputError("RandomNode: by='degree' on a graph without edges; use by='uniform'")

    def _draw(self, graph: Graph, count: int, generator: torch.Generator) -> Tensor:
        """(count,) nodes drawn from P with replacement: O(count log N)."""
        if self.by == "degree":  # the end of a uniform entry of the adjacency
            entry = torch.randint(graph.adj.nnz, (count,), generator=generator).to(graph.device)
            return graph.adj.idx[entry].long()
        point = torch.rand(count, generator=generator, dtype=torch.float64) * self._table[-1]
        return torch.searchsorted(self._table, point, right=True).to(graph.device)

    @cached_property
    def _table(self) -> Tensor:
        """(N,) cumulative probabilities, made once."""
        return torch.tensor(self.probability, dtype=torch.float64).cumsum(0)

    def _weight(self, graph: Graph) -> Tensor:
        """(N,) P up to a factor, on the CPU."""
        if self.by == "degree":
            return graph.adj.ptr.diff().cpu().double()
        return torch.tensor(self.probability, dtype=torch.float64)


def _completed(found: Tensor, size: int, weight: Tensor, generator: torch.Generator) -> Tensor:
    """``found`` and as many more, drawn on by the same law, as make ``size``: (size,), or fewer if P gives no more.

    The order of Exponential(1) / P(v) over the nodes left, smallest first, is the order in which draws without
    replacement meet them. It costs O(N), where drawing on would cost more.
    """
    weight[found.cpu()] = 0
    time = torch.empty_like(weight).exponential_(generator=generator) / weight       # (N,) never for P(v) = 0
    more = time.topk(min(size - len(found), int(weight.count_nonzero())), largest=False).indices
    return torch.cat([found, more.to(found.device)]).sort().values
