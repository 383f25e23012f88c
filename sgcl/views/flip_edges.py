"""Flip pairs of nodes at random: edges go, edges that were not there come."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError, check_rate
from sgcl.graph import Graph
from sgcl.sparse import CSR
from sgcl.views.base import View
from sgcl.views.drop_edges import drop_edges

_ALWAYS_FINE = 1_000_000  # added edges that are never too many


@dataclass(frozen=True)
class FlipEdges(View):
    """Each of the N(N-1)/2 pairs of nodes is flipped with probability ``p``; of a collection, each pair of one graph.

    A' = A * (1 - M) + (1 - A) * M, M symmetric, M_ij ~ Bernoulli(p), no self-loops. An edge goes with probability p
    and otherwise keeps its weight; a pair without an edge gets one, of weight 1, with probability p. The pairs are not
    enumerated: the number of new edges is Binomial(pairs without an edge, p), and that many are drawn among those
    pairs without replacement, which is the same law in time and memory O(N + edges before and after), up to a sort.

    Args:
        p: probability of flipping a pair. A graph has far more pairs than edges, so it is small: about p N²/2 edges are
            added, and more than twice the graph's edges (or a million) are refused.
    """

    p: float = 1e-4

    def __post_init__(self) -> None:
        check_rate("FlipEdges", "p", self.p)

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        if self.p == 0:
            return graph
        empty = int(_pairs_below(graph)[-1]) - graph.num_edges             # pairs without an edge
        most = max(2 * graph.num_edges, _ALWAYS_FINE)
        if self.p * empty > most:
            raise InputError(f"FlipEdges: p={self.p} would add about {self.p * empty:.2g} edges to a graph of "
                             f"{graph.num_nodes} nodes and {graph.num_edges} edges; choose p of at most "
                             f"{0.95 * most / empty:.1e}")
        kept = drop_edges(graph.adj, self.p, generator)
        count = torch.binomial(torch.tensor(float(empty), dtype=torch.float64),
                               torch.tensor(self.p, dtype=torch.float64), generator=generator)
        rank = _distinct(empty, int(count), generator).to(graph.device)    # (added,)
        return graph.replace(adj=_with_edges(kept, *_pairs_without_edge(graph, rank)) if len(rank) else kept)


def _distinct(total: int, count: int, generator: torch.Generator) -> Tensor:
    """``count`` different numbers below ``total``, every set of them equally likely: (count,), O(count log count)."""
    if 2 * count > total:  # then the numbers left out are fewer, and all of them no more than twice the result
        chosen = torch.ones(total, dtype=torch.bool)
        chosen[_distinct(total, total - count, generator)] = False
        return chosen.nonzero().view(-1)
    found = torch.empty(0, dtype=torch.long)
    while len(found) < count:  # a draw is new at least every second time
        more = torch.randint(total, (count - len(found),), generator=generator)
        found = torch.cat([found, more]).sort().values
        found = found[found != F.pad(found[:-1], (1, 0), value=-1)]
    return found


def _pairs_below(graph: Graph) -> Tensor:
    """(N + 1,) the pairs (i, j) of one graph, i > j, of all nodes i before each; in the end, all pairs."""
    return F.pad(_place(graph).cumsum(0), (1, 0))


def _place(graph: Graph) -> Tensor:
    """(N,) the number of each node in its own graph: so many pairs (i, j), i > j, node i has."""
    nodes = torch.arange(graph.num_nodes, device=graph.device)
    return nodes if graph.graph_ptr is None else nodes - graph.graph_ptr[graph.graph_of]


def _pairs_without_edge(graph: Graph, rank: Tensor) -> tuple[Tensor, Tensor]:
    """The pairs (i, j) of one graph, i > j, at the given ranks among those without an edge.

    The pairs are numbered by i, then j. An edge with n edges before it has number - n empty pairs before it, so the
    empty pair of rank r has the number r + (edges with no more than r empty pairs before them).
    """
    adj, place, first = graph.adj, _place(graph), _pairs_below(graph)[:-1]
    lower = adj.idx < adj.row
    taken = first[adj.row[lower]] + place[adj.idx[lower]]                  # (E,) ascending, as the rows are
    before = taken - torch.arange(len(taken), device=adj.device)
    number = rank + torch.searchsorted(before, rank, right=True)           # (added,)
    i = torch.searchsorted(first, number, right=True) - 1
    return i, number - first[i] + i - place[i]


def _with_edges(adj: CSR, i: Tensor, j: Tensor) -> CSR:
    """``adj`` with the edges (i, j), which it does not have, added in both directions with weight 1."""
    value = None if adj.value is None else torch.cat([adj.value, adj.value.new_ones(2 * len(i))])
    return CSR.from_coo(torch.cat([adj.row, i, j]), torch.cat([adj.idx, j, i]), value, shape=adj.shape, symmetric=True)
