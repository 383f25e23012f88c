import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl.methods.pair_classifier import PairClassifier, _upper_half


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=9).filter(lambda row: len(set(row)) > 1))
def test_two_means_are_the_best_of_all_splits(row):
    values = torch.tensor([row], dtype=torch.double)
    upper = _upper_half(values)[0]

    def spread(mask):
        return sum(float((part - part.mean()).square().sum()) for part in (values[0][mask], values[0][~mask]))

    best = min(spread(values[0] > threshold) for threshold in set(row) - {max(row)})
    assert upper.any()
    assert not upper.all()
    assert spread(upper) == pytest.approx(best, abs=1e-9)


def test_all_pairs_are_each_pair_as_one_row():
    torch.manual_seed(0)
    classifier = PairClassifier(3)
    a, b = torch.randn(9, 3), torch.randn(5, 3)
    assert not any(parameter.requires_grad for parameter in classifier.parameters())
    for i in range(9):
        for k in range(5):
            h = torch.relu(classifier.first(torch.cat([a[i], b[k]])))
            share = classifier.third(torch.relu(classifier.second(h))).softmax(0)[2]
            assert float(classifier.abstention(a, b)[i, k]) == pytest.approx(float(share), rel=1e-5)


def test_learning_stays_finite_whatever_the_scale_of_the_pairs():
    torch.manual_seed(0)
    classifier, generator = PairClassifier(3), torch.Generator().manual_seed(0)
    a = 1e4 * torch.randn(40, 3)
    classifier.learn([(a, a)] * 20, 1.9, generator)
    assert all(bool(parameter.isfinite().all()) for parameter in classifier.parameters())
