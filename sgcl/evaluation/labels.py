"""Labels as the evaluation wants them: one integer a node, or a 0 or 1 for each task; -1 where it is not known."""

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


def has_tasks(y: Any) -> bool:
    """Whether labels are of several tasks: (N, T) with T > 1."""
    return isinstance(y, Tensor) and y.dim() == 2 and y.size(1) > 1


def checked_tasks(owner: str, y: Tensor, num_nodes: int) -> Tensor:
    """(N, T) int8 of 0, 1 and -1, from 0 and 1 of any kind; -1 and NaN stand for no label."""
    if len(y) != num_nodes:
        raise InputError(f"{owner}: labels have shape {tuple(y.shape)}, expected a row for each of the {num_nodes} "
                         "nodes")
    tasks = torch.nan_to_num(y, nan=-1.0) if y.is_floating_point() else y
    if not bool(((tasks == 0) | (tasks == 1) | (tasks == -1)).all()):
        raise InputError(f"{owner}: labels (N, {y.size(1)}) of several tasks must be 0 or 1, and -1 or NaN for no "
                         "label")
    return tasks.to(torch.int8)
