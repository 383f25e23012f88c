"""No smoothing: each node is its own and only positive, the conventional contrastive target."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse

from sgcl.smoothing.base import Smoothing
from sgcl.smoothing.rows import identity


@dataclass(frozen=True)
class Identity(Smoothing):
    """P = I, for comparison."""

    def filter(self, adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return identity(adj.shape[0])
