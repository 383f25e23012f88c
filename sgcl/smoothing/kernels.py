"""The inner loops of smoothings."""

from __future__ import annotations

import numpy as np

from sgcl.compiled import compiled


@compiled
def product(  # type: ignore[no-untyped-def]
        out_idx, out_val, ptr, idx, val, right_ptr, right_idx, right_val, num_cols, threshold):
    """The entries of left @ right that are positive and >= ``threshold``, columns in any order.

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
            if total[j] >= threshold and total[j] > 0:
                out_idx[done], out_val[done] = j, total[j]
                done += 1
            total[j], seen[j] = 0.0, 0
        ends[row + 1] = done
    return ends


@compiled
def multiplications(ptr, idx, right_ptr):  # type: ignore[no-untyped-def]
    """How many each row of a product takes, from the rows of the left matrix and the row starts of the right one."""
    count = np.zeros(len(ptr) - 1)
    for row in range(len(count)):
        for e in range(ptr[row], ptr[row + 1]):
            count[row] += right_ptr[idx[e] + 1] - right_ptr[idx[e]]
    return count


@compiled
def filter_step(  # type: ignore[no-untyped-def]
        out_idx, out_val, first, stop, ptr, idx, val, a_ptr, a_idx, a_val, c0, c1, c2, threshold):
    """Rows ``first`` to ``stop`` of c0 V + c1 V A + c2 V A² where they are >= ``threshold``, columns in any order, and
    ones on the diagonal, for symmetric A, c2 < 0, and nothing negative in V and A.

    An entry can only be >= ``threshold`` where c0 V + c1 V A is, so V A² is worked out there alone: as the row of V A
    is spread out in an array, by going through a row of A.
    """
    num_nodes = len(a_ptr) - 1
    once, own, seen = np.zeros(num_nodes), np.zeros(num_nodes), np.zeros(num_nodes, np.uint8)
    ends = np.zeros(stop - first + 1, idx.dtype)
    found = np.empty(num_nodes + 1, idx.dtype)
    done = 0
    for row in range(first, stop):
        count = 0
        for e in range(ptr[row], ptr[row + 1]):
            factor, k = val[e], idx[e]
            own[k] = c0 * factor
            found[count] = k
            count += 1 - seen[k]
            seen[k] = 1
            for f in range(a_ptr[k], a_ptr[k + 1]):
                j = a_idx[f]
                found[count] = j
                count += 1 - seen[j]
                seen[j] = 1
                once[j] += factor * a_val[f]
        out_idx[done], out_val[done] = row, 1.0
        done += 1
        for n in range(count):
            j = found[n]
            value = own[j] + c1 * once[j]
            if value >= threshold and j != row:
                twice = 0.0
                for f in range(a_ptr[j], a_ptr[j + 1]):
                    twice += a_val[f] * once[a_idx[f]]
                value += c2 * twice
                if value >= threshold and value > 0:
                    out_idx[done], out_val[done] = j, value
                    done += 1
        for n in range(count):
            j = found[n]
            once[j], own[j], seen[j] = 0.0, 0.0, 0
        ends[row - first + 1] = done
    return ends


@compiled
def with_diagonal(out_idx, out_val, ptr, idx, val):  # type: ignore[no-untyped-def]
    """The positive entries of a square matrix with ascending columns, none above 1, and ones on its diagonal.

    Columns and values go to the first two arrays, which must be long enough; row starts are returned.
    """
    ends = np.zeros(len(ptr), np.int64)
    done = 0
    for row in range(len(ptr) - 1):
        placed = False
        for e in range(ptr[row], ptr[row + 1]):
            j, value = idx[e], np.float32(val[e])
            if j == row or not value > 0:
                continue
            if j > row and not placed:
                out_idx[done], out_val[done] = row, 1.0
                done, placed = done + 1, True
            out_idx[done], out_val[done] = j, min(value, np.float32(1.0))
            done += 1
        if not placed:
            out_idx[done], out_val[done] = row, 1.0
            done += 1
        ends[row + 1] = done
    return ends
