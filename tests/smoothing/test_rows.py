"""Products by blocks of rows, against dense ones."""

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


@given(seed=seeds, prune=st.sampled_from([0.0, 0.5]), block=st.sampled_from([1, 5, 1 << 20]))
def test_a_product_is_that_of_the_dense_matrices_without_small_entries(seed, prune, block):
    rng = np.random.default_rng(seed)
    left, right = random_matrix(rng, 12, 10), random_matrix(rng, 10, 7)
    with rows.blocks_of(block):
        product = rows.product(left, right, prune)
    dense = left.toarray() @ right.toarray()
    np.testing.assert_allclose(product.toarray(), np.where(dense >= prune, dense, 0), atol=1e-12)
    assert product.nnz == (dense >= max(prune, 1e-300)).sum()
    assert product.has_sorted_indices
    assert (rows.multiplications(left, right) >= np.diff(product.indptr)).all()


def test_negative_entries_go():
    left = scipy.sparse.csr_array(np.array([[1.0, 2], [0, 1]]))
    right = scipy.sparse.csr_array(np.array([[1.0, -2], [-1, 3]]))
    assert rows.product(left, right, 0.0).toarray().tolist() == [[0, 4], [0, 3]]


@given(seed=seeds, n=st.integers(1, 25), prune=st.sampled_from([0.0, 0.05, 0.3]),
       block=st.sampled_from([1, 5, 1 << 20]), hub=st.booleans())
def test_a_step_of_a_filter_is_its_formula(seed, n, prune, block, hub):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < rng.random()), 1)
    upper[0, 1:] = 0.1 * hub
    a, v = upper + upper.T, random_matrix(rng, n, n).toarray() + np.eye(n)
    with rows.blocks_of(block):
        found = rows.filter_step(scipy.sparse.csr_array(v), scipy.sparse.csr_array(a), (0.8, 0.3, -0.1), prune)
    expected = 0.8 * v + 0.3 * v @ a - 0.1 * v @ a @ a
    expected[(expected < prune) | (expected <= 1e-15)] = 0                 # a sum that is 0 may be a rounding error
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(np.where(found.toarray() <= 1e-15, 0, found.toarray()), expected, atol=1e-12)


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
    expected = rows.product(matrix, matrix, 0.1).toarray()
    with rows.blocks_of(7):
        assert rows.block_size() == 7
        assert np.array_equal(rows.product(matrix, matrix, 0.1).toarray(), expected)
    assert rows.block_size() == rows._BLOCK
