"""What an evaluation protocol is: which graph the encoder sees, which nodes the probe sees, and which probe."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError, check_kind
from sgcl.evaluation.labels import checked_labels, checked_tasks, has_tasks
from sgcl.evaluation.probe import ProbeResult, linear_probe
from sgcl.evaluation.published import published_probe
from sgcl.evaluation.splits import Split


class Protocol(ABC):
    """A way to split a graph's nodes, or with ``level`` ``"graph"`` the graphs of a collection. ``steps`` and ``every``
    are those of its papers' probe."""

    name: ClassVar[str]
    level: ClassVar[str] = "node"
    steps: ClassVar[int] = 5000
    every: ClassVar[int | None] = 20

    def restrict(self, data: Data) -> Data:
        """The graph to train on and to split; ``data`` itself unless the protocol says otherwise."""
        return data

    @abstractmethod
    def split(self, data: Data, seed: int) -> Split:
        """The sets of one run, ascending, a pure function of the restricted graph and the seed."""

    def probe(self, embedding: Tensor, y: Tensor, split: Split, *, seed: int = 0,
              metric: str | None = None) -> ProbeResult:
        """The probe that this library scores by: logistic regression run to convergence, C chosen on validation.

        Args:
            embedding: (N, D).
            y: (N,) labels, or (N, T) labels of T tasks.
            split: what :meth:`split` gave.
            seed: of what is random in the probe; this one has nothing random.
            metric: one of ``METRICS``; unless given, accuracy, and ROC-AUC where there are several tasks.
        """
        return linear_probe(embedding, y, split, metric=metric or ("roc-auc" if has_tasks(y) else "accuracy"))

    def published_probe(self, embedding: Tensor, y: Tensor, split: Split, *, seed: int) -> ProbeResult:
        """The probe of the protocol's papers; see :func:`sgcl.evaluation.published_probe`."""
        return published_probe(embedding, y, split, steps=self.steps, every=self.every, seed=seed)


def check_graph(owner: str, data: Any) -> Data:
    """``data``, if it is one homogeneous graph at one time."""
    check_kind(data, owner)
    if not isinstance(data, Data):
        raise InputError(f"{owner}: expected a torch_geometric.data.Data, got {type(data).__name__}")
    return data


def graph_labels(owner: str, data: Data) -> Tensor:
    """(N,) labels of a graph."""
    data = check_graph(owner, data)
    return checked_labels(owner, data.y, data.num_nodes)


def split_of_masks(owner: str, data: Data, column: int | None = None) -> Split:
    """The split shipped with a graph as masks, without the nodes that have no label.

    Args:
        column: which of the R splits of (N, R) masks; ``None`` for (N,) masks.
    """
    masks = shipped_masks(owner, data)
    if has_tasks(data.y):
        labelled = (checked_tasks(owner, data.y, data.num_nodes) >= 0).any(1)
    else:
        labelled = graph_labels(owner, data) >= 0
    chosen = masks if column is None else tuple(mask[:, column] for mask in masks)
    return Split(*((mask & labelled).nonzero().view(-1) for mask in chosen))


def shipped_masks(owner: str, data: Data) -> tuple[Tensor, Tensor, Tensor]:
    """``train_mask``, ``val_mask`` and ``test_mask`` of a graph, (N,) or (N, R)."""
    check_graph(owner, data)
    masks = []
    for name in ("train_mask", "val_mask", "test_mask"):
        mask = data.get(name)
        if mask is None:
            raise InputError(f"{owner}: the graph has no {name}: set it, or use the protocol 'random'")
        if mask.dtype != torch.bool or mask.dim() not in (1, 2) or mask.size(0) != data.num_nodes or mask.numel() == 0:
            raise InputError(f"{owner}: {name} is {mask.dtype} of shape {tuple(mask.shape)}, expected booleans (N,) or "
                             f"(N, R) for N = {data.num_nodes}")
        masks.append(mask)
    if len({mask.shape for mask in masks}) > 1:
        raise InputError(f"{owner}: train_mask, val_mask and test_mask differ in shape: one entry a node and split")
    return masks[0], masks[1], masks[2]


def ascending_split(train: np.ndarray, val: np.ndarray, test: np.ndarray) -> Split:
    return Split(*(torch.from_numpy(np.sort(nodes)).long() for nodes in (train, val, test)))


def random_state(seed: int) -> np.random.RandomState:
    if not 0 <= seed < 2**32:
        raise InputError(f"seed {seed} is out of range: seeds are integers from 0 to 2^32 - 1")
    return np.random.RandomState(seed)
