"""Labels as the evaluation wants them: one integer a node, -1 where the label is not known."""

from typing import Any

import torch
from torch import Tensor

from sgcl.errors import InputError


def checked_labels(owner: str, y: Any, num_nodes: int) -> Tensor:
    """(N,) labels from (N,) or (N, 1) ones; ``owner`` opens the message when they are something else."""
    if y is None:
        raise InputError(f"{owner}: the graph has no labels: set data.y to one integer for each node")
    if not isinstance(y, Tensor) or y.is_floating_point() or y.is_complex() or y.dtype == torch.bool:
        kind = y.dtype if isinstance(y, Tensor) else type(y).__name__
        raise InputError(f"{owner}: labels must be integers, got {kind}")
    if y.shape not in ((num_nodes,), (num_nodes, 1)):
        raise InputError(f"{owner}: labels have shape {tuple(y.shape)}, expected one for each of the {num_nodes} nodes")
    labels: Tensor = y.reshape(-1).long()
    if num_nodes and int(labels.min()) < -1:
        raise InputError(f"{owner}: label {int(labels.min())} found; classes count from 0, and -1 stands for no label")
    return labels
