"""What can be asked of an embedding, by name: each task gives the values of one result row."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import unknown_name
from sgcl.evaluation.clustering import cluster
from sgcl.evaluation.collapse import collapse
from sgcl.evaluation.disparity import Disparity, disparity
from sgcl.evaluation.folds import cross_validated_probe
from sgcl.evaluation.graphs import Tu
from sgcl.evaluation.knn import knn_probe
from sgcl.evaluation.labels import has_tasks
from sgcl.evaluation.links import LinkSplit, link_auc
from sgcl.evaluation.probe import ProbeResult
from sgcl.evaluation.protocol import Protocol
from sgcl.sparse import CSR

_NO_DISPARITY = Disparity(None, None, None, None, 0, 0, reason="nodes have several labels")
_TOO_LARGE = Disparity(None, None, None, None, 0, 0, reason="the edges do not fit the memory")


@dataclass(frozen=True, eq=False)
class Case:
    """What an embedding is judged by; a task reads what it needs.

    Args:
        data: the graph, with its labels.
        adj: (N, N) its adjacency; ``None`` where it does not fit the memory.
        protocol: which nodes a probe sees.
        seed: of the split, or of the centres of the clusters.
        probe: ``"converged"``, ``"published"`` for the probe of the protocol's paper, or ``"cross-validated"`` for
            GRACE's, whatever the protocol.
        metric: of the converged probe; the protocol's own unless given.
        links: what was hidden from the training.
    """

    data: Data
    adj: CSR | None
    protocol: Protocol
    seed: int = 0
    probe: str = "converged"
    metric: str | None = None
    links: LinkSplit | None = None


@dataclass(frozen=True)
class Task:
    """One question.

    Args:
        about: what is asked, in a few words.
        measure: an (N, D) embedding and its case to numbers by name, ``None`` where there is none.
        needs_labels: whether it compares with labels.
        seeded: whether a seed has a part in the answer.
        of_graphs: whether it can be asked of the graphs of a collection too.
    """

    about: str
    measure: Callable[[Tensor, Case], dict[str, Any]]
    needs_labels: bool = True
    seeded: bool = True
    of_graphs: bool = True


def _probe(embedding: Tensor, case: Case) -> dict[str, Any]:
    if isinstance(case.protocol, Tu):
        run = case.protocol.score(embedding, case.data.y, seed=case.seed, metric=case.metric or "accuracy")
        return {"probe": case.probe, "metric": run.metric, "test": run.mean, "val": None, "folds": list(run.folds),
                "fold_deviation": run.fold_deviation, "C": list(run.C)}
    y, split = case.data.y, case.protocol.split(case.data, case.seed)
    if case.probe == "published":
        result = case.protocol.published_probe(embedding, y, split, seed=case.seed)
    elif case.probe == "cross-validated":
        result = cross_validated_probe(embedding, y, split, seed=case.seed, metric=case.metric or "micro-f1")
    else:
        result = case.protocol.probe(embedding, y, split, seed=case.seed, metric=case.metric)
    spread = _TOO_LARGE if case.adj is None else _NO_DISPARITY
    if case.adj is not None and not has_tasks(y):
        spread = disparity(embedding, case.adj, y)
    return {"probe": case.probe, **_scores(result), "C": result.C, "step": result.step, **result.choice,
            "disparity": spread.value, "disparity_scaled": spread.scaled, "disparity_reason": spread.reason,
            "dirichlet_intra": spread.intra, "dirichlet_inter": spread.inter, "intra_edges": spread.intra_edges,
            "inter_edges": spread.inter_edges}


def _knn(embedding: Tensor, case: Case) -> dict[str, Any]:
    result = knn_probe(embedding, case.data.y, case.protocol.split(case.data, case.seed))
    return {**_scores(result), **result.choice}


def _clustering(embedding: Tensor, case: Case) -> dict[str, Any]:
    found = cluster(embedding, case.data.y, seed=case.seed)
    return {"nmi": found.nmi, "ari": found.ari, "clusters": found.clusters, "inertia": found.inertia}


def _links(embedding: Tensor, case: Case) -> dict[str, Any]:
    assert case.links is not None
    return {"metric": "roc-auc", "test": link_auc(embedding, case.links.positives, case.links.negatives),
            "hidden_edges": case.links.positives.size(1)}


def _collapse(embedding: Tensor, case: Case) -> dict[str, Any]:
    return asdict(collapse(embedding))


def _scores(result: ProbeResult) -> dict[str, Any]:
    return {"metric": result.metric, "test": result.test, "val": None if math.isnan(result.val) else result.val}


class _Tasks(dict[str, Task]):
    """Name to task; an unknown name is answered with the nearest known one."""

    def __missing__(self, name: str) -> Task:
        raise unknown_name("task", name, self)


TASKS = _Tasks({
    "probe": Task("a linear probe, and disparity; for graphs of a collection a support vector machine", _probe),
    "knn": Task("nearest neighbours, their number chosen on validation nodes", _knn, of_graphs=False),
    "clustering": Task("k-means clusters beside the classes: NMI, ARI", _clustering),
    "links": Task("hidden links, after a training anew without them: ROC-AUC", _links, needs_labels=False,
                  of_graphs=False),
    "collapse": Task("effective rank, mean cosine", _collapse, needs_labels=False, seeded=False),
})
