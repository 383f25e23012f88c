import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import sparse
from sgcl.sparse import CSR, SparseFeatures, larger_way, sddmm, spmm, turned, union


@st.composite
def matrices(draw, max_size=7, square=False):
    rows = draw(st.integers(1, max_size))
    cols = rows if square else draw(st.integers(1, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dense = rng.standard_normal((rows, cols)) * (rng.random((rows, cols)) < draw(st.sampled_from([0.0, 0.3, 0.8])))
    row, col = np.nonzero(dense)
    order = rng.permutation(len(row))
    row, col = torch.from_numpy(row[order]), torch.from_numpy(col[order])
    return CSR.from_coo(row, col, torch.from_numpy(dense)[row, col], shape=(rows, cols)), torch.from_numpy(dense)


@given(matrices())
def test_conversions_keep_the_matrix(pair):
    matrix, dense = pair
    assert torch.equal(matrix.to_dense(), dense)
    assert torch.equal(matrix.T.to_dense(), dense.T)
    assert torch.equal(CSR.from_scipy(matrix.to_scipy()).to_dense(), dense)
    assert torch.allclose(matrix.row_sum(), dense.sum(1))


def test_duplicate_entries_are_added_up_and_without_values_kept_once():
    row, col = torch.tensor([1, 0, 1]), torch.tensor([2, 0, 2])
    assert CSR.from_coo(row, col, torch.tensor([1.0, 5.0, 2.0]), shape=(2, 3)).to_dense().tolist() == [
        [5, 0, 0], [0, 0, 3]]
    assert CSR.from_coo(row, col, shape=(2, 3)).to_dense().tolist() == [[1, 0, 0], [0, 0, 1]]


@given(st.integers(0, 30), st.integers(1, 6), st.integers(1, 6), st.integers(1, 2), st.integers(0, 2**31))
def test_pairs_come_by_row_and_column_and_those_given_twice_are_added_in_their_order(count, rows, cols, width, seed):
    generator = torch.Generator().manual_seed(seed)
    row, col = (torch.randint(size, (count,), generator=generator) for size in (rows, cols))
    value = torch.randn(count, width, generator=generator).squeeze(1)
    total = {}
    for pair, number in zip(zip(row.tolist(), col.tolist(), strict=True), value, strict=True):
        total[pair] = total[pair] + number if pair in total else number
    listed = sorted(total)
    for given_value, expected in ((value, [total[pair].tolist() for pair in listed]), (None, None)):
        matrix = CSR.from_coo(row, col, given_value, shape=(rows, cols))
        assert matrix.ptr.dtype == matrix.idx.dtype == torch.long
        assert matrix.shape == (rows, cols)
        assert list(zip(matrix.row.tolist(), matrix.idx.tolist(), strict=True)) == listed
        assert (None if matrix.value is None else matrix.value.tolist()) == expected
    for one, other in zip(sparse._counted(row, col, (rows, cols), True), sparse._sorted(row, col, (rows, cols), True),
                          strict=True):
        assert one.tolist() == other.tolist()  # as on other devices


@given(matrices(square=True), st.booleans())
def test_the_larger_way_is_the_maximum_with_the_transpose_without_zeros(pair, both):
    matrix, dense = pair[0].with_values(pair[0].value.abs()), pair[1].abs()
    if both:
        matrix, dense = larger_way(matrix), torch.maximum(dense, dense.T)
    weights, pattern = larger_way(matrix), larger_way(matrix.with_values(None))
    assert torch.equal(weights.to_dense(), torch.maximum(dense, dense.T))
    assert weights.symmetric
    assert pattern.symmetric
    assert pattern.value is None
    assert torch.equal(pattern.idx, weights.idx)
    assert torch.equal(pattern.ptr, weights.ptr)
    assert pattern.ptr.dtype == pattern.idx.dtype == torch.long
    assert larger_way(weights.with_values(torch.zeros(weights.nnz))).nnz == 0


@given(matrices(), st.integers(0, 2**31))
def test_keep_and_take_rows_are_plain_indexing(pair, seed):
    matrix, dense = pair
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(matrix.nnz, generator=generator) < 0.5
    kept = torch.zeros_like(dense)
    kept[matrix.row[mask], matrix.idx[mask]] = matrix.value[mask]
    assert torch.equal(matrix.keep(mask).to_dense(), kept)
    rows = torch.randint(dense.size(0), (4,), generator=generator)
    assert torch.equal(matrix.take_rows(rows).to_dense(), dense[rows])


@given(matrices(square=True), st.integers(0, 2**31))
def test_submatrix_is_rows_and_columns(pair, seed):
    matrix, dense = pair
    nodes = torch.randperm(len(dense), generator=torch.Generator().manual_seed(seed))[:3].sort().values
    assert torch.equal(matrix.submatrix(nodes).to_dense(), dense[nodes][:, nodes])


def test_perm_of_a_symmetric_pattern_finds_the_reverse_entry():
    row, col = torch.tensor([0, 1, 1, 2, 0, 2]), torch.tensor([1, 0, 2, 1, 2, 0])
    matrix = CSR.from_coo(row, col, shape=(3, 3), symmetric=True)
    assert torch.equal(matrix.row[matrix.perm], matrix.idx)
    assert torch.equal(matrix.idx[matrix.perm], matrix.row)


@given(matrices(square=True), st.integers(0, 2**31))
def test_edges_are_kept_both_ways(pair, seed):
    dense = (pair[1] + pair[1].T).fill_diagonal_(0)
    row, col = dense.nonzero(as_tuple=True)
    matrix = CSR.from_coo(row, col, dense[row, col], shape=tuple(dense.shape), symmetric=True)
    mask = torch.rand(len(row) // 2, generator=torch.Generator().manual_seed(seed)) < 0.5
    expected = torch.zeros_like(dense)
    for i, j in [edge for edge, kept in zip(dense.triu().nonzero().tolist(), mask.tolist(), strict=True) if kept]:
        expected[i, j] = expected[j, i] = dense[i, j]
    assert torch.equal(matrix.keep_edges(mask).to_dense(), expected)
    assert matrix.keep_edges(mask).symmetric
    assert torch.equal(matrix.keep(sparse._both_ways(matrix, mask)).to_dense(), expected)  # as on other devices


@given(matrices(square=True))
def test_spmm_with_a_diagonal_beside_the_matrix_is_the_dense_product_with_its_gradients(pair):
    matrix, dense = pair
    x = torch.randn(len(dense), 3, dtype=torch.double, requires_grad=True)
    diag = torch.rand(len(dense), 1, dtype=torch.double)
    assert torch.allclose(spmm(matrix, x, diag=diag), (dense + torch.diag(diag[:, 0])) @ x, atol=1e-12)
    assert torch.autograd.gradcheck(lambda x: spmm(matrix, x, diag=diag), (x,))


@given(matrices(), st.booleans())
def test_spmm_is_the_dense_product_with_its_gradients(pair, own):
    matrix, dense = pair
    x = torch.randn(dense.size(1), 3, dtype=torch.double, requires_grad=True)
    value = matrix.value.clone().requires_grad_()
    assert torch.allclose(spmm(matrix, x), dense @ x, atol=1e-12)
    if own:
        assert torch.autograd.gradcheck(lambda x: spmm(matrix, x), (x,))
    else:
        assert torch.autograd.gradcheck(lambda x, value: spmm(matrix, x, value), (x, value))


@given(matrices())
def test_sddmm_is_the_dense_product_at_the_pattern(pair):
    matrix, dense = pair
    a = torch.randn(dense.size(0), 3, dtype=torch.double, requires_grad=True)
    b = torch.randn(dense.size(1), 3, dtype=torch.double, requires_grad=True)
    assert torch.allclose(sddmm(matrix, a, b), (a @ b.T)[matrix.row, matrix.idx], atol=1e-12)
    assert torch.autograd.gradcheck(lambda a, b: sddmm(matrix, a, b), (a, b))


@given(matrices(), st.integers(0, 2**31))
def test_products_without_the_fused_kernels_are_the_same(pair, seed):
    matrix, dense = pair
    x = torch.randn(dense.size(1), 3, dtype=torch.double)
    a = torch.randn(dense.size(0), 3, dtype=torch.double)
    bag, pairs = sparse._bag_in_chunks, sparse._pairs_in_chunks
    assert torch.allclose(bag(matrix.ptr, matrix.idx, matrix.value, x, chunk=2), dense @ x, atol=1e-12)
    assert torch.allclose(bag(matrix.ptr, matrix.idx, None, x, chunk=2), (dense != 0).double() @ x, atol=1e-12)
    assert torch.allclose(pairs(matrix, a, x, chunk=2), (a @ x.T)[matrix.row, matrix.idx], atol=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_products_on_cuda_are_those_of_the_cpu():
    matrix = CSR.from_coo(torch.tensor([0, 1, 1]), torch.tensor([1, 0, 2]), torch.rand(3), shape=(2, 3))
    x, a = torch.randn(3, 4), torch.randn(2, 4)
    there = matrix.to("cuda")
    assert torch.allclose(spmm(there, x.cuda()).cpu(), spmm(matrix, x), atol=1e-6)
    assert torch.allclose(sddmm(there, a.cuda(), x.cuda()).cpu(), sddmm(matrix, a, x), atol=1e-6)


@given(matrices(), st.integers(0, 2**31))
def test_sparse_features_act_like_dense_ones(pair, seed):
    _, dense = pair
    generator = torch.Generator().manual_seed(seed)
    x = SparseFeatures.from_dense(dense)
    scale = (torch.rand(dense.size(1), generator=generator) < 0.5).double()
    weight = torch.randn(dense.size(1), 2, dtype=torch.double, generator=generator, requires_grad=True)
    assert torch.allclose(x @ weight, dense @ weight, atol=1e-12)
    masked = x.scale_columns(scale)
    assert torch.allclose(masked @ weight, (dense * scale) @ weight, atol=1e-12)
    assert torch.autograd.gradcheck(lambda weight: masked @ weight, (weight,))
    rows = torch.tensor([dense.size(0) - 1, 0])
    assert torch.equal(masked[rows].to_dense(), (dense * scale)[rows])
    assert torch.allclose(x.scale_entries(torch.full((x.matrix.nnz,), 2.0)).to_dense(), 2 * dense)


@given(matrices(), st.integers(0, 2**31), st.floats(0, 1))
def test_union_turned_and_rows_are_plain_indexing(pair, seed, filled):
    matrix, dense = pair
    generator = torch.Generator().manual_seed(seed)
    other = torch.rand(dense.T.shape, generator=generator, dtype=torch.double)
    other *= torch.rand(dense.T.shape, generator=generator) < filled
    row, col = other.nonzero(as_tuple=True)
    both = union(matrix, CSR.from_coo(row, col, other[row, col], shape=tuple(other.shape)), torch.float64)
    assert torch.equal(both.with_values(both.value[:, 0]).to_dense(), dense)
    assert torch.equal(both.with_values(both.value[:, 1]).to_dense(), other.T)
    assert both.nnz == int(((dense != 0) | (other.T != 0)).sum())
    assert torch.equal(turned(matrix).to_dense(), dense.T)
    start, stop = sorted(torch.randint(len(dense) + 1, (2,), generator=generator).tolist())
    assert torch.equal(matrix.rows(slice(start, stop)).to_dense(), dense[start:stop])
