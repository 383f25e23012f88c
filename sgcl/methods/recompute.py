"""Values made again in the backward, where keeping them would take much memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.checkpoint import checkpoint

_ENTRIES = 1 << 24  # of an array that is kept


def recomputed(function: Callable[..., Any], *given: Any, entries: int) -> Any:
    """``function(*given)``. Where its arrays have more than 2^24 ``entries``, none of those inside is kept for the
    backward, which calls the function once more, with the same chance."""
    if entries <= _ENTRIES:
        return function(*given)
    return checkpoint(function, *given, use_reentrant=False)
