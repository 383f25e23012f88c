"""Embeddings as the evaluation wants them: finite floats, a row for each node."""

import torch
from torch import Tensor

from sgcl.errors import InputError

_ROWS = 1 << 17  # at a time


def checked_embedding(owner: str, embedding: Tensor) -> Tensor:
    """(N, D) detached; ``owner`` opens the message when it is something else."""
    if not isinstance(embedding, Tensor):
        raise InputError(f"{owner}: the embedding is {type(embedding).__name__}, expected a tensor of floats (N, D)")
    if embedding.dim() != 2 or not embedding.is_floating_point() or embedding.numel() == 0:
        raise InputError(f"{owner}: the embedding is {embedding.dtype} of shape {tuple(embedding.shape)}, expected "
                         "floats (N, D)")
    if not all(bool(torch.isfinite(part).all()) for part in embedding.split(_ROWS)):
        raise InputError(f"{owner}: the embedding holds NaN or infinite values: the training diverged")
    return embedding.detach()
