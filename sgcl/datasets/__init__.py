"""Datasets by name."""

from sgcl.datasets.catalogue import DATASETS, available, describe, load
from sgcl.datasets.digits import digits
from sgcl.datasets.entry import Dataset
from sgcl.datasets.generated import grid

__all__ = ["DATASETS", "Dataset", "available", "describe", "digits", "grid", "load"]
