"""Clusters of an embedding beside the classes: k-means, normalised mutual information, adjusted Rand index."""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from threadpoolctl import threadpool_limits
from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation.embedding import checked_embedding
from sgcl.evaluation.labels import checked_labels, has_tasks


@dataclass(frozen=True)
class Clustering:
    """How clusters and classes agree.

    Args:
        nmi: mutual information over the mean of the two entropies, in [0, 1].
        ari: Rand index, 0 for clusters made by chance and 1 for the classes themselves.
        clusters: how many there are.
        inertia: the sum of squared distances to the centres, which k-means makes small.
        assignment: (N,) the cluster of each node.
    """

    nmi: float
    ari: float
    clusters: int
    inertia: float
    assignment: Tensor = field(default_factory=lambda: torch.empty(0), repr=False, compare=False)


def cluster(embedding: Tensor, y: Tensor, *, clusters: int | None = None, starts: int = 10,
            seed: int = 0) -> Clustering:
    """k-means on L2-normalised rows, scored against the labels.

    The labels are not seen by the clustering but for their number. Nodes without a label (-1) are clustered and not
    scored.

    Args:
        embedding: (N, D).
        y: (N,) labels.
        clusters: how many; the number of classes unless given.
        starts: tries from different centres, of which the one with the least inertia counts.
        seed: of the centres.
    """
    from sklearn.cluster import KMeans  # slow to import: only those who cluster wait for it
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    embedding = checked_embedding("cluster", embedding)
    if has_tasks(y):
        raise InputError("cluster: compares clusters with one class a node, but the labels are of several tasks")
    y = checked_labels("cluster", y, len(embedding)).cpu()
    labelled = y >= 0
    size = len(torch.unique(y[labelled])) if clusters is None else clusters
    if not 1 <= size <= len(embedding) or not bool(labelled.any()):
        raise InputError(f"cluster: {size} clusters of {len(embedding)} nodes, {int(labelled.sum())} of them labelled: "
                         "expected at least one label, and a node for each cluster")
    if len(torch.unique(y[labelled])) < 2:
        raise InputError(f"cluster: all labelled nodes are of class {int(y[labelled][0])}: two classes are needed")
    if starts < 1:
        raise InputError(f"cluster: starts is {starts}, expected at least 1")
    rows = F.normalize(embedding.cpu().float()).numpy()
    with threadpool_limits(1):  # sums in one order: the same clusters everywhere
        found = KMeans(size, n_init=starts, random_state=seed).fit(rows)
    assignment = torch.from_numpy(found.labels_).long()
    true, given = y[labelled].numpy(), assignment[labelled].numpy()
    return Clustering(float(normalized_mutual_info_score(true, given)), float(adjusted_rand_score(true, given)), size,
                      float(found.inertia_), assignment)
