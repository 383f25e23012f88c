"""Node features that stay in a file: rows become float32, in memory, when they are taken."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.sparse import CSR, SparseFeatures


class MappedFeatures:
    """(N, F) features of which rows are all that is taken; what is done with features is done with those rows.

    Args:
        matrix: (N, F) mapped into memory, float32 or float16; or by rows, for features that are mostly zeros.
        digest: the checksum of the store that it lies in, which stands for the whole graph.
        normalised: scale each row so that its absolute values add up to 1.
    """

    def __init__(self, matrix: Tensor | CSR, digest: str = "", *, normalised: bool = False) -> None:
        self.matrix, self.digest, self.normalised = matrix, digest, normalised

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def device(self) -> torch.device:
        return self.matrix.device

    @property
    def row_bytes(self) -> float:
        """Of a row in memory."""
        return 12 * self.matrix.nnz / len(self) if isinstance(self.matrix, CSR) else 4.0 * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Tensor | slice) -> Tensor | SparseFeatures:
        """(n, F) dense or sparse as the file is; the whole of it for ``[:]``."""
        part: Tensor | SparseFeatures
        if isinstance(self.matrix, CSR):
            part = SparseFeatures(self.matrix.rows(rows) if isinstance(rows, slice) else self.matrix.take_rows(rows))
        else:
            part = self.matrix[rows].float()
        return normalised(part) if self.normalised else part

    def to(self, device: torch.device | str) -> Tensor | SparseFeatures:
        return self[:].to(device)

    def __repr__(self) -> str:
        return f"MappedFeatures{self.shape}{', normalised' if self.normalised else ''}"


def normalised(x: Tensor | SparseFeatures) -> Tensor | SparseFeatures:
    """(N, F) each row scaled so that its absolute values add up to 1; rows of zeros stay."""
    if isinstance(x, Tensor):
        return F.normalize(x, p=1.0)
    rows = x.matrix.with_values(x.matrix.values().abs()).row_sum()
    scale = torch.where(rows > 0, 1 / rows, 0.0)                           # (N,)
    return x.scale_entries(scale[x.matrix.row])


def is_sparse(x: object) -> bool:
    """Whether features are kept sparse, in memory or in a store."""
    return isinstance(getattr(x, "matrix", None), CSR)
