"""Scores of frozen embeddings: protocols, probes, clusters, held-out links, disparity, collapse."""

from sgcl.evaluation.clustering import Clustering, cluster
from sgcl.evaluation.collapse import Collapse, collapse, effective_rank, mean_cosine
from sgcl.evaluation.disparity import Disparity, dirichlet_energy, disparity
from sgcl.evaluation.floors import propagated_features, raw_features
from sgcl.evaluation.folds import cross_validated_probe
from sgcl.evaluation.graphs import SVC_GRID, GraphScore, Tu, svc_probe
from sgcl.evaluation.knn import K_GRID, knn_probe
from sgcl.evaluation.links import LinkSplit, link_auc, split_links
from sgcl.evaluation.metrics import METRICS, roc_auc
from sgcl.evaluation.probe import C_GRID, ProbeResult, linear_probe
from sgcl.evaluation.protocol import Protocol
from sgcl.evaluation.protocols import PROTOCOLS, Development, Fixed, Grace, Linkx, Ogb, Public, Random, Redrawn, Sgcl
from sgcl.evaluation.published import published_probe
from sgcl.evaluation.splits import Split
from sgcl.evaluation.tasks import TASKS, Case, Task

__all__ = [
    "C_GRID",
    "K_GRID",
    "METRICS",
    "PROTOCOLS",
    "SVC_GRID",
    "TASKS",
    "Case",
    "Clustering",
    "Collapse",
    "Development",
    "Disparity",
    "Fixed",
    "Grace",
    "GraphScore",
    "LinkSplit",
    "Linkx",
    "Ogb",
    "ProbeResult",
    "Protocol",
    "Public",
    "Random",
    "Redrawn",
    "Sgcl",
    "Split",
    "Task",
    "Tu",
    "cluster",
    "collapse",
    "cross_validated_probe",
    "dirichlet_energy",
    "disparity",
    "effective_rank",
    "knn_probe",
    "linear_probe",
    "link_auc",
    "mean_cosine",
    "propagated_features",
    "published_probe",
    "raw_features",
    "roc_auc",
    "split_links",
    "svc_probe",
]
