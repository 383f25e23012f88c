"""Held-out links: hide a share of the edges before training, then see whether the embedding gives them away."""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError, unknown_name
from sgcl.evaluation.embedding import checked_embedding
from sgcl.evaluation.metrics import roc_auc
from sgcl.evaluation.protocol import check_graph
from sgcl.graph import Graph

_CHUNK = 1 << 16        # pairs whose rows are gathered at a time
_ENUMERATED = 1 << 20   # pairs of nodes up to which those without an edge are simply listed


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """A graph with some edges hidden.

    Args:
        graph: what to train on: both directions of each edge that was left, and everything else of the graph.
        positives: (2, P) hidden edges, each once.
        negatives: (2, P) as many pairs of nodes that no edge joins, hidden or not.
    """

    graph: Data
    positives: Tensor
    negatives: Tensor


def split_links(data: Data, share: float = 0.1, seed: int = 0) -> LinkSplit:
    """Hide a share of the edges. To do so before training is the caller's part: train on ``graph`` of the result.

    The graph is read as undirected and without self-loops, as it is trained on. Attributes of edges other than
    ``edge_weight`` are left out of the result.

    Args:
        data: with ``edge_index``, and ``edge_weight`` if edges have weights (>= 0).
        share: of the edges to hide, above 0 and below 1.
        seed: of what is hidden, and of the pairs without an edge.
    """
    data = check_graph("split_links", data)
    if not 0 < share < 1:
        raise InputError(f"split_links: share is {share}, expected a share of the edges above 0 and below 1")
    nodes = int(data.num_nodes)
    bare = Data(x=torch.ones(nodes, 1), edge_index=data.edge_index, edge_weight=data.get("edge_weight"))
    adj = Graph.from_data(bare).adj
    once = adj.row < adj.idx
    row, col = adj.row[once], adj.idx[once]                                # (E,), ascending by row * N + col
    hidden = round(share * len(row))
    if not 0 < hidden < len(row):
        raise InputError(f"split_links: a share of {share} of {len(row)} edges is {hidden}: some must be hidden and "
                         "some left to train on")
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(row), generator=generator)
    chosen, left = order[:hidden].sort().values, order[hidden:].sort().values
    graph = copy.copy(data)
    for name in [name for name in graph.keys() if graph.is_edge_attr(name) and name != "edge_index"]:  # noqa: SIM118
        del graph[name]
    one_way = torch.stack([row[left], col[left]])
    graph.edge_index = torch.cat([one_way, one_way.flip(0)], dim=1)
    graph.num_nodes = nodes
    if adj.value is not None:
        graph.edge_weight = adj.value[once][left].repeat(2)
    return LinkSplit(graph, torch.stack([row[chosen], col[chosen]]),
                     _without_edge(row * nodes + col, nodes, hidden, generator))


def link_auc(embedding: Tensor, positives: Tensor, negatives: Tensor, *, similarity: str = "cosine") -> float:
    """ROC-AUC of the similarity of two ends: the chance that a hidden edge is more similar than a pair without one.

    Args:
        embedding: (N, D), trained without the hidden edges.
        positives: (2, P) hidden edges.
        negatives: (2, Q) pairs without an edge.
        similarity: ``"cosine"``, or ``"dot"`` for the inner product of the rows as they are.
    """
    if similarity not in ("cosine", "dot"):
        raise unknown_name("similarity", similarity, ("cosine", "dot"))
    embedding = checked_embedding("link_auc", embedding)
    for name, pairs in (("positives", positives), ("negatives", negatives)):
        if pairs.dim() != 2 or pairs.size(0) != 2 or pairs.size(1) == 0 or pairs.is_floating_point():
            raise InputError(f"link_auc: {name} must be (2, P) node numbers, at least one pair, got shape "
                             f"{tuple(pairs.shape)} of {pairs.dtype}")
        if not 0 <= int(pairs.min()) <= int(pairs.max()) < len(embedding):
            raise InputError(f"link_auc: {name} name nodes {int(pairs.min())} to {int(pairs.max())}, but the embedding "
                             f"has {len(embedding)} rows")
    x = F.normalize(embedding) if similarity == "cosine" else embedding
    pairs = torch.cat([positives, negatives], dim=1).to(x.device)
    scores = torch.cat([(x[part[0]] * x[part[1]]).sum(1) for part in pairs.split(_CHUNK, dim=1)])
    true = torch.arange(pairs.size(1)) < positives.size(1)
    return roc_auc(true.long().numpy(), scores.cpu().double().numpy())


def _without_edge(keys: Tensor, nodes: int, wanted: int, generator: torch.Generator) -> Tensor:
    """(2, wanted) different pairs i < j, uniform among those whose key i N + j is not in the ascending ``keys``."""
    pairs = nodes * (nodes - 1) // 2
    if pairs - len(keys) < wanted:
        raise InputError(f"split_links: {wanted} edges are hidden, but only {pairs - len(keys)} pairs of nodes have no "
                         "edge to be set against them: hide fewer")
    if pairs <= _ENUMERATED:
        row, col = torch.triu_indices(nodes, nodes, offset=1)
        free = row * nodes + col
        free = free[~torch.isin(free, keys)]
        drawn = free[torch.randperm(len(free), generator=generator)[:wanted]]
    else:
        drawn = torch.empty(0, dtype=torch.long)
        while len(drawn) < wanted:
            one, other = torch.randint(nodes, (2, 2 * (wanted - len(drawn)) + 64), generator=generator)
            one, other = one[one != other], other[one != other]
            new = torch.unique(torch.minimum(one, other) * nodes + torch.maximum(one, other))
            for taken in (keys, drawn):
                if len(taken):
                    new = new[taken[torch.searchsorted(taken, new).clamp_(max=len(taken) - 1)] != new]
            new = new[torch.randperm(len(new), generator=generator)[:wanted - len(drawn)]]
            drawn = torch.cat([drawn, new]).sort().values
    drawn = drawn.sort().values
    return torch.stack([torch.div(drawn, nodes, rounding_mode="floor"), drawn % nodes])
