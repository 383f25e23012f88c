"""How much smoother an embedding is inside classes than between them: the paper's disparity, and Dirichlet energy."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation.embedding import checked_embedding
from sgcl.evaluation.labels import checked_labels
from sgcl.sparse import CSR, sddmm


@dataclass(frozen=True)
class Disparity:
    """Disparity of an embedding; lower is better.

    Args:
        value: ``intra - inter``, in [-2, 2]; ``None`` where it is undefined.
        scaled: (value + 2) / 4, in [0, 1].
        intra, inter: mean of ½||x_i - x_j||² over the edges inside classes and between them; ``None`` without any.
        intra_edges, inter_edges: how many of either there are, each undirected edge counted once.
        reason: why ``value`` is undefined.
    """

    value: float | None
    scaled: float | None
    intra: float | None
    inter: float | None
    intra_edges: int
    inter_edges: int
    reason: str | None = None


def disparity(embedding: Tensor, edges: Tensor | CSR, y: Tensor) -> Disparity:
    """mean over intra-class edges of ½||x_i - x_j||² minus the mean over inter-class edges, rows x_i of unit length.

    Every undirected edge counts once and with weight 1: the paper's Δ_ij has a factor a_ij, which is 1 on its graphs.
    Self-loops and edges at unlabelled nodes (-1) are left out; a row of zeros stays one. Memory O(N D + E).

    Args:
        embedding: (N, D).
        edges: ``edge_index`` (2, E) in one or both directions, or an (N, N) adjacency.
        y: (N,) labels.
    """
    x, y = _checked("disparity", embedding), checked_labels("disparity", y, len(embedding)).to(embedding.device)
    pairs = _undirected(edges, len(x))
    labelled = (y[pairs.row] >= 0) & (y[pairs.idx] >= 0)
    pairs = pairs.keep(labelled)
    same = y[pairs.row] == y[pairs.idx]                                    # (E,)
    distance = _half_squared_distance(pairs, F.normalize(x))               # (E,)
    intra, inter = _mean(distance[same]), _mean(distance[~same])
    counts = int(same.sum()), int((~same).sum())
    if intra is None or inter is None:
        absent = " and ".join([*["intra-class"] * (intra is None), *["inter-class"] * (inter is None)])
        return Disparity(None, None, intra, inter, *counts, reason=f"the graph has no {absent} edges")
    value = intra - inter
    return Disparity(value, (value + 2) / 4, intra, inter, *counts)


def dirichlet_energy(embedding: Tensor, adj: CSR) -> float:
    """½ Σ_ij a_ij ||x_i - x_j||² over ordered pairs, rows as they are.

    An undirected edge is two ordered pairs, so it adds a_ij ||x_i - x_j||² in all: the trace of X^T (D - A) X.
    Memory O(N D + E).

    Args:
        embedding: (N, D).
        adj: (N, N) adjacency; its values are the a_ij.
    """
    x = _checked("dirichlet_energy", embedding).double()
    if adj.shape != (len(x), len(x)):
        raise InputError(f"dirichlet_energy: the adjacency is {adj.shape}, but the embedding has {len(x)} rows")
    distance = _half_squared_distance(adj, x - x.mean(0))  # a shift changes no difference, and rounds less
    return float((adj.values(torch.float64).double() * distance).sum())


def _checked(owner: str, embedding: Tensor) -> Tensor:
    embedding = checked_embedding(owner, embedding)
    return embedding if embedding.dtype == torch.float64 else embedding.float()


def _undirected(edges: Tensor | CSR, num_nodes: int) -> CSR:
    """The pattern of pairs i < j joined by an edge, each once."""
    if isinstance(edges, CSR):
        if edges.shape != (num_nodes, num_nodes):
            raise InputError(f"disparity: the adjacency is {edges.shape}, but the embedding has {num_nodes} rows")
        if edges.symmetric:
            return edges.with_values(None).keep(edges.row < edges.idx)
        row, col = edges.row, edges.idx
    else:
        if edges.dim() != 2 or edges.size(0) != 2 or edges.is_floating_point():
            raise InputError(f"disparity: edge_index must be (2, E) integers, got shape {tuple(edges.shape)} of "
                             f"{edges.dtype}")
        if edges.numel() and not 0 <= int(edges.min()) <= int(edges.max()) < num_nodes:
            raise InputError(f"disparity: edge_index names nodes {int(edges.min())} to {int(edges.max())}, but the "
                             f"embedding has {num_nodes} rows")
        row, col = edges.long()
    row, col = torch.minimum(row, col), torch.maximum(row, col)
    return CSR.from_coo(row[row < col], col[row < col], shape=(num_nodes, num_nodes))


def _half_squared_distance(pairs: CSR, x: Tensor) -> Tensor:
    """½||x_i - x_j||² = ½(||x_i||² + ||x_j||²) - <x_i, x_j> over a pattern: (nnz,) in float64."""
    square = x.square().sum(1).double() / 2                                # (N,)
    return (square[pairs.row] + square[pairs.idx] - sddmm(pairs, x, x).double()).clamp_(min=0)


def _mean(distance: Tensor) -> float | None:
    return float(distance.mean()) if len(distance) else None
