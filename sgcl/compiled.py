"""Inner loops that are compiled on first use and kept on disk where that can be written to.

Whoever needs one loads this when it does: the compiler is large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled, and run outside the interpreter's lock."""
    try:
        made = numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:  # no folder to keep it in
        made = numba.njit(nogil=True)(loop)
    return made  # type: ignore[no-any-return]


@compiled
def turned(ptr, idx, val, out_ptr, out_idx, out_val):  # type: ignore[no-untyped-def]
    """The transpose of a matrix, columns ascending; ``out_ptr`` comes as zeros."""
    for e in range(len(idx)):
        out_ptr[idx[e] + 1] += 1
    for row in range(len(out_ptr) - 1):
        out_ptr[row + 1] += out_ptr[row]
    at = out_ptr[:-1].copy()
    for row in range(len(ptr) - 1):
        for e in range(ptr[row], ptr[row + 1]):
            place = at[idx[e]]
            out_idx[place], out_val[place] = row, val[e]
            at[idx[e]] = place + 1


@compiled
def merged(ptr, idx, val, ptr2, idx2, val2, out_idx, out_val):  # type: ignore[no-untyped-def]
    """The entries of two matrices with ascending columns, with the value in both, (nnz, 2); 0 where one has none.

    Columns and values go to the last two arrays, which must be long enough; row starts are returned.
    """
    ends = np.zeros(len(ptr), out_idx.dtype)
    done = 0
    for row in range(len(ptr) - 1):
        e, stop, f, stop2 = ptr[row], ptr[row + 1], ptr2[row], ptr2[row + 1]
        while e < stop or f < stop2:
            first = f == stop2 or (e < stop and idx[e] <= idx2[f])
            second = e == stop or (f < stop2 and idx2[f] <= idx[e])
            out_idx[done] = idx[e] if first else idx2[f]
            out_val[done, 0] = val[e] if first else 0
            out_val[done, 1] = val2[f] if second else 0
            e, f, done = e + first, f + second, done + 1
        ends[row + 1] = done
    return ends


@compiled
def both_ways(ptr, idx, kept, mask):  # type: ignore[no-untyped-def]
    """For each entry of a symmetric pattern with ascending columns and no diagonal, whether its edge is kept; edges in
    the order of their entries above the diagonal. Those below it come in the same order, row by row."""
    at = ptr[:-1].copy()
    edge = 0
    for row in range(len(ptr) - 1):
        for e in range(ptr[row], ptr[row + 1]):
            col = idx[e]
            if col > row and edge < len(kept) and at[col] < len(mask):  # always, if the pattern is symmetric
                mask[e], mask[at[col]] = kept[edge], kept[edge]
                at[col] += 1
                edge += 1
