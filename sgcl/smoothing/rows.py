"""Sparse products, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
import torch

from sgcl.sparse import CSR

_BLOCK = 1 << 21  # entries, or multiplications, in one block of rows
_SMALL = 1 << 19  # fewer are not worth a thread of their own
_block_size: ContextVar[int | None] = ContextVar("block_size", default=None)
_SLACK = 1e-9  # relative: the order of a sum must not decide whether an entry at the threshold stays


def block_size() -> int:
    """Entries in a block: memory that does not grow with the graph."""
    return _block_size.get() or _BLOCK


@contextmanager
def blocks_of(entries: int) -> Iterator[None]:
    """Inside, blocks are of another size. Results do not depend on it."""
    token = _block_size.set(entries)
    try:
        yield
    finally:
        _block_size.reset(token)


def identity(num_nodes: int) -> scipy.sparse.csr_array:
    """(N, N) identity."""
    nodes, ends = np.arange(num_nodes, dtype=np.int32), np.arange(num_nodes + 1, dtype=np.int32)
    return scipy.sparse.csr_array((np.ones(num_nodes), nodes, ends), shape=(num_nodes, num_nodes))


def row_of(matrix: scipy.sparse.csr_array) -> np.ndarray:
    """(nnz,) the row of each entry."""
    return np.repeat(np.arange(matrix.shape[0], dtype=matrix.indices.dtype), np.diff(matrix.indptr))


def scaled(matrix: scipy.sparse.csr_array, left: np.ndarray, right: np.ndarray) -> scipy.sparse.csr_array:
    """diag(left) M diag(right)."""
    data = matrix.data * np.repeat(left, np.diff(matrix.indptr)) * right[matrix.indices]
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def degree_power(adj: scipy.sparse.csr_array, exponent: float) -> np.ndarray:
    """(N,) weighted degrees to a power; 0 for nodes without edges."""
    degree = adj @ np.ones(adj.shape[0])
    power: np.ndarray = degree ** abs(exponent)  # quick at 1/2 and 1
    return power if exponent > 0 else np.divide(1.0, power, where=degree > 0, out=np.zeros_like(degree))


def random_walk(adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """T = D^-1 A: every row sums to 1, or is empty where a node has no edges."""
    return scaled(adj, degree_power(adj, -1.0), np.ones(adj.shape[0]))


def kept(matrix: scipy.sparse.csr_array, mask: np.ndarray) -> scipy.sparse.csr_array:
    """Only the entries where the (nnz,) mask is true, in linear time."""
    ends = np.zeros(len(mask) + 1, dtype=matrix.indptr.dtype)
    np.cumsum(mask, out=ends[1:])
    return scipy.sparse.csr_array((matrix.data[mask], matrix.indices[mask], ends[matrix.indptr]), shape=matrix.shape)


def pruned(block: Any, prune: float) -> scipy.sparse.csr_array:
    """The positive entries >= prune of a dense or sparse block, columns ascending; ties are kept."""
    threshold = prune * (1 - _SLACK)
    if isinstance(block, np.ndarray):
        return scipy.sparse.csr_array(np.where(block >= threshold, block.clip(min=0), 0))
    block = kept(block, (block.data >= threshold) & (block.data > 0))
    block.sort_indices()
    return block


def times(block: Any, matrix: scipy.sparse.csr_array) -> Any:
    """block @ matrix. A block filled by more than an eighth goes on as a dense array, which is then faster."""
    if scipy.sparse.issparse(block) and block.nnz > block.shape[0] * block.shape[1] / 8:
        block = block.toarray()
    return block @ matrix


def by_rows(work: Callable[[slice], scipy.sparse.csr_array], cost: np.ndarray, top: int | None = None
            ) -> scipy.sparse.csr_array:
    """``work`` on one block of rows after the other, as one matrix; of each row the ``top`` entries, if given. ``cost``
    (N,) sizes the blocks.

    Products are made outside the interpreter's lock, so blocks run on as many threads as torch may use.
    """
    if cost.sum() < min(_SMALL, block_size()):
        return largest(work(slice(0, len(cost))), top)
    reached = np.cumsum(cost)
    share = max(reached[-1] / torch.get_num_threads(), _SMALL)
    block = np.floor(reached / min(share, block_size()))
    cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(cost)]
    parts = [slice(start, stop) for start, stop in pairwise(cuts)]
    if len(parts) == 1:
        return largest(work(parts[0]), top)
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        found = list(pool.map(lambda rows: largest(work(rows), top), parts))
    return scipy.sparse.csr_array(scipy.sparse.vstack(found, format="csr"))


def largest(matrix: scipy.sparse.csr_array, top: int | None) -> scipy.sparse.csr_array:
    """The ``top`` largest entries of each row, of equal ones those of the first columns; all for ``None``."""
    length = np.diff(matrix.indptr)
    if top is None or length.max(initial=0) <= top:
        return matrix
    matrix.sort_indices()
    order = np.lexsort((-matrix.data, row_of(matrix)))                     # stable: equal ones stay in their order
    stays = np.zeros(matrix.nnz, dtype=bool)
    stays[order] = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], length) < top
    return kept(matrix, stays)


def product(left: scipy.sparse.csr_array, right: scipy.sparse.csr_array, prune: float, top: int | None = None
            ) -> scipy.sparse.csr_array:
    """The positive entries >= prune of left @ right, columns ascending, never holding the whole product."""
    cost = multiplications(left, right)

    def work(rows: slice) -> scipy.sparse.csr_array:
        ptr, idx, val = _arrays(left)
        block = _filled(_kernels().product, cost[rows].sum(), right, ptr[rows.start:rows.stop + 1], idx, val,
                        *_arrays(right), right.shape[1], prune * (1 - _SLACK))
        block.sort_indices()
        return block

    return by_rows(work, cost, top)


def filter_step(v: scipy.sparse.csr_array, adj: scipy.sparse.csr_array, weights: tuple[float, float, float],
                prune: float) -> scipy.sparse.csr_array:
    """The entries >= prune of c0 V + c1 V A + c2 V A², for c2 < 0, symmetric A and V >= 0, and ones on the diagonal;
    columns in any order."""
    cost = multiplications(v, adj) + np.diff(v.indptr) + 1

    def work(rows: slice) -> scipy.sparse.csr_array:
        return _filled(_kernels().filter_step, cost[rows].sum(), v, rows.start, rows.stop, *_arrays(v), *_arrays(adj),
                       *weights, prune * (1 - _SLACK))

    return by_rows(work, cost)


def finished(matrix: scipy.sparse.csr_array, top: int | None) -> CSR:
    """Entries in (0, 1], those that float32 can tell from 0, with a diagonal of ones, columns ascending; beside the
    diagonal the ``top`` largest of a row, if given."""
    if top is not None:
        matrix = largest(kept(matrix, (matrix.data.astype(np.float32) > 0) & (row_of(matrix) != matrix.indices)), top)
    matrix.sort_indices()
    room = matrix.nnz + matrix.shape[0]
    idx, val = np.empty(room, np.int64), np.empty(room, np.float32)
    ptr = _kernels().with_diagonal(idx, val, *_arrays(matrix))
    return CSR(torch.from_numpy(ptr), torch.from_numpy(idx[:ptr[-1]]), torch.from_numpy(val[:ptr[-1]]))


def multiplications(left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> np.ndarray:
    """(N,) how many the sparse product left @ right takes in each row; no row of it has more entries."""
    count: np.ndarray = _kernels().multiplications(*_arrays(left)[:2], _arrays(right)[0])
    return count


def _arrays(matrix: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row starts, columns and values as the loops take them, nothing copied."""
    return matrix.indptr.view(_unsigned(matrix)), matrix.indices.view(_unsigned(matrix)), matrix.data


def _unsigned(matrix: scipy.sparse.csr_array) -> type[np.unsignedinteger]:
    return np.uint32 if matrix.indices.dtype == np.int32 else np.uint64


def _filled(loop: Callable[..., np.ndarray], most: float, like: scipy.sparse.csr_array, *args: Any
            ) -> scipy.sparse.csr_array:
    """The block that a loop makes, of at most so many entries and as many columns as another matrix has."""
    idx, val = np.empty(int(most), like.indices.dtype), np.empty(int(most))
    ptr = loop(idx.view(_unsigned(like)), val, *args).view(like.indices.dtype)
    found = val[:ptr[-1]].copy(), idx[:ptr[-1]].copy(), ptr
    return scipy.sparse.csr_array(found, shape=(len(ptr) - 1, like.shape[1]))


def _kernels() -> ModuleType:
    """Loaded when first needed: the compiler is large."""
    from sgcl.smoothing import kernels

    return kernels
