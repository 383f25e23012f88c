"""Taubin smoothing: a filter that shrinks and one that swells, in turn (Taubin, 1995; SGCL's S_T)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy.sparse

from sgcl.errors import InputError
from sgcl.smoothing.base import Smoothing, check_count, check_prune
from sgcl.smoothing.memory import check_memory, held, reach
from sgcl.smoothing.rows import by_rows, degree_power, filter_step, identity, pruned, scaled, times


@dataclass(frozen=True)
class Taubin(Smoothing):
    """``steps`` times V <- (I + tau L)(I + mu L) V from V = I, with L = I - D^-1/2 A D^-1/2.

    With Â = D^-1/2 A D^-1/2 one step is V <- c0 V + c1 Â V + c2 Â² V,

        c0 = (1 + tau)(1 + mu),   c1 = -(mu + tau + 2 mu tau) > 0,   c2 = mu tau < 0,

    that is 0.78, 0.34 and -0.12 at the defaults: entries two hops away turn negative. A node without edges has an L
    row of 0.

    Args:
        mu: the shrinking filter, mu < -tau.
        tau: the swelling filter, tau > 0.
        steps: K of the paper.
        prune: after each step, entries below it are dropped and the diagonal is set back to 1. 0 is the paper's
            algorithm to the letter: negative entries take part in the next step and only the end clips. It reaches
            2 ``steps`` hops, near N² entries on dense graphs, and is refused where memory may not hold them.

    Departures from the paper: the pruning, which is the published code's; ``prune=0`` has none.
    """

    mu: float = -0.4
    tau: float = 0.3
    steps: int = 2
    prune: float = 0.02

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -math.inf < self.mu < -self.tau < 0:
            raise InputError(f"Taubin: mu is {self.mu} and tau is {self.tau}, expected mu < -tau < 0; "
                             "take tau > 0 and mu below its negative, e.g. mu=-0.4, tau=0.3")
        check_count("Taubin", "steps", self.steps)
        check_prune("Taubin", self.prune)

    def filter(self, adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        root = degree_power(adj, -0.5)
        neighbours = scaled(adj, root, root)                               # Â
        return self._pruned(neighbours) if self.prune else self._to_the_letter(adj, neighbours)

    def _to_the_letter(self, adj: scipy.sparse.csr_array, neighbours: scipy.sparse.csr_array
                       ) -> scipy.sparse.csr_array:
        """Row block by row block: the filters commute, so rows of the identity may be multiplied from the right."""
        bound = reach(adj, 2 * self.steps)
        check_memory("Taubin with prune=0", held(bound, self.most), "prune > 0, e.g. prune=0.02")
        eye = identity(adj.shape[0])
        laplacian = eye - neighbours  # a node without edges keeps to itself, where only the diagonal is concerned
        shrink, swell = eye + self.mu * laplacian, eye + self.tau * laplacian

        def work(rows: slice) -> scipy.sparse.csr_array:
            block = eye[rows]
            for _ in range(self.steps):
                block = times(times(block, shrink), swell)
            return pruned(block, 0.0)

        return by_rows(work, bound, self.most)

    def _pruned(self, neighbours: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """After every step V >= 0, and c2 < 0: an entry can only stay where c0 V + c1 Â V >= prune already, and Â² V
        is worked out there alone. Nothing is approximated. As Â is symmetric, the steps can be taken on the transpose,
        whose rows do not need each other."""
        weights = ((1 + self.tau) * (1 + self.mu), -(self.mu + self.tau + 2 * self.mu * self.tau), self.mu * self.tau)
        transposed = identity(neighbours.shape[0])
        for _ in range(self.steps):
            transposed = filter_step(transposed, neighbours, weights, self.prune)
        return transposed.T.tocsr()
