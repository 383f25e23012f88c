"""Products by blocks of rows and at single entries, against the whole product."""

from unittest import mock

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sgcl.smoothing import rows

seeds = st.integers(0, 2**32 - 1)


def random_matrix(rng: np.random.Generator, n: int, m: int) -> scipy.sparse.csr_array:
    dense = rng.random((n, m)) * (rng.random((n, m)) < rng.random())
    return scipy.sparse.csr_array(dense)


@given(seed=seeds, n=st.integers(1, 15), m=st.integers(1, 15), block=st.sampled_from([1, 5, 1 << 20]))
def test_product_at_reads_off_the_product(seed, n, m, block):
    rng = np.random.default_rng(seed)
    left, right_t = random_matrix(rng, n, 9), random_matrix(rng, m, 9)
    row, col = rng.integers(0, n, 20), rng.integers(0, m, 20)
    with mock.patch.object(rows, "_BLOCK", block):
        at = rows.product_at(left, right_t, row, col)
    np.testing.assert_allclose(at, (left.toarray() @ right_t.toarray().T)[row, col], atol=1e-12)
    walked = sum(min(np.diff(left.indptr)[i], np.diff(right_t.indptr)[j]) for i, j in zip(row, col, strict=True))
    assert rows.lookups(left, right_t, row, col) == walked


@given(seed=seeds, prune=st.sampled_from([0.0, 0.5]), block=st.sampled_from([1, 5, 1 << 20]))
def test_pruned_product_is_the_product_without_small_entries(seed, prune, block):
    rng = np.random.default_rng(seed)
    left, right = random_matrix(rng, 12, 10), random_matrix(rng, 10, 7)
    with mock.patch.object(rows, "_BLOCK", block):
        product = rows.pruned_product(left, right, prune)
    dense = left.toarray() @ right.toarray()
    np.testing.assert_allclose(product.toarray(), np.where(dense >= prune, dense, 0), atol=1e-12)
    assert product.nnz == (dense >= max(prune, 1e-300)).sum()
    assert (rows.multiplications(left, right) >= np.diff(product.indptr)).all()


def test_blocks_cover_every_row_once_and_stay_small():
    seen = []

    def work(block: slice) -> scipy.sparse.csr_array:
        seen.append(block)
        return scipy.sparse.csr_array(np.ones((block.stop - block.start, 1)))

    cost = np.array([3.0, 3, 3, 0, 0, 20, 1, 1, 1, 1, 1])
    with mock.patch.object(rows, "_BLOCK", 5):
        assert rows.by_rows(work, cost).shape == (11, 1)
    assert sorted(i for block in seen for i in range(block.start, block.stop)) == list(range(11))
    assert all(cost[block].sum() <= 5 + cost[block].max() for block in seen)


@given(seed=seeds)
def test_dense_and_sparse_blocks_multiply_alike(seed):
    rng = np.random.default_rng(seed)
    block, matrix = random_matrix(rng, 5, 10), random_matrix(rng, 10, 10)
    result = rows.times(block, matrix)
    assert isinstance(result, np.ndarray) == (block.nnz > 50 / 8)
    np.testing.assert_allclose(rows.pruned(result, 0.0).toarray(), block.toarray() @ matrix.toarray(), atol=1e-12)


def test_blocks_of_another_size_give_the_same():
    rng = np.random.default_rng(0)
    matrix = scipy.sparse.csr_array(np.where(rng.random((30, 30)) < 0.2, rng.random((30, 30)), 0))
    expected = rows.pruned_product(matrix, matrix, 0.1).toarray()
    with rows.blocks_of(7):
        assert rows.block_size() == 7
        assert np.array_equal(rows.pruned_product(matrix, matrix, 0.1).toarray(), expected)
    assert rows.block_size() == rows._BLOCK
