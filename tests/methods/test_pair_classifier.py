import copy

import pytest
import torch
import torch.nn.functional as F
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


def test_learning_is_steps_of_adam_on_the_gamblers_loss_of_every_pair():
    torch.manual_seed(0)
    classifier = PairClassifier(3).double()
    twin = copy.deepcopy(classifier).requires_grad_(True)
    a, b = (torch.randn(count, 3, dtype=torch.double) for count in (4, 6))
    classifier.learn([(a, b)] * 3, 1.5, torch.Generator().manual_seed(0))
    upper, optimizer = _upper_half(F.normalize(a) @ F.normalize(b).T), torch.optim.Adam(twin.parameters(), lr=0.01)
    for _ in range(3):
        loss = 0.0
        for i in range(4):
            for k in range(6):
                p = twin(a[i], b[k]).softmax(0)
                loss = loss - torch.log(p[1 if upper[i, k] == upper[i, i] else 0] + p[2] / 1.5) / 24
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for ours, theirs in zip(classifier.parameters(), twin.parameters(), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def test_learning_stays_finite_whatever_the_scale_of_the_pairs():
    torch.manual_seed(0)
    classifier, generator = PairClassifier(3), torch.Generator().manual_seed(0)
    a = 1e4 * torch.randn(40, 3)
    classifier.learn([(a, a)] * 20, 1.9, generator)
    assert all(bool(parameter.isfinite().all()) for parameter in classifier.parameters())
