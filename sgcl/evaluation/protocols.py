"""Evaluation protocols: which graph the encoder sees, which nodes the probe sees, and the probe of the papers.

The encoder is trained without labels on the whole restricted graph, test nodes included; only the probe sees labels.
Numbers made under two protocols do not belong in one table. Unlabelled nodes (label -1) are in no set.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError, unknown_name
from sgcl.evaluation.labels import checked_labels
from sgcl.evaluation.probe import ProbeResult
from sgcl.evaluation.published import published_probe
from sgcl.evaluation.splits import Split
from sgcl.graph import largest_component

_DEVELOPMENT_SEED = 1684992425                 # the one published with the protocol
_DEVELOPMENT_SIZE = {"coauthor-cs": 5000}      # by data.name; 1500 for all others


class Protocol(ABC):
    """A way to split a graph's nodes. ``steps`` and ``every`` are those of its papers' probe."""

    name: ClassVar[str]
    steps: ClassVar[int] = 5000
    every: ClassVar[int | None] = 20

    def restrict(self, data: Data) -> Data:
        """The graph to train on and to split; ``data`` itself unless the protocol says otherwise."""
        return data

    @abstractmethod
    def split(self, data: Data, seed: int) -> Split:
        """The sets of one run, ascending, a pure function of the restricted graph and the seed."""

    def published_probe(self, embedding: Tensor, y: Tensor, split: Split, *, seed: int) -> ProbeResult:
        """The probe of the protocol's papers; see :func:`sgcl.evaluation.published_probe`."""
        return published_probe(embedding, y, split, steps=self.steps, every=self.every, seed=seed)


@dataclass(frozen=True)
class Public(Protocol):
    """The one split shipped with the data as masks: Planetoid's 20 labels a class. The same for every seed."""

    name: ClassVar[str] = "public"
    steps: ClassVar[int] = 100
    every: ClassVar[int | None] = None

    def split(self, data: Data, seed: int) -> Split:
        masks = _masks(self.name, data)
        if masks[0].dim() != 1:
            raise InputError(f"public: the graph has {masks[0].size(1)} splits, not one: use the protocol 'fixed'")
        return _from_masks(self.name, data, *masks)


@dataclass(frozen=True)
class Random(Protocol):
    """10 % train, 80 % test, both rounded down, and the rest, about 10 %, validation: drawn anew for each seed."""

    name: ClassVar[str] = "random"

    def split(self, data: Data, seed: int) -> Split:
        y = checked_labels(self.name, data.y, data.num_nodes)
        labelled = (y >= 0).nonzero().view(-1).numpy()
        count = len(labelled)
        if count < 10:
            raise InputError(f"random: 10/10/80 of {count} labelled nodes leaves a set empty: at least 10 are needed")
        order = _random_state(seed).permutation(labelled)
        train, test = count // 10, count * 8 // 10
        return _split(order[:train], order[train:count - test], order[count - test:])


@dataclass(frozen=True)
class Development(Protocol):
    """The largest component; test nodes the same in all runs, train and validation drawn from the others.

    ``size`` development nodes are drawn once for all; everything else is test. Each seed draws ``per_class`` training
    nodes a class from them, without replacement; those left are validation. Gasteiger et al., Diffusion Improves
    Graph Learning, NeurIPS 2019.

    Args:
        size: development nodes; 1500 unless given, and 5000 where ``data.name`` is ``"coauthor-cs"``, as published.
        per_class: training nodes of each class.
    """

    name: ClassVar[str] = "development"
    size: int | None = None
    per_class: int = 20

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 1:
            raise InputError(f"development: size is {self.size}, expected at least 1 node")
        if self.per_class < 1:
            raise InputError(f"development: per_class is {self.per_class}, expected at least 1 node")

    def restrict(self, data: Data) -> Data:
        return largest_component(data)

    def split(self, data: Data, seed: int) -> Split:
        y = checked_labels(self.name, data.y, data.num_nodes)
        if not _is_connected(data):
            raise InputError("development: the graph has more than one component: split what restrict(data) returns")
        labelled = (y >= 0).nonzero().view(-1).numpy()
        size = self.size or _DEVELOPMENT_SIZE.get(data.get("name"), 1500)
        if len(labelled) <= size:
            raise InputError(f"development: the largest component has {len(labelled)} labelled nodes, but {size} are "
                             "for development and the rest for testing: use the protocol 'random'")
        drawn = np.random.RandomState(_DEVELOPMENT_SEED).choice(len(labelled), size, replace=False)
        development = labelled[drawn]
        y_development = y.numpy()[development]
        random, train = _random_state(seed), []
        for label in range(int(y.max()) + 1):
            members = development[y_development == label]
            if len(members) < self.per_class:
                raise InputError(f"development: class {label} has {len(members)} of the {size} development nodes, but "
                                 f"{self.per_class} are for training: use the protocol 'random'")
            train.append(random.choice(members, self.per_class, replace=False))
        chosen = np.concatenate(train)
        return _split(chosen, np.setdiff1d(development, chosen), np.setdiff1d(labelled, development))


@dataclass(frozen=True)
class Fixed(Protocol):
    """The R splits shipped with the data as (N, R) masks: run i takes mask i, beginning again after the last."""

    name: ClassVar[str] = "fixed"

    def split(self, data: Data, seed: int) -> Split:
        masks = _masks(self.name, data)
        if masks[0].dim() != 2:
            raise InputError("fixed: the graph has a single split: use the protocol 'public'")
        _random_state(seed)
        train, val, test = (mask[:, seed % mask.size(1)] for mask in masks)
        return _from_masks(self.name, data, train, val, test)


class _Protocols(dict[str, Protocol]):
    """Name to protocol; an unknown name is answered with the nearest known one."""

    def __missing__(self, name: str) -> Protocol:
        raise unknown_name("protocol", name, self)


PROTOCOLS = _Protocols({protocol.name: protocol for protocol in (Public(), Random(), Development(), Fixed())})


def _masks(owner: str, data: Data) -> tuple[Tensor, Tensor, Tensor]:
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


def _from_masks(owner: str, data: Data, train: Tensor, val: Tensor, test: Tensor) -> Split:
    labelled = checked_labels(owner, data.y, data.num_nodes) >= 0
    return Split(*((mask & labelled).nonzero().view(-1) for mask in (train, val, test)))


def _split(train: np.ndarray, val: np.ndarray, test: np.ndarray) -> Split:
    return Split(*(torch.from_numpy(np.sort(nodes)).long() for nodes in (train, val, test)))


def _random_state(seed: int) -> np.random.RandomState:
    if not 0 <= seed < 2**32:
        raise InputError(f"seed {seed} is out of range: seeds are integers from 0 to 2^32 - 1")
    return np.random.RandomState(seed)


def _is_connected(data: Data) -> bool:
    row, col = data.edge_index.cpu().numpy()
    ones = np.ones(len(row), dtype=bool)
    pattern = scipy.sparse.coo_array((ones, (row, col)), shape=(data.num_nodes, data.num_nodes))
    return int(scipy.sparse.csgraph.connected_components(pattern, directed=False, return_labels=False)) == 1
