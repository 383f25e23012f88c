"""Batches from ego graphs: all that lies within a few hops of a root."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers.base import Sampler, check_counts, fill, first_distinct, uniform_nodes
from sgcl.sparse import CSR


@dataclass(frozen=True)
class EgoGraph(Sampler):
    """The nodes within ``hops`` steps of random roots, at most ``batch_size`` of them.

    Where a hop reaches more nodes than there is room for, a uniform choice of them is taken.

    Args:
        hops: largest distance from a root.
        batch_size: the most nodes a batch may have. Unless ``roots`` is given, roots are added until there are so
            many: the whole graph if it is no larger.
        batches: batches an epoch.
        roots: exactly so many distinct roots (all nodes if there are fewer); they are in the batch whatever its size.
        max_neighbors: follow at most so many neighbours of each node, chosen uniformly; all unless given.
    """

    hops: int = 2
    batch_size: int = 2000
    batches: int = 4
    roots: int | None = None
    max_neighbors: int | None = None

    def __post_init__(self) -> None:
        check_counts("EgoGraph", hops=self.hops, batch_size=self.batch_size, batches=self.batches, roots=self.roots,
                     max_neighbors=self.max_neighbors)
        if self.roots is not None and self.roots > self.batch_size:
            raise InputError(f"EgoGraph: {self.roots} roots do not fit into a batch of {self.batch_size} nodes; "
                             "lower roots or raise batch_size")

    def nodes(self, graph: Graph, generator: torch.Generator) -> Tensor:
        if self.roots is not None:
            count = min(self.roots, graph.num_nodes)
            roots = fill(count, graph.num_nodes, lambda wanted: uniform_nodes(graph, wanted, generator))
            return first_distinct(self._around(graph.adj, roots, generator))
        if self.batch_size >= graph.num_nodes:
            return torch.arange(graph.num_nodes, device=graph.device)
        found, count = torch.empty(0, dtype=torch.long, device=graph.device), 1
        while len(found) < self.batch_size:
            ball = self._around(graph.adj, uniform_nodes(graph, count, generator), generator)
            found = first_distinct(torch.cat([found, ball]), self.batch_size)
            count = min(2 * count, self.batch_size)
        return found

    def _around(self, adj: CSR, roots: Tensor, generator: torch.Generator) -> Tensor:
        """The roots, then what the first hop reaches, then the second ...: at most ``batch_size`` distinct nodes.

        Inside a ring the order is random, so that a cut anywhere is fair.
        """
        seen = frontier = first_distinct(roots)
        rings = [roots]
        for _ in range(self.hops):
            room = self.batch_size - len(seen)
            if room == 0 or len(frontier) == 0:
                break
            reached = self._neighbors(adj, frontier, generator)
            fresh = reached[~_is_in(reached, seen)]
            frontier = fresh[torch.randperm(len(fresh), generator=generator)[:room].to(adj.device)]
            rings.append(frontier)
            seen = torch.cat([seen, frontier]).sort().values
        return torch.cat(rings)

    def _neighbors(self, adj: CSR, nodes: Tensor, generator: torch.Generator) -> Tensor:
        """The distinct neighbours of the nodes, or of ``max_neighbors`` of each, ascending."""
        rows = adj.take_rows(nodes)
        if self.max_neighbors is None or rows.nnz == 0:
            return first_distinct(rows.idx)
        order = torch.randperm(rows.nnz, generator=generator).to(adj.device)
        order = order[rows.row[order].argsort(stable=True)]                # by rows, shuffled inside each
        rank = torch.arange(rows.nnz, device=adj.device) - rows.ptr[rows.row]
        return first_distinct(rows.idx[order[rank < self.max_neighbors]])


def _is_in(values: Tensor, ascending: Tensor) -> Tensor:
    """Which of the values occur in the other tensor, which is not empty."""
    place = torch.searchsorted(ascending, values).clamp_(max=len(ascending) - 1)
    return ascending[place] == values
