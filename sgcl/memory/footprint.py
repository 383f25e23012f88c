"""An estimate of the memory of a training: its steps on small stand-ins for the graph, scaled up to its size.

Nothing needs to be known of a method but what it does.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from sgcl import distributed
from sgcl.embeddings import NODES_AT_A_TIME
from sgcl.estimator import Estimator
from sgcl.graph import Graph
from sgcl.mapped import MappedFeatures
from sgcl.memory.meter import Meter
from sgcl.memory.stand_ins import piece, shuffled
from sgcl.methods import METHODS
from sgcl.samplers import FullGraph, Sampler
from sgcl.smoothing.rows import block_size, blocks_of
from sgcl.sparse import SparseFeatures

_NODES = 2048      # of the larger stand-in
_FEW = 64          # of the first one
_FIXED = 1 << 26   # what a run loads beside its data: the writers of its files, the training curve
_SMALL = 1 << 16   # blocks on a stand-in, so small that they do not count there: what they take does not grow
_ENTRY = 24        # bytes of an entry of a block
_DRAWS = 8         # batches of graphs, of which the largest counts


@dataclass(frozen=True)
class Estimate:
    """Bytes that a training adds to the process, by what they are for.

    Args:
        model: parameters, the moments of the optimiser and its step.
        beforehand: what a method works out of the whole graph before its first step.
        embedding: the whole graph embedded at once.
        batch: the features and edges of a batch; 0 where it is the whole graph, which is there already.
        views: views and positives of a step.
        activations: what a step holds beside them, gradients included.
        blocks: of the sparse products by which positives are found.
        nodes: how many a batch has.
    """

    model: int
    beforehand: int
    embedding: int
    batch: int
    views: int
    activations: int
    blocks: int
    nodes: int

    @property
    def always(self) -> int:
        """What is there all the time."""
        return _FIXED + self.model + self.blocks

    @property
    def training(self) -> int:
        """The most that is held at a time, up to the last step."""
        return self.always + max(self.beforehand, self.batch + self.views + self.activations)

    @property
    def total(self) -> int:
        """The most that is held at a time, with the embedding of the whole graph after the last step."""
        return max(self.training, self.always + self.embedding)

    def __str__(self) -> str:
        names = ("model", "beforehand", "batch", "views", "activations", "embedding")
        parts = ", ".join(f"{name} {shown(getattr(self, name))}" for name in names if getattr(self, name) >= 2**19)
        return f"{shown(self.total)} for batches of {self.nodes} nodes ({parts or 'next to nothing'})"


class Phases(NamedTuple):
    """Bytes held at the most."""

    beforehand: int   # before the first step
    embedding: int    # while the graph is embedded
    views: int        # made for a step and kept to its end
    step: int         # in a step, the views among them


def estimate(estimator: Estimator, graph: Graph, *, sampler: Sampler | None = None, whole: Phases | None = None
             ) -> Estimate:
    """What it will take to train ``estimator`` on ``graph`` and to embed it, on a CPU.

    Memory is linear in the nodes, so two sizes of a stand-in give the line. Of the two kinds of stand-in the larger
    figure counts.

    Args:
        sampler: in the place of the estimator's own.
        whole: what :func:`phases` gave for the graph, where it is known already.
    """
    sampler = estimator.settings["sampler"] if sampler is None else sampler
    step = whole = phases(estimator, graph) if whole is None else whole
    batch, size, adj = 0, graph.num_nodes, graph.adj
    if not isinstance(sampler, FullGraph):
        nodes = _batch(sampler, graph)
        step, size, adj = phases(estimator, graph, nodes), len(nodes), graph.adj.submatrix(nodes)
        batch = round(_bytes_of_a_node(graph) * size)
    paths = int(adj.ptr.diff().square().sum())  # of two steps, as many as a product has entries
    model = sum(tensor.nbytes * (5 if tensor.requires_grad else 1)
                for tensor in estimator.untrained(graph.num_features).parameters())
    copied = estimator.settings["normalize_features"]
    if isinstance(graph.x, MappedFeatures):
        copied = isinstance(sampler, FullGraph) or METHODS[estimator.method_name].looks_at_all()  # type: ignore[attr-defined]
    copy = round(_bytes_of_a_node(graph) * graph.num_nodes) if copied else 0
    blocks = _ENTRY * min(paths, torch.get_num_threads() * block_size())
    ahead = estimator.settings["workers"]  # batches and views that wait for their step
    held = 1                               # batches that are in the making at once
    if estimator.settings["sync_grams"]:
        held = -(-(estimator.settings["accumulate"] or sampler.on(graph).batches) // distributed.current().size)
    return Estimate(model, whole.beforehand + copy, whole.embedding + copy, (held + ahead) * batch + copy,
                    (held + ahead) * step.views, held * (step.step - step.views), blocks, size)


def _batch(sampler: Sampler, graph: Graph) -> Tensor:
    """(n,) the nodes of a batch; of a collection, whose graphs differ in size, of the largest of a few."""
    chance = torch.Generator().manual_seed(0)
    return max((sampler.nodes(graph, chance) for _ in range(1 if graph.graph_ptr is None else _DRAWS)), key=len)


def phases(estimator: Estimator, graph: Graph, nodes: Tensor | None = None) -> Phases:
    """What a batch of ``nodes`` takes; the whole graph unless given."""
    if graph.graph_ptr is not None:
        return _phases_of_graphs(estimator, graph, nodes)
    adj = graph.adj.with_values(graph.adj.value, symmetric=True) if nodes is None else graph.adj.submatrix(nodes)
    nodes = torch.arange(graph.num_nodes) if nodes is None else nodes
    generator = torch.Generator().manual_seed(0)
    some, part = piece(adj, min(_FEW, len(nodes)), generator)
    _measured(estimator, Graph(graph.x[nodes[some]], part))                # what is loaded on first use does not count
    if len(nodes) <= _NODES // 2:
        return _measured(estimator, Graph(graph.x[nodes], adj))
    size, found = min(_NODES, len(nodes)), []
    for stand_in in (piece, shuffled):
        half, full = (_measured(estimator, Graph(graph.x[nodes[some]], part))
                      for some, part in (stand_in(adj, many, generator) for many in (size // 2, size)))
        found.append([round(b + max(b - a, 0) * (len(nodes) - size) / (size - size // 2))
                      for a, b in zip(half, full, strict=True)])
    return Phases(*map(max, *found))


def _phases_of_graphs(estimator: Estimator, graph: Graph, nodes: Tensor | None = None) -> Phases:
    """The same for graphs of a collection, by steps on some of them, whole; unless given, of all of its graphs, which
    are embedded some at a time."""
    assert graph.graph_ptr is not None
    of = graph.graph_of if nodes is None else graph.graph_of[nodes]        # (n,)
    graphs, sizes = of.unique(), graph.graph_ptr.diff()
    drawn = graphs[torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))]
    some = max(int((sizes[drawn].cumsum(0) <= _NODES).sum()), 2)
    full, half = (graph.take(drawn[:many].sort().values).replace(n_id=None) for many in (some, max(some // 2, 1)))
    _measured(estimator, half)                                             # what is loaded on first use does not count
    held, less = _measured(estimator, full), _measured(estimator, half)
    together = [len(of), min(len(of), NODES_AT_A_TIME + int(sizes.max())), len(of), len(of)]
    return Phases(*(round(b + max(b - a, 0) * max(many - full.num_nodes, 0) / max(full.num_nodes - half.num_nodes, 1))
                    for a, b, many in zip(less, held, together, strict=True)))


def _measured(estimator: Estimator, graph: Graph) -> Phases:
    """What a training holds on that very graph, by doing what the trainer does in the first epoch of each stage."""
    generator, epochs = torch.Generator().manual_seed(0), estimator.settings["epochs"]
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(action="ignore"), blocks_of(_SMALL):
        method, found = estimator.untrained(graph.num_features), []
        method.rehearse()
        with Meter() as meter:
            with torch.no_grad():
                method.eval().start(graph)
            for epoch in method.stages(epochs):
                with torch.no_grad():
                    method.eval().before_epoch(graph, epoch, epochs, generator)
                    first = meter.peak()
                    method.embed(graph)
                embedded, kept = meter.peak(), meter.now()
                views = method.train().augment(graph, generator)
                made = meter.now() - kept
                method.loss(views).backward()
                found.append(Phases(first, embedded, made, meter.peak() + made))  # they are there until the next are
                method.zero_grad(set_to_none=True)
                del views
        return Phases(*map(max, *found, found[0]))


def shown(size: float) -> str:
    """Bytes for people.

    >>> shown(3 * 2**30), shown(5_400_000)
    ('3.0 GB', '5 MB')
    """
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"


def _bytes_of_a_node(graph: Graph) -> float:
    """Its features and its edges."""
    x = graph.x
    if isinstance(x, MappedFeatures):
        features = x.row_bytes
    else:
        features = 12 * x.matrix.nnz / len(x) if isinstance(x, SparseFeatures) else x.element_size() * x.shape[1]
    return features + 8 + 12 * graph.adj.nnz / graph.num_nodes
