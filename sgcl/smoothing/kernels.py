"""The inner loops of sparse products, compiled on first use and kept on disk where that can be written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np


def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled, and run outside the interpreter's lock."""
    try:
        made = numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:  # no folder to keep it in
        made = numba.njit(nogil=True)(loop)
    return made  # type: ignore[no-any-return]


@_compiled
def product(  # type: ignore[no-untyped-def]
        out_idx, out_val, ptr, idx, val, right_ptr, right_idx, right_val, num_cols, threshold):
    """The entries of left @ right that are positive and >= ``threshold``, or all for -inf, columns in any order.

    Columns and values go to the first two arrays, which must be long enough; row starts are returned. Rows are added up
    in an array of the right matrix's width. All indices here are unsigned, which spares a test for negative ones, and
    whether a column is new decides no branch.
    """
    total, seen = np.zeros(num_cols), np.zeros(num_cols, np.uint8)
    ends = np.zeros(len(ptr), idx.dtype)
    found = np.empty(num_cols + 1, idx.dtype)
    done = 0
    for row in range(len(ptr) - 1):
        count = 0
        for e in range(ptr[row], ptr[row + 1]):
            factor, k = val[e], idx[e]
            for f in range(right_ptr[k], right_ptr[k + 1]):
                j = right_idx[f]
                found[count] = j
                count += 1 - seen[j]
                seen[j] = 1
                total[j] += factor * right_val[f]
        for n in range(count):
            j = found[n]
            if total[j] >= threshold and (total[j] > 0 or threshold == -np.inf):
                out_idx[done], out_val[done] = j, total[j]
                done += 1
            total[j], seen[j] = 0.0, 0
        ends[row + 1] = done
    return ends


@_compiled
def filter_step(  # type: ignore[no-untyped-def]
        out_idx, out_val, first, stop, a_ptr, a_idx, a_val, v_ptr, v_idx, v_val, u_ptr, u_idx, u_val,
        ut_ptr, ut_idx, ut_val, c0, c1, c2, threshold):
    """Rows ``first`` to ``stop`` of c0 V + c1 U + c2 A U where they are >= ``threshold``, columns in any order, and
    ones on the diagonal; c2 < 0, and nothing negative in V, U and A.

    An entry can only be >= ``threshold`` where c0 V + c1 U is, so A U is worked out there alone, as inner products of
    a row of A and a column of U: by going through the column, or by searching it for the few entries of the row.
    """
    num_nodes = len(a_ptr) - 1
    total, seen, own = np.zeros(num_nodes), np.zeros(num_nodes, np.uint8), np.zeros(num_nodes)
    found = np.empty(num_nodes, u_idx.dtype)
    ends = np.zeros(stop - first + 1, u_idx.dtype)
    done = 0
    for row in range(first, stop):
        count = 0
        for e in range(u_ptr[row], u_ptr[row + 1]):
            j = u_idx[e]
            seen[j], total[j], found[count] = 1, c1 * u_val[e], j
            count += 1
        for e in range(v_ptr[row], v_ptr[row + 1]):
            j = v_idx[e]
            if not seen[j]:
                seen[j], total[j], found[count] = 1, 0.0, j
                count += 1
            total[j] += c0 * v_val[e]
        start, end = a_ptr[row], a_ptr[row + 1]
        for e in range(start, end):
            own[a_idx[e]] = a_val[e]
        out_idx[done], out_val[done] = row, 1.0
        done += 1
        for n in range(count):
            j = found[n]
            seen[j] = 0
            if j == row or total[j] < threshold:
                continue
            low, high = ut_ptr[j], ut_ptr[j + 1]
            inner = 0.0
            if high - low <= 8 * (end - start):
                for e in range(low, high):
                    inner += own[ut_idx[e]] * ut_val[e]
            else:
                for e in range(start, end):
                    at = low + np.searchsorted(ut_idx[low:high], a_idx[e])
                    if at < high and ut_idx[at] == a_idx[e]:
                        inner += a_val[e] * ut_val[at]
            value = total[j] + c2 * inner
            if value >= threshold and value > 0:
                out_idx[done], out_val[done] = j, value
                done += 1
        for e in range(start, end):
            own[a_idx[e]] = 0.0
        ends[row - first + 1] = done
    return ends
