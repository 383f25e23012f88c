"""The external sort gives the adjacency that plain dictionaries give, however small its memory."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgcl.store.buckets import EdgeSort

edges = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0, 3.0])), max_size=60)


def slow_twin(rows, weighted):
    """Entry to weight: what is given twice is added up, then the larger of the two ways."""
    given = defaultdict(float)
    for one, other, weight in rows:
        if one != other and (weight or not weighted):
            given[one, other] += weight
    both = {**{(other, one): 0.0 for one, other in given}, **given}
    return {pair: max(both.get(pair, 0.0), both.get(pair[::-1], 0.0)) for pair in sorted(both)}


@pytest.mark.parametrize("memory", [256, 1 << 26])
@given(rows=edges, weighted=st.booleans())
def test_entries_are_those_of_plain_dictionaries(tmp_path_factory, memory, rows, weighted):
    sort = EdgeSort(tmp_path_factory.mktemp("sort"), 7, len(rows), memory, weighted)
    one, other, weight = (np.array(column, dtype) for column, dtype in zip(
        zip(*rows, strict=True) if rows else ([], [], []), (np.int64, np.int64, np.float32), strict=True))
    sort.add(one, other, weight if weighted else None)
    found = list(sort.entries())
    pairs = [(int(row), int(col)) for part in found for row, col in zip(part.row, part.col, strict=True)]
    expected = slow_twin(rows, weighted)
    assert pairs == list(expected)
    if weighted:
        assert [float(value) for part in found for value in part.value] == list(expected.values())
    count, kept = sort.count, [row[:2] for row in rows if row[0] != row[1] and (row[2] or not weighted)]
    assert count.given == len(kept)
    assert count.loops == sum(row[0] == row[1] for row in rows)
    assert count.distinct == len(set(kept))
    assert count.both_ways == sum(pair[::-1] in kept for pair in set(kept))


def test_a_bucket_that_is_too_large_is_dealt_out_again(tmp_path):
    hub = np.zeros(5000, np.int64)
    sort = EdgeSort(tmp_path, 5001, 10, 1 << 14)  # told of ten edges, all of which would fit
    sort.add(hub, np.arange(1, 5001))
    parts = list(sort.entries())
    assert len(parts) > 10
    assert np.concatenate([part.col for part in parts]).tolist() == [*range(1, 5001), *[0] * 5000]
    assert max(len(part.col) for part in parts) * 32 <= 1 << 14


def test_the_share_that_is_done_is_told(tmp_path):
    told = []
    sort = EdgeSort(tmp_path, 100, 1000, 1 << 12)
    sort.add(np.arange(99), np.arange(1, 100))
    list(sort.entries(told.append))
    assert told == sorted(told)
    assert told[-1] == 1
