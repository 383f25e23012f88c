"""Features that stay in a file: rows of them are ordinary features."""

import torch

from sgcl.mapped import MappedFeatures, normalised
from sgcl.sparse import CSR, SparseFeatures

X = torch.tensor([[1.0, -3.0], [0.0, 0.0], [2.0, 2.0]])


def test_rows_of_half_width_come_as_float32():
    mapped = MappedFeatures(X.half())
    rows = mapped[torch.tensor([2, 0])]
    assert rows.dtype == torch.float32
    assert rows.tolist() == [[2, 2], [1, -3]]
    assert mapped[1:].tolist() == [[0, 0], [2, 2]]
    assert (len(mapped), mapped.shape, mapped.row_bytes) == (3, (3, 2), 8)
    assert torch.equal(mapped.to("cpu"), X)


def test_rows_are_normalised_when_they_are_taken():
    mapped = MappedFeatures(X, normalised=True)
    assert mapped[torch.tensor([0, 1])].tolist() == [[0.25, -0.75], [0, 0]]
    assert torch.equal(mapped[:], normalised(X))


def test_sparse_rows_stay_sparse_and_their_columns_are_widened():
    whole = SparseFeatures.from_dense(X).matrix
    narrow = CSR(whole.ptr, whole.idx.int(), whole.value, num_cols=2)
    for rows in (torch.tensor([2, 0]), slice(1, 3)):
        part = MappedFeatures(narrow, normalised=True)[rows]
        assert isinstance(part, SparseFeatures)
        assert part.matrix.idx.dtype == torch.long
        assert torch.equal(part.to_dense(), normalised(X)[rows])
    assert MappedFeatures(narrow).row_bytes == 12 * 4 / 3
