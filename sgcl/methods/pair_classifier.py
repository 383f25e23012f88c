"""A classifier of pairs that may abstain: whether two embeddings are alike, as far as it is sure.

Niu et al., *Affinity Uncertainty-Based Hard Negative Mining in Graph Contrastive Learning*.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.losses.infonce import unit_rows

_PAIRS = 2048    # of a step
_ROWS = 4        # anchors whose pairs are classified at a time


class PairClassifier(nn.Module):
    """Scores for not alike, alike and abstain of a pair (a, b), by two hidden layers of 128."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.steps: int | None = None  # of a round; as many as its pairs make unless given
        self.first, self.second, self.third = nn.Linear(2 * channels, 128), nn.Linear(128, 128), nn.Linear(128, 3)
        for layer in (self.first, self.second, self.third):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.requires_grad_(False)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """(..., D) and (..., D) give (..., 3). The first layer takes each side alone: W (a, b) = W1 a + W2 b."""
        left, right = self.first.weight.chunk(2, dim=1)                    # (128, D)
        h = (F.linear(a, left, self.first.bias) + F.linear(b, right)).relu_()
        scores: Tensor = self.third(self.second(h).relu_())
        return scores

    def abstention(self, a: Tensor, b: Tensor) -> Tensor:
        """(n, D) and (m, D) give the (n, m) probabilities of abstaining for all pairs."""
        shares = a.new_empty(len(a), len(b))
        for rows, out in zip(a.split(_ROWS), shares.split(_ROWS), strict=True):
            out.copy_(self(rows[:, None], b).softmax(2)[:, :, 2])
        return shares

    def learn(self, rounds: Iterable[tuple[Tensor, Tensor]], reward: float, generator: torch.Generator) -> None:
        """Train on all pairs of each round in turn, 2048 a step; then nothing is trained any more.

        Args:
            rounds: (A, D) anchors and (C, D) others, of which the first A are the anchors themselves in another view.
            reward: what abstaining is divided by.
            generator: of the order of the pairs.
        """
        optimizer = torch.optim.Adam(self.requires_grad_(True).parameters(), lr=0.01)
        for anchors, others in rounds:
            upper = _upper_half(unit_rows(anchors) @ unit_rows(others).T)  # (A, C)
            alike = upper == upper.diagonal()[:, None]
            for pairs in torch.randperm(alike.numel(), generator=generator).to(alike.device).split(_PAIRS)[:self.steps]:
                row, column = pairs // len(others), pairs % len(others)    # (2048,)
                with torch.enable_grad():
                    scores = self(anchors[row], others[column]).log_softmax(1)                      # (2048, 3)
                    bet = scores.gather(1, alike[row, column].long()[:, None])[:, 0]
                    loss = -bet.logaddexp(scores[:, 2] - math.log(reward)).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        self.requires_grad_(False)
        self.zero_grad(set_to_none=True)


def _upper_half(values: Tensor) -> Tensor:
    """Each row of (n, m) split in two so that squares around the two means add up to the least: (n, m), true above.

    With the row's mean taken off and sorted, c_k the sum of the k least, that is where c_k² (1/k + 1/(m-k)) is largest.
    """
    ordered = values.sort(dim=1).values
    below = torch.arange(1, values.size(1), device=values.device)          # (m - 1,) k
    sums = (ordered - ordered.mean(1, keepdim=True)).cumsum(1)[:, :-1]     # (n, m - 1)
    last = (sums.square() * (1 / below + 1 / (values.size(1) - below))).argmax(1, keepdim=True)
    return values > ordered.gather(1, last)
