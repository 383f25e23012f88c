"""Sparse matrices by rows, and the two products everything here is made of, with their own backward passes.

``spmm`` is A X and ``sddmm`` is (A B^T) read off at the entries of a sparse matrix. Neither ever holds an
(nnz, D) array: sums over rows are torch's embedding bag, sampled products its ``sampled_addmm``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
import torch
import torch.nn.functional as F
from torch import Tensor

_CHUNK = 1 << 16  # pairs at a time where a device has no fused kernel


class CSR:
    """A sparse (N, M) matrix by rows.

    Args:
        ptr: (N + 1,) where each row starts in ``idx``.
        idx: (nnz,) columns, ascending inside a row, none twice; int32 in the file of a store, of which products take
            :meth:`rows` or :meth:`take_rows`, which widen theirs.
        value: (nnz,) entries; ``None`` stands for ones.
        num_cols: M; N unless given.
        symmetric: the matrix is its own transpose, values included.
    """

    def __init__(self, ptr: Tensor, idx: Tensor, value: Tensor | None = None, *,
                 num_cols: int | None = None, symmetric: bool = False) -> None:
        self.ptr, self.idx, self.value = ptr, idx, value
        self.shape = (len(ptr) - 1, len(ptr) - 1 if num_cols is None else num_cols)
        self.symmetric = symmetric
        self._row: Tensor | None = None
        self._turned: tuple[Tensor, Tensor, Tensor] | None = None
        self._transposed: CSR | None = None

    @classmethod
    def from_coo(cls, row: Tensor, col: Tensor, value: Tensor | None = None, *, shape: tuple[int, int],
                 symmetric: bool = False) -> CSR:
        """Sort (row, col) pairs into rows; pairs given more than once are added up (kept once without values)."""
        ptr, idx, order = (_counted if row.device.type == "cpu" else _sorted)(row, col, shape, value is not None)
        first = torch.ones_like(idx, dtype=torch.bool)                     # (nnz,) of the entries with its row and col
        first[1:] = idx[1:] != idx[:-1]
        first[ptr[ptr < len(idx)]] = True
        if value is not None:
            value = value[order]
        if not bool(first.all()):
            ends = F.pad(first.cumsum(0), (1, 0))                          # (nnz + 1,)
            if value is not None:
                value = value.new_zeros(int(ends[-1]), *value.shape[1:]).index_add_(0, ends[1:] - 1, value)
            ptr, idx = ends[ptr], idx[first]
        return cls(ptr, idx, value, num_cols=shape[1], symmetric=symmetric)

    @classmethod
    def from_scipy(cls, matrix: Any, *, dtype: torch.dtype | None = None, symmetric: bool = False) -> CSR:
        """From any SciPy sparse matrix; entries given twice are added up."""
        matrix = scipy.sparse.csr_array(matrix)
        matrix.sum_duplicates()
        value = torch.from_numpy(matrix.data)
        return cls(torch.from_numpy(matrix.indptr).long(), torch.from_numpy(matrix.indices).long(),
                   value if dtype is None else value.to(dtype), num_cols=matrix.shape[1], symmetric=symmetric)

    def to_scipy(self, dtype: Any = np.float64) -> scipy.sparse.csr_array:
        """The same matrix for SciPy, on the CPU."""
        value = np.ones(self.nnz, dtype) if self.value is None else self.value.detach().cpu().numpy().astype(dtype)
        return scipy.sparse.csr_array((value, self.idx.cpu().numpy(), self.ptr.cpu().numpy()), shape=self.shape)

    def to_dense(self) -> Tensor:
        """The (N, M) matrix itself, for tiny examples."""
        value = self.values()
        dense = torch.zeros(self.shape, dtype=value.dtype, device=value.device)
        dense[self.row, self.idx] = value
        return dense

    @property
    def nnz(self) -> int:
        return len(self.idx)

    @property
    def device(self) -> torch.device:
        return self.idx.device

    @property
    def row(self) -> Tensor:
        """(nnz,) the row of each entry."""
        if self._row is None:
            self._row = torch.repeat_interleave(
                torch.arange(self.shape[0], device=self.device), self.ptr.diff(), output_size=self.nnz)
        return self._row

    @property
    def perm(self) -> Tensor:
        """(nnz,) the entries in the order of the transpose. Where the pattern is symmetric, ``perm[e]`` is the
        entry (j, i) of the entry e = (i, j)."""
        return self._transposition()[2]

    @property
    def T(self) -> CSR:
        """The transpose, made once."""
        if self.symmetric:
            return self
        if self._transposed is None:
            ptr, idx, perm = self._transposition()
            value = None if self.value is None else self.value.index_select(0, perm)
            self._transposed = CSR(ptr, idx, value, num_cols=self.shape[0])
        return self._transposed

    def _transposition(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row starts and columns of the transpose, and where its entries stand here; made once for a pattern."""
        if self._turned is None:
            if self.device.type == "cpu":  # a counting sort, linear in nnz
                there = turned(self.with_values(torch.arange(self.nnz)))
                self._turned = there.ptr.long(), there.idx.long(), there.values()
            else:
                perm = torch.argsort(self.idx, stable=True)
                self._turned = _starts(self.idx[perm], self.shape[1]), self.row[perm], perm
        return self._turned

    def values(self, dtype: torch.dtype = torch.float32) -> Tensor:
        """(nnz,) the entries, ones written out."""
        return torch.ones(self.nnz, dtype=dtype, device=self.device) if self.value is None else self.value

    def row_sum(self) -> Tensor:
        """(N,) the sum of each row: the weighted degrees of an adjacency."""
        if self.value is None:
            return self.ptr.diff().to(torch.get_default_dtype())
        total = torch.zeros(self.shape[0], dtype=self.value.dtype, device=self.device)
        return total.index_add_(0, self.row, self.value)

    def with_values(self, value: Tensor | None, *, symmetric: bool = False) -> CSR:
        """The same pattern with other entries."""
        other = CSR(self.ptr, self.idx, value, num_cols=self.shape[1], symmetric=symmetric)
        other._row, other._turned = self._row, self._turned
        return other

    def keep(self, mask: Tensor, *, symmetric: bool = False) -> CSR:
        """Only the entries where the (nnz,) mask is true, in linear time."""
        ends, entry = F.pad(mask.cumsum(0), (1, 0)), mask.nonzero().view(-1)    # (nnz + 1,), (kept,)
        value = None if self.value is None else self.value.index_select(0, entry)
        return CSR(ends.index_select(0, self.ptr), self.idx.index_select(0, entry), value, num_cols=self.shape[1],
                   symmetric=symmetric)

    def keep_edges(self, mask: Tensor) -> CSR:
        """Only the edges of a symmetric matrix without a diagonal where the (nnz / 2,) mask is true, edges in the order
        of their entries above the diagonal."""
        if self.device.type != "cpu":
            return self.keep(_both_ways(self, mask), symmetric=True)
        both = torch.empty(self.nnz, dtype=torch.bool)                     # (nnz,)
        _loops().both_ways(self.ptr.numpy(), self.idx.numpy(), mask.numpy(), both.numpy())
        return self.keep(both, symmetric=True)

    def rows(self, block: slice, *, symmetric: bool = False) -> CSR:
        """Successive rows, sharing their entries with this matrix."""
        start, stop, _ = block.indices(self.shape[0])
        ptr = self.ptr[start:stop + 1]
        entries = slice(int(ptr[0]), int(ptr[-1]))
        return CSR(ptr - ptr[0], self.idx[entries].long(), None if self.value is None else self.value[entries],
                   num_cols=self.shape[1], symmetric=symmetric)

    def take_rows(self, rows: Tensor) -> CSR:
        """The given rows, in the given order: O(entries of those rows)."""
        ptr, entry = row_entries(self.ptr, rows)
        value = None if self.value is None else self.value.index_select(0, entry)
        return CSR(ptr, self.idx.index_select(0, entry).long(), value, num_cols=self.shape[1])

    def submatrix(self, nodes: Tensor) -> CSR:
        """Rows and columns ``nodes`` (ascending) of a square matrix, at the cost of those rows alone."""
        rows = self.take_rows(nodes)
        if not rows.nnz:
            return CSR(rows.ptr, rows.idx, rows.value, symmetric=self.symmetric)
        position = torch.searchsorted(nodes, rows.idx).clamp_(max=len(nodes) - 1)
        inside = CSR(rows.ptr, position, rows.value).keep(nodes.index_select(0, position) == rows.idx)
        return CSR(inside.ptr, inside.idx, inside.value, symmetric=self.symmetric)

    def __matmul__(self, x: Tensor) -> Tensor:
        return spmm(self, x)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> CSR:
        value = None if self.value is None else self.value.to(device, non_blocking=non_blocking)
        return CSR(self.ptr.to(device, non_blocking=non_blocking), self.idx.to(device, non_blocking=non_blocking),
                   value, num_cols=self.shape[1], symmetric=self.symmetric)

    def __repr__(self) -> str:
        return f"CSR{self.shape}, nnz={self.nnz}{', symmetric' if self.symmetric else ''}"


class SparseFeatures:
    """Node features (N, F) that are mostly zeros: bag-of-words columns, one-hot labels.

    Columns carry a scale of their own, so that masking them touches F numbers; a product with a weight matrix leaves
    the masked entries out.
    """

    def __init__(self, matrix: CSR, scale: Tensor | None = None) -> None:
        self.matrix, self.scale = matrix, scale
        self._scaled: CSR | None = None

    @classmethod
    def from_dense(cls, x: Tensor) -> SparseFeatures:
        row, col = x.nonzero(as_tuple=True)
        return cls(CSR(_starts(row, x.size(0)), col, x[row, col], num_cols=x.size(1)))

    @classmethod
    def from_torch(cls, x: Tensor) -> SparseFeatures:
        """From a sparse tensor of torch."""
        csr = x.detach().to_sparse_csr()
        return cls(CSR(csr.crow_indices().long(), csr.col_indices().long(), csr.values().float(), num_cols=x.size(1)))

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def device(self) -> torch.device:
        return self.matrix.device

    @property
    def dtype(self) -> torch.dtype:
        return self.matrix.values().dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Tensor) -> SparseFeatures:
        return SparseFeatures(self.matrix.take_rows(rows), self.scale)

    def __matmul__(self, weight: Tensor) -> Tensor:
        if self._scaled is None:
            self._scaled = self.matrix
            if self.scale is not None:
                value = self.matrix.values() * self.scale.index_select(0, self.matrix.idx)
                self._scaled = self.matrix.with_values(value).keep(value != 0)
        return spmm(self._scaled, weight)                                  # (N, D)

    def scale_columns(self, scale: Tensor) -> SparseFeatures:
        return SparseFeatures(self.matrix, scale if self.scale is None else self.scale * scale)

    def scale_entries(self, factor: Tensor) -> SparseFeatures:
        return SparseFeatures(self.matrix.with_values(self.matrix.values() * factor), self.scale)

    def to_dense(self) -> Tensor:
        dense = self.matrix.to_dense()
        return dense if self.scale is None else dense * self.scale

    def to(self, device: torch.device | str, non_blocking: bool = False) -> SparseFeatures:
        scale = None if self.scale is None else self.scale.to(device, non_blocking=non_blocking)
        return SparseFeatures(self.matrix.to(device, non_blocking=non_blocking), scale)

    def __repr__(self) -> str:
        return f"SparseFeatures{self.shape}, nnz={self.matrix.nnz}"


def spmm(matrix: CSR, x: Tensor, value: Tensor | None = None, diag: Tensor | None = None) -> Tensor:
    """A X: (N, M) times (M, D) gives (N, D). ``value`` replaces the matrix's own entries and may need a gradient;
    ``diag`` (N, 1), of a square one, is added to its diagonal and gets none."""
    own = value is None
    product: Tensor = _SpMM.apply(matrix, matrix.value if own else value, x, own, diag)
    return product


def sddmm(matrix: CSR, a: Tensor, b: Tensor) -> Tensor:
    """<a_i, b_j> for every entry (i, j) of the matrix's pattern: (N, D), (M, D) give (nnz,)."""
    products: Tensor = _SDDMM.apply(matrix, a, b)
    return products


def union(a: CSR, b: CSR, dtype: torch.dtype) -> CSR:
    """The entries of A or of the transpose of B, with the value in both, (nnz, 2); 0 where one has none."""
    if a.device.type == "cpu":
        idx = np.empty(a.nnz + b.nnz, _index_for(a.nnz + b.nnz, *a.shape))
        value = torch.empty(len(idx), 2, dtype=dtype)
        ptr = _loops().merged(*_arrays(a), *_arrays(turned(b)), idx, value.numpy())
        return CSR(torch.from_numpy(ptr), torch.from_numpy(idx[:ptr[-1]]), value[:ptr[-1]], num_cols=a.shape[1])
    b = b.T
    value = torch.cat([F.pad(a.values().to(dtype)[:, None], (0, 1)), F.pad(b.values().to(dtype)[:, None], (1, 0))])
    return CSR.from_coo(torch.cat([a.row, b.row]), torch.cat([a.idx, b.idx]), value, shape=a.shape)


def turned(matrix: CSR) -> CSR:
    """The transpose of a matrix that is needed once: nothing is kept for the next time."""
    if matrix.device.type != "cpu":
        return matrix.T
    index, value = _index_for(matrix.nnz, *matrix.shape), torch.empty_like(matrix.values())
    ptr, idx = np.zeros(matrix.shape[1] + 1, index), np.empty(matrix.nnz, index)
    _loops().turned(*_arrays(matrix), ptr, idx, value.numpy())
    return CSR(torch.from_numpy(ptr), torch.from_numpy(idx), value, num_cols=matrix.shape[0])


def block_diagonal(parts: Sequence[CSR], device: torch.device | str = "cpu") -> CSR:
    """Square matrices one after the other along the diagonal of one; without any, (0, 0)."""
    rows, entries = [0], [0]
    for part in parts:
        rows.append(rows[-1] + part.shape[0])
        entries.append(entries[-1] + part.nnz)
    ptr = [part.ptr[:-1] + start for part, start in zip(parts, entries, strict=False)]
    idx = [part.idx + start for part, start in zip(parts, rows, strict=False)]
    end = torch.tensor([entries[-1]], device=parts[0].device if parts else device)
    weighted = any(part.value is not None for part in parts)
    return CSR(torch.cat([*ptr, end]), torch.cat(idx) if idx else end[:0],
               torch.cat([part.values() for part in parts]) if weighted else None,
               symmetric=all(part.symmetric for part in parts))


def larger_way(matrix: CSR) -> CSR:
    """The larger of A and its transpose at each entry; entries of 0 go. On the CPU."""
    there = matrix.to_scipy(bool if matrix.value is None else matrix.value.numpy().dtype)
    back = there.T.tocsr()
    if not (there.data.all() and all(map(np.array_equal, (there.indptr, there.indices, there.data),
                                         (back.indptr, back.indices, back.data)))):
        there = there.maximum(back)
    return CSR(torch.from_numpy(there.indptr).long(), torch.from_numpy(there.indices).long(),
               None if matrix.value is None else torch.from_numpy(there.data), symmetric=True)


class _SpMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: CSR, value: Tensor | None, x: Tensor, own: bool, diag: Tensor | None) -> Tensor:
        ctx.matrix, ctx.own, ctx.diag = matrix, own, diag
        ctx.save_for_backward(value, x if ctx.needs_input_grad[1] else None)
        product = _bag(matrix.ptr, matrix.idx, value, x)
        return product if diag is None else product.addcmul_(x, diag)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[None, Tensor | None, Tensor | None, None, None]:
        (grad,), matrix = grad_outputs, ctx.matrix
        value, x = ctx.saved_tensors
        grad = grad.contiguous()
        grad_value = _pairs(matrix, grad, x) if ctx.needs_input_grad[1] else None
        grad_x = None
        if ctx.needs_input_grad[2]:
            transposed = matrix.T
            grad_x = _bag(transposed.ptr, transposed.idx,
                          transposed.value if ctx.own else value[matrix.perm], grad)
            if ctx.diag is not None:
                grad_x.addcmul_(grad, ctx.diag)
        return None, grad_value, grad_x, None, None


class _SDDMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: CSR, a: Tensor, b: Tensor) -> Tensor:
        ctx.matrix = matrix
        ctx.save_for_backward(a, b)
        return _pairs(matrix, a, b)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        (grad,), matrix = grad_outputs, ctx.matrix
        a, b = ctx.saved_tensors
        grad_a = grad_b = None
        if ctx.needs_input_grad[1]:
            grad_a = _bag(matrix.ptr, matrix.idx, grad, b)
        if ctx.needs_input_grad[2]:
            grad_b = _bag(matrix.T.ptr, matrix.T.idx, grad[matrix.perm], a)
        return None, grad_a, grad_b


def _bag(ptr: Tensor, idx: Tensor, value: Tensor | None, x: Tensor) -> Tensor:
    """y_i = sum over the entries e of row i of value_e x_{idx_e}: (N, D)."""
    if value is not None and value.dtype != x.dtype:
        value = value.to(x.dtype)
    if x.device.type in ("cpu", "cuda"):
        return F.embedding_bag(idx, x, ptr, mode="sum", per_sample_weights=value, include_last_offset=True)
    return _bag_in_chunks(ptr, idx, value, x)


def _bag_in_chunks(ptr: Tensor, idx: Tensor, value: Tensor | None, x: Tensor, chunk: int = _CHUNK) -> Tensor:
    row = torch.repeat_interleave(torch.arange(len(ptr) - 1, device=x.device), ptr.diff())
    out = x.new_zeros(len(ptr) - 1, x.size(1))
    for part in torch.arange(len(idx), device=x.device).split(chunk):
        rows = x[idx[part]]                                                # (chunk, D)
        out.index_add_(0, row[part], rows if value is None else rows * value[part, None])
    return out


def _pairs(matrix: CSR, a: Tensor, b: Tensor) -> Tensor:
    """(nnz,) inner products <a_i, b_j> over the pattern."""
    if a.device.type not in ("cpu", "cuda") or not matrix.nnz:
        return _pairs_in_chunks(matrix, a, b)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
        pattern = torch.sparse_csr_tensor(matrix.ptr, matrix.idx, a.new_zeros(matrix.nnz), size=matrix.shape,
                                          check_invariants=False)
        products: Tensor = torch.sparse.sampled_addmm(pattern, a, b.T, beta=0.0).values()
        return products


def _pairs_in_chunks(matrix: CSR, a: Tensor, b: Tensor, chunk: int = _CHUNK) -> Tensor:
    parts = [(a[matrix.row[e]] * b[matrix.idx[e]]).sum(1)
             for e in torch.arange(matrix.nnz, device=a.device).split(chunk)]
    return torch.cat(parts) if parts else a.new_zeros(0)


def _counted(row: Tensor, col: Tensor, shape: tuple[int, int], ordered: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Row starts and columns of (row, col) pairs brought into order, and where they stood, if ``ordered``.

    Two stable counting sorts, by columns and then by rows: linear in nnz, in half as wide numbers where these suffice.
    """
    narrow = _index_for(len(row), *shape)
    stood = np.arange(len(row), dtype=narrow) if ordered else np.zeros(len(row), dtype=np.int8)
    pairs = scipy.sparse.coo_array((stood, (col.numpy().astype(narrow), row.numpy().astype(narrow))), shape=shape[::-1])
    pairs.has_canonical_format = True  # what is there twice is not to be added up here
    columns = pairs.tocsr()
    del pairs, stood
    rows = columns.tocsc()
    del columns
    return torch.from_numpy(rows.indptr).long(), torch.from_numpy(rows.indices).long(), torch.from_numpy(rows.data)


def _sorted(row: Tensor, col: Tensor, shape: tuple[int, int], ordered: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The same where there is no SciPy."""
    key, stood = torch.sort(row * shape[1] + col, stable=ordered)          # (nnz,)
    return _starts(torch.div(key, shape[1], rounding_mode="floor"), shape[0]), key % shape[1], stood


def _both_ways(matrix: CSR, mask: Tensor) -> Tensor:
    """(nnz,) for each entry of a symmetric pattern whether its edge is kept, where there are no compiled loops."""
    upper = matrix.row < matrix.idx                                        # (nnz,) one entry for each edge
    one_way = upper.masked_scatter(upper, mask)
    return one_way | one_way[matrix.perm]


def _index_for(*counts: int) -> type[np.signedinteger]:
    """The narrowest type for numbers up to these."""
    return np.int32 if max(counts) < 1 << 31 else np.int64


def _arrays(matrix: CSR) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return matrix.ptr.numpy(), matrix.idx.numpy(), matrix.values().detach().numpy()


def _loops() -> ModuleType:
    from sgcl import compiled

    return compiled


def _starts(sorted_rows: Tensor, num_rows: int) -> Tensor:
    """(N + 1,) row starts from ascending row numbers."""
    return torch._convert_indices_from_coo_to_csr(sorted_rows, num_rows)


def row_entries(ptr: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The new row starts and the (entries,) positions of the given rows."""
    start = ptr.index_select(0, rows)                                      # (n,)
    length = ptr.index_select(0, rows + 1) - start                         # (n,)
    new_ptr = F.pad(length.cumsum(0), (1, 0))                              # (n + 1,)
    entry = torch.repeat_interleave(start - new_ptr[:-1], length)
    return new_ptr, entry.add_(torch.arange(len(entry), device=ptr.device))
