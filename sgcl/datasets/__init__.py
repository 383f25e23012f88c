"""Datasets by name, graphs made by a rule, and the numbers of the papers' tables."""

from sgcl.datasets.attachment import karimi, mixhop
from sgcl.datasets.blockmodel import sbm
from sgcl.datasets.catalogue import DATASETS, available, describe, load, load_collection
from sgcl.datasets.digits import digits
from sgcl.datasets.entry import Dataset
from sgcl.datasets.generated import grid
from sgcl.datasets.statistics import statistics

__all__ = ["DATASETS", "Dataset", "available", "describe", "digits", "grid", "karimi", "load", "load_collection",
           "mixhop", "sbm", "statistics"]
