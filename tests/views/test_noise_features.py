"""Feature noise: multiplicative, zeros stay zeros, the same for dense and for sparse features."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.sparse import CSR, SparseFeatures
from sgcl.views import NoiseFeatures

PATH = CSR(torch.tensor([0, 1, 3, 4]), torch.tensor([1, 0, 2, 1]), symmetric=True)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_factor_has_mean_one_and_the_given_deviation():
    x = torch.full((3, 20_000), 4.0)
    factor = NoiseFeatures(0.3)(Graph(x, PATH), seeded()).x.double() / 4
    assert abs(float(factor.mean()) - 1) < 0.01
    assert abs(float(factor.std()) - 0.3) < 0.01
    assert bool((x == 4).all())


def test_the_deviation_scales_the_same_draws():
    x = torch.rand(3, 6, generator=seeded(1), dtype=torch.float64) + 1
    small, large = (NoiseFeatures(sigma)(Graph(x, PATH), seeded()).x - x for sigma in (0.1, 0.2))
    torch.testing.assert_close(2 * small, large)


@given(st.lists(st.sampled_from([0.0, 1.0, -2.0]), min_size=15, max_size=15), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_dense_and_sparse_features_get_the_same_noise(entries, seed):
    x = torch.tensor(entries).view(3, 5)
    dense = NoiseFeatures(0.5)(Graph(x, PATH), seeded(seed)).x
    sparse = NoiseFeatures(0.5)(Graph(SparseFeatures.from_dense(x), PATH), seeded(seed)).x
    assert isinstance(sparse, SparseFeatures)
    assert sparse.matrix.nnz == int(x.count_nonzero())
    assert torch.equal(sparse.to_dense(), dense)
    assert bool((dense[x == 0] == 0).all())


def test_no_noise_leaves_the_graph():
    graph = Graph(torch.ones(3, 2), PATH)
    assert NoiseFeatures(0)(graph, seeded()) is graph


@pytest.mark.parametrize("sigma", [-0.1, float("nan"), float("inf")])
def test_sigma_is_a_deviation(sigma):
    with pytest.raises(InputError, match=r"NoiseFeatures: sigma is .*, expected a finite number of at least 0"):
        NoiseFeatures(sigma)
