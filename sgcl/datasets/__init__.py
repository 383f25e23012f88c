"""Datasets by name, graphs made by a rule, and the numbers of the papers' tables."""

from sgcl.datasets.attachment import karimi, mixhop
from sgcl.datasets.blockmodel import sbm
from sgcl.datasets.catalogue import DATASETS, available, describe, load, load_collection, load_side_by_side
from sgcl.datasets.digits import digits
from sgcl.datasets.entry import Dataset
from sgcl.datasets.generated import grid
from sgcl.datasets.statistics import statistics
from sgcl.datasets.tu import ONE_HOT, read_tu, tu_name

__all__ = ["DATASETS", "ONE_HOT", "Dataset", "available", "describe", "digits", "grid", "karimi", "load",
           "load_collection", "load_side_by_side", "mixhop", "read_tu", "sbm", "statistics", "tu_name"]
