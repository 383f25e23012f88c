"""How settings are told apart: a graph to train on, and a score of its embedding that knows no test label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import datasets, workflow
from sgcl.errors import InputError, unknown_name
from sgcl.evaluation import PROTOCOLS, Split, effective_rank, link_auc
from sgcl.graph import Graph

SELECT = ("validation", "links", "rank")


class Arena(NamedTuple):
    """Where trials compete."""

    graph: Graph                        # what they are trained on
    score: Callable[[Tensor], float]    # of an (N, D) embedding of it; more is better
    metric: str                         # what the score is called


def arena_of(select: str, data: Data, *, seed: int, protocol: str, dataset: str,
          files: Mapping[str, Any] | None = None) -> Arena:
    """The arena of a graph.

    Args:
        select: ``"validation"``, a linear probe's score on the validation nodes of the seed's split; ``"links"``, the
            ROC-AUC of a tenth of the edges, hidden before training; ``"rank"``, the effective rank.
        data: the graph, with labels for ``"validation"``.
        seed: of the split or of the hidden edges.
        protocol, dataset, files: how it is split, its name, and the files it was read from.
    """
    check_select(select, collection=data.get("batch") is not None)
    data, graph = workflow.restricted_graph(data, protocol)
    graph = graph.whole("a sweep")
    if select == "rank":
        return Arena(graph, effective_rank, "effective rank")
    if select == "links":
        links, graph = workflow.without_links(data, seed, files)
        return Arena(graph, lambda embedding: link_auc(embedding, links.positives, links.negatives), "link ROC-AUC")
    if data.get("y") is None:
        raise InputError("the graph has no labels to select by: give --labels FILE, or --select links or rank")
    metric = datasets.DATASETS[dataset].metric if files is None else None
    return Arena(graph, _Validation(data, protocol, seed, metric), f"validation {metric or 'score'}")


def check_select(select: str, *, collection: bool) -> None:
    """Raise on a way to select that there is not, or not for a collection of graphs."""
    if select not in SELECT:
        raise unknown_name("way to select", select, SELECT)
    if collection and select != "rank":
        raise InputError(f"--select {select} is about the nodes of a graph, this is a collection of graphs: give "
                         "--select rank")


class _Validation:
    """The validation score of a linear probe. Labels of test nodes are gone before the first embedding is there; the
    probe gets no row of them either: where it wants test nodes, it meets the validation nodes again."""

    def __init__(self, data: Data, protocol: str, seed: int, metric: str | None) -> None:
        self.protocol, self.seed, self.metric = PROTOCOLS[protocol], seed, metric
        split = self.protocol.split(data, seed)
        self.y = data.y.clone()
        self.y[split.test] = -1
        again = split.val if len(split.val) else split.train  # a protocol without the former chooses by folds
        self.nodes = torch.cat([split.train, split.val, again])
        place = torch.arange(len(self.nodes)).split([len(split.train), len(split.val), len(again)])
        self.split = Split(*place)

    def __call__(self, embedding: Tensor) -> float:
        return self.protocol.probe(embedding[self.nodes], self.y[self.nodes], self.split, seed=self.seed,
                                   metric=self.metric).val
