"""What a view is: settings that turn a graph into another graph, of the same nodes unless it says otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch

from sgcl.graph import Graph


class View(ABC):
    """An augmentation. Views are frozen dataclasses: settings, no state.

    The result has the same N nodes in the same order, F features and ``n_id``; the input is left as it is. All chance
    comes from the generator, which lives on the CPU wherever the graph is. A view of a collection works on each graph
    alone. One that leaves out nodes keeps at least one of each graph, and says who stayed in ``n_id``.
    """

    @property
    def keeps_nodes(self) -> bool:
        """Whether node i of the result is node i of the graph, as methods that pair the nodes of two views need."""
        return True

    @abstractmethod
    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        """The augmented graph."""
