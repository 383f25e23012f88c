"""Nearest neighbours: how well the training nodes nearest to a node foretell its class."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation.metrics import METRICS
from sgcl.evaluation.probe import ProbeResult, check_class_inputs
from sgcl.evaluation.splits import Split

K_GRID = (1, 3, 5, 10, 20, 50)  # numbers of neighbours tried by knn_probe

_BLOCK = 1 << 24  # similarities held at a time


def knn_probe(embedding: Tensor, y: Tensor, split: Split, *, k: int | None = None,
              metric: str = "accuracy") -> ProbeResult:
    """The majority among the k training nodes with the highest cosine; equal votes go to the more similar class.

    Nothing is fitted, and no score is given for the training nodes, which are their own neighbours: ``train`` is NaN.
    Memory O(N D + block), never (N, N).

    Args:
        embedding: (N, D).
        y: (N,) labels.
        split: the nodes to look among, to choose k on, and to score on.
        k: neighbours; chosen on the validation nodes out of 1, 3, 5, 10, 20, 50 unless given, ties to the smaller.
        metric: one of ``METRICS`` but ``"roc-auc"``.
    """
    embedding, y = check_class_inputs("knn_probe", embedding, y, split, metric, needs_val=k is None)
    if k is not None and not 1 <= k <= len(split.train):
        raise InputError(f"knn_probe: k is {k}, expected 1 to {len(split.train)} neighbours among the training nodes")
    tried = [k] if k is not None else [size for size in K_GRID if size <= len(split.train)]
    known = F.normalize(embedding[split.train.to(embedding.device)].float())
    train_y = y[split.train].to(embedding.device)
    scores = [math.nan]
    if len(split.val):
        answers = _votes(embedding, split.val, known, train_y, tried)
        scores = [METRICS[metric](y[split.val].numpy(), answer.numpy()) for answer in answers]
    best = max(range(len(scores)), key=scores.__getitem__)
    (predicted,) = _votes(embedding, split.test, known, train_y, [tried[best]])
    # All is settled: the labels of the test nodes are read in the next statement and nowhere else.
    test = METRICS[metric](y[split.test].numpy(), predicted.numpy())
    return ProbeResult(test, scores[best], math.nan, metric, predictions=predicted, k=tried[best])


def _votes(embedding: Tensor, nodes: Tensor, known: Tensor, label: Tensor, tried: list[int]) -> list[Tensor]:
    """For each k the (n,) predicted classes of the nodes, among the (m, D) rows ``known``."""
    found: list[list[Tensor]] = [[] for _ in tried]
    for part in nodes.split(max(1, _BLOCK // len(known))):
        rows = F.normalize(embedding[part.to(embedding.device)].float())
        cosine, nearest = (rows @ known.T).topk(max(tried), dim=1)         # (block, k)
        votes = 1 + cosine.double() / (4 * max(tried))                     # the cosines add up to less than a vote
        for answers, k in zip(found, tried, strict=True):
            count = votes.new_zeros(len(rows), int(label.max()) + 1)
            answers.append(count.scatter_add_(1, label[nearest[:, :k]], votes[:, :k]).argmax(1).cpu())
    return [torch.cat(answers) for answers in found]
