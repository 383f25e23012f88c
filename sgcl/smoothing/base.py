"""What a smoothing is: a graph filter that says who counts as a positive, and how much.

The filter always acts on the identity (node t of one view is the positive of node t of the other), so the
positives are a sparse matrix; no dense (N, N) array is ever made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from sgcl.errors import InputError
from sgcl.smoothing.rows import finished, kept, row_of
from sgcl.sparse import CSR


@dataclass(frozen=True)
class Smoothing(ABC):
    """A graph filter S(I, A) = P in [0, 1]^(N x N).

    A smoothing of one's own is a frozen dataclass with a :meth:`filter`; what every one of them ends with (entries
    clipped to [0, 1], zeros dropped, the diagonal set to 1) is done here. P is in general not symmetric.

    Args:
        top: keep no more than so many entries of a row beside the diagonal, the largest, and of equal ones those of the
            first nodes. A bound on memory, O(N top), for graphs with hubs; ``None`` has none, as in the paper.
    """

    top: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.top is not None:
            check_count(type(self).__name__, "top", self.top)

    @property
    def most(self) -> int | None:
        """How many entries a row of :meth:`filter` need not go beyond: ``top``, and the diagonal."""
        return None if self.top is None else self.top + 1

    def __call__(self, adj: CSR) -> CSR:
        """The positives of a graph.

        Args:
            adj: (N, N) symmetric adjacency; its values are the edge weights. Loops are ignored.

        Returns:
            (N, N) positives on the device of ``adj``: columns ascending, float32 values in (0, 1], the diagonal stored
            and exactly 1, not marked symmetric. The work is done in float64 on the CPU.
        """
        if adj.shape[0] != adj.shape[1]:
            raise InputError(f"{type(self).__name__}: the adjacency has shape {adj.shape}, expected (N, N)")
        return finished(self.filter(_edges(adj)), self.top).to(adj.device)

    @abstractmethod
    def filter(self, adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """The filter itself, before the common ending.

        Args:
            adj: (N, N) float64 adjacency, without loops or stored zeros, columns ascending.

        Returns:
            (N, N) values; the diagonal does not matter.
        """


def edge_coverage(positives: CSR, adj: CSR) -> float:
    """The share of the graph's edges that are positives, in linear time; 1 for a graph without edges."""
    edges = adj.to_scipy() != 0
    if edges.nnz == 0:
        return 1.0
    both = (positives.to_scipy() > 0).multiply(edges)
    return float(both.nnz / edges.nnz)


def check_positive(owner: str, name: str, value: float) -> None:
    """Raise unless ``value`` is a finite number above 0."""
    if not 0.0 < value < math.inf:
        raise InputError(f"{owner}: {name} is {value}, expected a finite number > 0")


def check_count(owner: str, name: str, value: int) -> None:
    """Raise unless ``value`` is a whole number from 1 on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{owner}: {name} is {value}, expected a whole number >= 1")


def check_prune(owner: str, value: float) -> None:
    """Raise unless ``value`` is a threshold in [0, 1)."""
    if not 0.0 <= value < 1.0:
        raise InputError(f"{owner}: prune is {value}, expected a threshold in [0, 1); 0 keeps every entry")


def _edges(adj: CSR) -> scipy.sparse.csr_array:
    """The adjacency for SciPy, with short indices where they do."""
    index = np.int32 if max(adj.nnz, adj.shape[0]) < 2**31 else np.int64
    matrix = scipy.sparse.csr_array((adj.values().detach().cpu().numpy().astype(np.float64),
                                     adj.idx.cpu().numpy().astype(index), adj.ptr.cpu().numpy().astype(index)),
                                    shape=adj.shape)
    real = (row_of(matrix) != matrix.indices) & (matrix.data != 0)
    return matrix if real.all() else kept(matrix, real)
