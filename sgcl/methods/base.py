"""What a method is: a constructor, ``augment``, ``loss`` and ``embed``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from sgcl.graph import Graph


class Method(nn.Module, ABC):
    """A way to learn embeddings without labels.

    A constructor takes ``in_channels`` and, as keywords, the method's settings with the paper's defaults. A step of
    training is ``method.loss(method.augment(batch, generator))``.
    """

    @abstractmethod
    def augment(self, graph: Graph, generator: torch.Generator) -> Any:
        """What one step looks at: the views of a batch and all else that needs no gradient.

        A named tuple whose parts have ``.to(device)``. All chance comes from ``generator`` and nothing of the model is
        read, so it can be made ahead of time, elsewhere, and again.
        """

    @abstractmethod
    def loss(self, views: Any) -> Tensor:
        """The loss of what ``augment`` made, ()."""

    @abstractmethod
    def embed(self, graph: Graph) -> Tensor:
        """The embedding of every node of an un-augmented graph, (N, D), rows in node order."""

    def after_step(self, progress: float) -> None:
        """Called after each optimiser step; ``progress`` runs from 0 to 1 over the training."""
        return None
