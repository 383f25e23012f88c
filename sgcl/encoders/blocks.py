"""Encoders in bounded memory: layer by layer, the sums over neighbours by columns, everything else by rows.

A layer is H' = outer(M (H W), H). For a block of k columns, H W is made whole, (N, k), and M times it row by row; outer
follows, row by row too. Only the (N, k) block is read in the order of the neighbours: H, M (H W) and H' are read and
written from top to bottom, and lie in temporary files where they are large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from sgcl.encoders import storage
from sgcl.encoders.journal import Journal, Log
from sgcl.encoders.layers import Layer
from sgcl.errors import InputError
from sgcl.graph import Features
from sgcl.mapped import is_sparse
from sgcl.sparse import CSR, SparseFeatures, spmm

_ENTRIES = 1 << 20  # of the graph at a time, to add up weights

_limit: ContextVar[Limit | None] = ContextVar("limit", default=None)


class Limit(NamedTuple):
    """How many bytes, and where temporary files go."""

    memory: int
    folder: Path | None
    journal: Journal | None = None  # keeps what is done, so that it can be gone on with


@contextmanager
def bounded(memory: int | None, folder: Path | None = None, journal: Journal | None = None) -> Iterator[None]:
    """Inside, an encoder takes at most ``memory`` bytes beside the graph and its weights; ``None`` for no limit. It is
    for inference: an encoder in training, or with gradients, takes what it needs."""
    token = _limit.set(None if memory is None else Limit(memory, folder, journal))
    try:
        yield
    finally:
        _limit.reset(token)


def limit_for(training: bool) -> Limit | None:
    """The limit that an encoder has to keep now."""
    return None if training or torch.is_grad_enabled() else _limit.get()


def combined(parts: list[Features], how: Callable[[list[Features]], Tensor], training: bool) -> Tensor:
    """how(parts), (N, K), of (N, D) matrices, whose rows it treats alone; in blocks where the memory is bounded."""
    limit = limit_for(training)
    if limit is None:
        return how(parts)
    one = how([rows_of(part, slice(0, 1)) for part in parts])              # (1, K)
    num_nodes, width, dtype = len(parts[0]), one.size(1), one.dtype
    row = (sum(part.shape[1] for part in parts) + width) * dtype.itemsize
    if limit.journal is None:
        out = storage.matrix(num_nodes, width, dtype, limit.memory / 6, limit.folder)
    else:
        out = limit.journal.matrix("combined", num_nodes, width, dtype)
    step = max(1, limit.memory // (4 * row))
    for start in range(0, num_nodes, step):
        out[start:start + step] = how([rows_of(part, slice(start, start + step)) for part in parts]).cpu()
        storage.forget()
    return out


def rows_of(x: Features, block: slice) -> Tensor | SparseFeatures:
    """(n, F) successive rows."""
    return SparseFeatures(x.matrix.rows(block), x.scale) if isinstance(x, SparseFeatures) else x[block]


def degrees(adj: CSR) -> Tensor:
    """(N,) ``adj.row_sum()``, with nothing of the size of the edges beside it."""
    if adj.value is None:
        return adj.row_sum()
    one = adj.value.new_ones(adj.shape[1], 1)
    blocks = _row_blocks(adj.ptr, adj.shape[0], _ENTRIES)
    return torch.cat([spmm(adj.rows(block), one) for block in blocks]).view(-1)


def layer_in_blocks(layer: Layer, finish: Callable[[Tensor], Tensor], x: Features, ptr: Tensor,
                    prepared: Callable[[slice], Any], limit: Limit) -> Tensor:
    """finish(layer(x)), (N, D), on the CPU.

    Args:
        finish: what follows the layer; it treats each row alone.
        x: (N, F) features, or what this function gave for the layer before.
        ptr: (N + 1,) where the rows of the graph start.
        prepared: what the layer needs of the graph, for some of its rows.
        limit: bounds the memory.
    """
    device, dtype, weight, scoring = ptr.device, layer.bias.dtype, layer.inner(x), layer.scoring()
    num_nodes, outer, inner = len(ptr) - 1, len(layer.bias), x.shape[1] if weight is None else weight.size(1)
    column = (num_nodes + (0 if weight is None else len(weight))) * dtype.itemsize  # bytes for each one at work
    free = _free(limit, (4 + 4 * layer.heads) * num_nodes * dtype.itemsize, column)
    row = ((0 if is_sparse(x) else x.shape[1]) + 2 * inner + 4 * outer) * dtype.itemsize
    blocks = list(_row_blocks(ptr, free / 8 / row, free / 8 / (16 + 6 * layer.heads * dtype.itemsize)))

    def rows(block: slice) -> Any:
        storage.forget()
        return rows_of(x, block).to(device)

    all_columns = list(_column_blocks(inner, layer.heads, int(free / 4 / column)))
    if limit.journal is None:
        log = Log(len(all_columns) + len(blocks))
        out = storage.matrix(num_nodes, outer, dtype, free / 6, limit.folder)
        summed = out if inner == outer else storage.matrix(num_nodes, inner, dtype, free / 6, limit.folder)
    else:  # what is done twice, for it was cut short, has the same result: nothing is overwritten that is read
        log = limit.journal.layer(len(all_columns) + len(blocks))
        out = limit.journal.matrix(f"layer-{log.number}", num_nodes, outer, dtype)
        if log.done == log.steps:
            return out
        summed = limit.journal.matrix(f"sums-{inner}", num_nodes, inner, dtype)
    scores = None if scoring is None else torch.cat([rows(block) @ scoring for block in blocks])  # (N, S)
    for columns in all_columns[log.done:]:
        h = torch.empty(num_nodes, columns.stop - columns.start, dtype=dtype, device=device)
        part = None if weight is None else weight[:, columns].contiguous()
        for block in blocks:
            h[block] = rows(block)[:, columns] if part is None else rows(block) @ part
        for block in blocks:
            summed[block, columns] = layer.sum(h, prepared(block), scores, block, columns.start).cpu()
            storage.forget()
        del h, part  # before the next ones are made
        log.step()
    for block in blocks[log.done - len(all_columns):]:
        out[block] = finish(layer.outer(summed[block].to(device, copy=limit.journal is not None), rows(block))).cpu()
        log.step()
    storage.forget()
    return out


def _free(limit: Limit, fixed: int, column: int) -> float:
    """Bytes left beside the ``fixed`` ones: half for matrices, a quarter for columns at work, a quarter for rows."""
    least = fixed + 4 * column
    if limit.memory < least:
        raise InputError(f"memory is {limit.memory / 2**20:.4g} MB, but to embed this graph in blocks takes at least "
                         f"{math.ceil(least / 2**20)} MB")
    return limit.memory - fixed


def _row_blocks(ptr: Tensor, most_rows: float, most_entries: float) -> Iterator[slice]:
    """Successive rows, as many as may be, at least one."""
    start, num_rows = 0, len(ptr) - 1
    while start < num_rows:
        full = int(torch.searchsorted(ptr, int(ptr[start]) + int(most_entries), right=True)) - 1
        stop = max(start + 1, min(start + int(most_rows), full, num_rows))
        yield slice(start, stop)
        start = stop


def _column_blocks(num_columns: int, heads: int, most: int) -> Iterator[slice]:
    """Successive columns of one head."""
    width = num_columns // heads
    for start in range(0, num_columns, width):
        for first in range(start, start + width, most):
            yield slice(first, min(first + most, start + width))
