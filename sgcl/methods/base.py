"""What a method is: a constructor, ``augment``, ``loss`` and ``embed``, and what it may do at the trainer's call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.views import Compose, View, parts_of

Level = Literal["node", "graph"]


class Method(nn.Module, ABC):
    """A way to learn embeddings without labels.

    A constructor takes ``in_channels`` and, as keywords, the method's settings with the paper's defaults. A step of
    training is ``method.loss(method.augment(batch, generator))``.

    What a method decides while it trains and needs later (targets, banks, mixture fits) lives in parameters and
    buffers: a checkpoint holds those, of whatever kind, and nothing else. Saved weights leave out what is registered
    with ``persistent=False``, such as a row for each node of the graph.
    """

    level: ClassVar[Level] = "node"              #: what it embeds: nodes of a graph, or graphs of a collection
    unites: bool = False                         #: whether it has a ``union_loss``
    trained_with: ClassVar[dict[str, Any]] = {}  #: settings of the training that its paper has otherwise

    def __init__(self, *paired: View) -> None:
        """With the views, if any, whose nodes are compared one by one: those that leave out nodes are refused."""
        super().__init__()
        for part in parts_of(Compose(paired)):
            if not part.keeps_nodes:
                raise InputError(f"{type(self).__name__}: {part} leaves out nodes, but both views need the same ones; "
                                 "take views that keep them, such as DropEdges or MaskFeatures")

    @classmethod
    def looks_at_all(cls) -> bool:
        """Whether a training looks at the whole graph besides its batches, by a ``start`` or ``before_epoch``."""
        return cls.start is not Method.start or cls.before_epoch is not Method.before_epoch

    def start(self, graph: Graph) -> None:
        """Called once before training, and again when it is resumed, with the whole graph, on the CPU.

        The place for what depends on the graph alone, such as its PageRank: deterministic, kept in plain attributes,
        memory linear in the graph. Buffers with a row for each node are registered here.
        """
        return None

    def stage(self, epoch: int, epochs: int) -> int:
        """What is learnt in an epoch, counted from 1: the losses of epochs of one stage can be compared."""
        return 0

    def stages(self, epochs: int) -> list[int]:
        """The first epoch of each stage, at least epoch 1."""
        first = {self.stage(epoch, epochs): epoch for epoch in range(epochs, 0, -1)}
        return sorted(first.values()) or [1]

    def rehearse(self) -> None:
        """Called where memory is measured on a stand-in: from now on ``before_epoch`` may learn less, in the same
        memory."""
        return None

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        """Called before each epoch, counted from 1, with the whole graph, on the CPU; in eval mode, without gradients.

        What it decides goes in buffers. ``generator`` is a function of the seed and the epoch alone.
        """
        return None

    @abstractmethod
    def augment(self, graph: Graph, generator: torch.Generator) -> Any:
        """What one step looks at: the views of a batch and all else that needs no gradient.

        A named tuple whose parts have ``.to(device)``. All chance comes from ``generator`` and nothing of the model is
        read, so it can be made ahead of time, elsewhere, and again.
        """

    @abstractmethod
    def loss(self, views: Any) -> Tensor:
        """The loss of what ``augment`` made, ()."""

    def union_loss(self, batches: Iterable[Any], total: Callable[[Tensor], Tensor]) -> Tensor:
        """The share of some batches in the loss of all batches of a step, taken side by side as one, ().

        ``batches`` is what ``augment`` made of each, to be looked at one after the other, perhaps none; ``total`` sums
        tensors over all processes that have batches of the step, and each calls it as often.
        """
        raise NotImplementedError

    @abstractmethod
    def embed(self, graph: Graph) -> Tensor:
        """The embedding of every node of an un-augmented graph, (N, D), rows in node order; at graph level of every
        graph of a collection, (G, D), each without regard to the others."""

    def after_step(self, progress: float) -> None:
        """Called after each optimiser step; ``progress`` runs from 0 to 1 over the training."""
        return None

    def parameter_groups(self, lr: float, weight_decay: float) -> list[dict[str, Any]]:
        """The groups the optimiser is made with: ``params``, and ``lr`` or ``weight_decay`` where a group has its own.

        The schedule scales the learning rate of each. Parameters in no group are left as they are.
        """
        return [{"params": [parameter for parameter in self.parameters() if parameter.requires_grad]}]
