"""Diffusion smoothing: a share of each neighbour's value is added, a few times over (SGCL's S_D)."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse

from sgcl.smoothing.base import Smoothing, check_count, check_positive, check_prune
from sgcl.smoothing.memory import check_memory, held, reach
from sgcl.smoothing.rows import by_rows, identity, product, pruned, random_walk, times


@dataclass(frozen=True)
class Diffusion(Smoothing):
    """``steps`` times V <- V + eta A V from V = I, that is P = (I + eta A)^steps.

    Args:
        eta: diffusion rate.
        steps: K of the paper.
        normalize: take the weighted mean over the neighbours, D^-1 A, as the paper's text has it, instead of the
            sum, as its algorithm does.
        prune: entries below it are dropped at the end, and only there. At the default these are nearly all single
            two-hop paths, of weight eta² = 0.0009. 0 keeps everything, as in the paper, and is refused where memory
            may not hold it.

    Departures from the paper: the pruning; ``prune=0`` has none.
    """

    eta: float = 0.03
    steps: int = 2
    normalize: bool = False
    prune: float = 0.005

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("Diffusion", "eta", self.eta)
        check_count("Diffusion", "steps", self.steps)
        check_prune("Diffusion", self.prune)

    def filter(self, adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        step = identity(adj.shape[0]) + self.eta * (random_walk(adj) if self.normalize else adj)
        if self.prune and self.steps == 2:
            return product(step, step, self.prune, self.most)
        bound = reach(adj, self.steps)
        if self.prune == 0 and self.steps > 1:
            check_memory("Diffusion with prune=0", held(bound, self.most), "prune > 0, e.g. prune=0.005")

        def work(rows: slice) -> scipy.sparse.csr_array:
            block = step[rows]
            for _ in range(self.steps - 1):
                block = times(block, step)
            return pruned(block, self.prune)

        return by_rows(work, bound, self.most)
