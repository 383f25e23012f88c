"""A split: which nodes the probe is fitted on, chosen on and scored on."""

from dataclasses import dataclass

import torch
from torch import Tensor

from sgcl.errors import InputError


@dataclass(frozen=True, eq=False)
class Split:
    """Node numbers, no node in two sets.

    Args:
        train: (n_train,) the nodes whose labels the probe is fitted on.
        val: (n_val,) the nodes whose labels choose between probes.
        test: (n_test,) the nodes whose labels are looked at once, for the score.
    """

    train: Tensor
    val: Tensor
    test: Tensor

    def __post_init__(self) -> None:
        for name, nodes in self.sets.items():
            if nodes.dim() != 1 or nodes.dtype != torch.long:
                raise InputError(f"split: {name} must be a vector of node numbers (torch.long), got "
                                 f"shape {tuple(nodes.shape)} of {nodes.dtype}")
        every = torch.cat(list(self.sets.values()))
        if len(every) and int(every.min()) < 0:
            raise InputError(f"split: node number {int(every.min())} is negative")
        if len(torch.unique(every)) != len(every):
            raise InputError("split: a node is in two of train, val and test, or twice in one: make the sets disjoint")

    @property
    def sets(self) -> dict[str, Tensor]:
        """The three by name."""
        return {"train": self.train, "val": self.val, "test": self.test}

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(n_train, n_val, n_test)."""
        return len(self.train), len(self.val), len(self.test)
