"""Scores of frozen embeddings: protocols, linear probes, disparity."""

from sgcl.evaluation.disparity import Disparity, dirichlet_energy, disparity
from sgcl.evaluation.floors import raw_features
from sgcl.evaluation.probe import C_GRID, METRICS, ProbeResult, linear_probe
from sgcl.evaluation.protocols import PROTOCOLS, Development, Fixed, Protocol, Public, Random
from sgcl.evaluation.published import published_probe
from sgcl.evaluation.splits import Split

__all__ = [
    "C_GRID",
    "METRICS",
    "PROTOCOLS",
    "Development",
    "Disparity",
    "Fixed",
    "ProbeResult",
    "Protocol",
    "Public",
    "Random",
    "Split",
    "dirichlet_energy",
    "disparity",
    "linear_probe",
    "published_probe",
    "raw_features",
]
