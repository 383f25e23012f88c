"""What a view is: settings that turn a graph into another graph of the same nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch

from sgcl.graph import Graph


class View(ABC):
    """An augmentation. Views are frozen dataclasses: settings, no state.

    The result has the same N nodes in the same order, F features and ``n_id``; the input is left as it is. All chance
    comes from the generator, which lives on the CPU wherever the graph is.
    """

    @abstractmethod
    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        """The augmented graph."""
