"""What may be told of each epoch beside its progress: a warning of collapse, scalars for TensorBoard."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation import effective_rank
from sgcl.trainer import Epoch

_ROWS = 2048             # of an embedding that are looked at
_COLLAPSED = 1.5         # an effective rank below which all rows lie near one line
_LOOKS = (0.1, 0.5)      # of the epochs; whoever has the final embedding looks at that


class CollapseWatch:
    """A callback that warns, once, where an embedding has collapsed: an effective rank near 1.

    Args:
        embedding: gives rows of the embedding as it is now, (n, D).
    """

    def __init__(self, embedding: Callable[[], Tensor]) -> None:
        self.embedding, self.warned = embedding, False

    def __call__(self, epoch: Epoch) -> None:
        if epoch.epoch in {round(share * epoch.epochs) for share in _LOOKS} and not self.warned:
            self.look(self.embedding(), f"after epoch {epoch.epoch}")

    def look(self, embedding: Tensor, when: str) -> None:
        """Warn of this embedding, unless it was warned before."""
        rows = embedding[::max(1, len(embedding) // _ROWS)].detach().float()
        if self.warned or rows.size(1) < 3 or not bool(rows.isfinite().all()):
            return
        rank = effective_rank(rows)
        if rank < _COLLAPSED:
            self.warned = True
            warnings.warn(f"{when} the embedding has collapsed: its effective rank is {rank:.2f} of {rows.size(1)}, so "
                          "all rows point nearly the same way; try a smaller lr, or look at the features",
                          stacklevel=2)


class TensorBoard:
    """A callback that writes loss, seconds and peak memory where TensorBoard reads them; nothing before an epoch ended.

    Args:
        folder: for its event files. What an earlier part of the training wrote there is gone on with.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise InputError("TensorBoard is not installed: pip install 'sgcl[tensorboard]'") from None
        self.folder, self._make = Path(folder), SummaryWriter
        self._writer: Any = None

    def __call__(self, epoch: Epoch) -> None:
        if self._writer is None:
            self._writer = self._make(str(self.folder), purge_step=epoch.epoch)
        for name in ("loss", "seconds", "peak_memory"):
            self._writer.add_scalar(name, getattr(epoch, name), epoch.epoch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()
