"""Sparse products a few rows at a time, or read off only where they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
import torch

_BLOCK = 1 << 21  # entries, or multiplications, in one block of rows
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
    power: np.ndarray = np.power(degree, exponent, where=degree > 0, out=np.zeros_like(degree))
    return power


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


def by_rows(work: Callable[[slice], scipy.sparse.csr_array], cost: np.ndarray) -> scipy.sparse.csr_array:
    """``work`` on one block of rows after the other, as one matrix. ``cost`` (N,) sizes the blocks.

    SciPy multiplies outside the interpreter's lock, so blocks run on as many threads as torch may use.
    """
    block = np.floor(np.cumsum(cost) / block_size())
    cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(cost)]
    parts = [slice(start, stop) for start, stop in pairwise(cuts)]
    if len(parts) == 1:
        return work(parts[0])
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        return scipy.sparse.csr_array(scipy.sparse.vstack(list(pool.map(work, parts)), format="csr"))


def pruned_product(left: scipy.sparse.csr_array, right: scipy.sparse.csr_array, prune: float
                   ) -> scipy.sparse.csr_array:
    """The positive entries >= prune of left @ right, never holding the whole product."""
    return by_rows(lambda rows: pruned(left[rows] @ right, prune), multiplications(left, right))


def multiplications(left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> np.ndarray:
    """(N,) how many the sparse product left @ right takes in each row; no row of it has more entries."""
    pattern = scipy.sparse.csr_array((np.ones(left.nnz), left.indices, left.indptr), shape=left.shape)
    return np.asarray(pattern @ np.diff(right.indptr).astype(np.float64))


def product_at(left: scipy.sparse.csr_array, right_t: scipy.sparse.csr_array, row: np.ndarray, col: np.ndarray
               ) -> np.ndarray:
    """(M,) the entries (row, col) of left @ right_t^T, each an inner product of two sparse rows.

    The shorter of the two is walked through and looked up in the longer one; columns must ascend in both.
    """
    out = np.zeros(len(row))
    swap = np.diff(right_t.indptr)[col] < np.diff(left.indptr)[row]        # (M,)
    for short, long, a, b, mine in ((left, right_t, row, col, ~swap), (right_t, left, col, row, swap)):
        pairs = np.flatnonzero(mine)
        cuts = np.flatnonzero(np.diff(np.cumsum(np.diff(short.indptr)[a[pairs]], dtype=np.int64) // block_size())) + 1
        keys = row_of(long).astype(np.int64) * long.shape[1] + long.indices
        for some in np.split(pairs, cuts):
            out[some] = _inner_products(short, keys, long.data, a[some], b[some])
    return out


def lookups(left: scipy.sparse.csr_array, right_t: scipy.sparse.csr_array, row: np.ndarray, col: np.ndarray) -> int:
    """How many :func:`product_at` makes."""
    return int(np.minimum(np.diff(left.indptr)[row], np.diff(right_t.indptr)[col]).sum(dtype=np.int64))


def _inner_products(short: scipy.sparse.csr_array, keys: np.ndarray, data: np.ndarray, a: np.ndarray, b: np.ndarray
                    ) -> np.ndarray:
    """(M,) inner products of the rows ``a`` of ``short`` with the rows ``b`` of the matrix of ``keys`` and ``data``."""
    length = np.diff(short.indptr)[a].astype(np.int64)                     # (M,)
    start = np.cumsum(length) - length
    entry = np.repeat(short.indptr[a] - start, length) + np.arange(length.sum())
    key = np.repeat(b.astype(np.int64) * short.shape[1], length) + short.indices[entry]
    at = np.searchsorted(keys, key).clip(max=max(len(keys) - 1, 0))
    hit = keys[at] == key if len(keys) else np.zeros(len(key), dtype=bool)
    owner = np.repeat(np.arange(len(a)), length)[hit]
    return np.bincount(owner, short.data[entry[hit]] * data[at[hit]], minlength=len(a))
