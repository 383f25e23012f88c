"""Node features made from the graph alone, for graphs that come without: degree, walk, spectral, ones, learned.

All are fixed functions of the graph with its nodes in the order of their ids: nothing is drawn at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import torch
from torch import Tensor

DEGREE_CAP = 64
WALK_STEPS = 8
SPECTRAL_WIDTH = 32
LEARNED = "learned"
SPECTRAL = "spectral"

_DENSE_BELOW = 256  # nodes


def degree(adj: scipy.sparse.csr_array) -> Tensor:
    """One-hot number of neighbours, all from 64 on together: (N, 65), sparse."""
    neighbours = np.minimum(np.diff(adj.indptr), DEGREE_CAP)
    return sparse_tensor(scipy.sparse.csr_array(
        (np.ones(len(neighbours), np.float32), neighbours, np.arange(len(neighbours) + 1)),
        shape=(len(neighbours), DEGREE_CAP + 1)))


def walk(adj: scipy.sparse.csr_array) -> Tensor:
    """What a random walk meets: (N, 17).

    With P = D^-1 A and s = log(1 + degree): s itself, then for k = 1 to 8 the mean m_k = P^k s and the spread
    sqrt(P^k s² - m_k²) of s where a walk of k steps ends. A node without edges stays where it is. The columns mean the
    same on every graph, so a model trained on one can embed another.
    """
    strength = adj.sum(axis=1)
    alone = strength == 0
    step = scipy.sparse.diags_array(1 / np.where(alone, 1, strength)) @ adj + scipy.sparse.diags_array(alone * 1.0)
    size = np.log1p(np.diff(adj.indptr))
    mean, square, columns = size, size**2, [size]
    for _ in range(WALK_STEPS):
        mean, square = step @ mean, step @ square
        columns += [mean, np.sqrt(np.maximum(square - mean**2, 0))]
    return torch.from_numpy(np.stack(columns, axis=1).astype(np.float32))


def spectral(adj: scipy.sparse.csr_array) -> Tensor:
    """The eigenvectors of D^-1/2 A D^-1/2 with the largest eigenvalues, times sqrt(N): (N, 32).

    The sign makes the entry of largest size positive. Smaller graphs have columns of zeros at the end.
    """
    num_nodes = adj.shape[0]
    strength = adj.sum(axis=1)
    scale = scipy.sparse.diags_array(np.where(strength > 0, 1 / np.sqrt(np.where(strength > 0, strength, 1)), 0))
    matrix = scale @ adj @ scale
    if num_nodes < _DENSE_BELOW:
        value, vector = np.linalg.eigh(matrix.toarray())
    else:
        start = np.random.default_rng(0).standard_normal(num_nodes)
        value, vector = scipy.sparse.linalg.eigsh(matrix, k=SPECTRAL_WIDTH, which="LA", v0=start, tol=1e-6)
    vector = vector[:, np.argsort(-value, kind="stable")[:SPECTRAL_WIDTH]]
    top = vector[np.abs(vector).argmax(axis=0), np.arange(vector.shape[1])]
    vector = vector * np.where(top < 0, -1, 1) * np.sqrt(num_nodes)
    return torch.from_numpy(np.pad(vector, ((0, 0), (0, SPECTRAL_WIDTH - vector.shape[1]))).astype(np.float32))


def ones(adj: scipy.sparse.csr_array) -> Tensor:
    """The same 1 for every node: (N, 1)."""
    return torch.ones(adj.shape[0], 1)


def learned(adj: scipy.sparse.csr_array) -> Tensor:
    """A column for each node: the identity, (N, N), sparse.

    The N rows of the first layer's weight are then a vector for each node, learned with the rest: N D numbers. Nodes
    of other graphs have none, so a model with these features embeds the nodes it was trained on and no others.
    """
    return sparse_tensor(scipy.sparse.eye_array(adj.shape[0], dtype=np.float32, format="csr"))


STRUCTURAL: Mapping[str, Callable[[scipy.sparse.csr_array], Tensor]] = {
    "degree": degree, "walk": walk, SPECTRAL: spectral, "ones": ones, LEARNED: learned}


def adjacency(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> scipy.sparse.csr_array:
    """(N, N) both directions of each edge, the larger weight of the two, no loops."""
    row, col = edge_index.numpy()
    weight = np.ones(len(row)) if edge_weight is None else edge_weight.detach().numpy().astype(np.float64).reshape(-1)
    apart = row != col
    one_way = scipy.sparse.csr_array((weight[apart], (row[apart], col[apart])), shape=(num_nodes, num_nodes))
    if edge_weight is None:
        one_way.data[:] = 1  # duplicates were added up
    both = one_way.maximum(one_way.T).tocsr()
    both.sort_indices()
    return both


def sparse_tensor(matrix: scipy.sparse.csr_array) -> Tensor:
    """The matrix as a torch CSR tensor, float32."""
    matrix = scipy.sparse.csr_array(matrix)
    matrix.sum_duplicates()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch calls its CSR layout new
        return torch.sparse_csr_tensor(torch.from_numpy(matrix.indptr.astype(np.int64)),
                                       torch.from_numpy(matrix.indices.astype(np.int64)),
                                       torch.from_numpy(matrix.data.astype(np.float32)), size=matrix.shape)
