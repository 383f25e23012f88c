"""What a sampler is, and the two things most of them share: uniform draws and filling a batch with distinct nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.graph import Graph


class Sampler(ABC):
    """Draws batches: sub-graphs induced by some of a graph's nodes, whose numbers are kept in ``n_id``.

    Samplers are frozen dataclasses: settings, no state. The cost of a batch grows with the batch and the degrees of
    its nodes, never with the graph. All chance comes from the generator, which lives on the CPU wherever the graph is.
    """

    batches: int  #: batches an epoch

    @abstractmethod
    def nodes(self, graph: Graph, generator: torch.Generator) -> Tensor:
        """(n,) the nodes of one batch, ascending, none twice."""

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        """One batch: the sub-graph induced by :meth:`nodes`."""
        return graph.subgraph(self.nodes(graph, generator))

    def on(self, graph: Graph) -> Sampler:
        """The sampler for a graph: where the batches of an epoch depend on it, with their number."""
        return self

    def part(self, graph: Graph, number: int, shuffle: torch.Generator, generator: torch.Generator) -> Graph:
        """Batch ``number`` of an epoch, all of whose batches are called with the same state of ``shuffle``."""
        return self(graph, generator)


def check_counts(owner: str, **counts: int | None) -> None:
    """Raise unless every count is a whole number of at least 1, or not given."""
    for name, count in counts.items():
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
            raise InputError(f"{owner}: {name} is {count!r}, expected a whole number of at least 1")


def uniform_nodes(graph: Graph, count: int, generator: torch.Generator) -> Tensor:
    """(count,) nodes, each equally likely, drawn with replacement."""
    return torch.randint(graph.num_nodes, (count,), generator=generator).to(graph.device)


def fill(size: int, support: int, draw: Callable[[int], Tensor], rounds: int | None = None) -> Tensor:
    """(size,) the first ``size`` distinct nodes of an endless stream, ascending.

    Args:
        size: at most ``support``.
        support: how many different nodes the stream holds.
        draw: about how many nodes are wanted -> the next stretch of the stream.
        rounds: stop after so many stretches, with fewer nodes; never unless given.
    """
    found, done = first_distinct(draw(size), size), 1
    while len(found) < size and (rounds is None or done < rounds):
        left = support - len(found)  # a uniform draw is new with probability left / support, others less often
        wanted = 4 * -(-(size - len(found)) * support // left)
        found = first_distinct(torch.cat([found, draw(wanted)]), size)
        done += 1
    return found


def first_distinct(stream: Tensor, size: int | None = None) -> Tensor:
    """The first ``size`` distinct values of the stream, ascending; all of them if fewer or no size is given."""
    value, place = stream.sort(stable=True)
    first = torch.ones_like(value, dtype=torch.bool)
    first[1:] = value[1:] != value[:-1]
    value, place = value[first], place[first]                              # each value once, where it first comes
    return value if size is None or len(value) <= size else value[place <= place.kthvalue(size).values]
