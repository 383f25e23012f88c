import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, roc_auc_score

from sgcl.evaluation import METRICS, roc_auc


@given(pairs=st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3)), min_size=1, max_size=30))
def test_area_is_scikit_learns_and_counts_ties_half(pairs):
    true, scores = np.array([label for label, _ in pairs]), np.array([float(score) for _, score in pairs])
    if len(set(true)) < 2:
        assert math.isnan(roc_auc(true, scores))
        return
    ones, zeros = scores[true == 1], scores[true == 0]
    by_pairs = np.mean([(a > b) + 0.5 * (a == b) for a in ones for b in zeros])
    assert roc_auc(true, scores) == pytest.approx(by_pairs)
    assert roc_auc(true, scores) == pytest.approx(roc_auc_score(true, scores))


def test_tasks_are_averaged_where_they_are_defined():
    true = np.array([[0, 1, -1, 1], [1, 1, 0, 0], [1, 1, 1, 1], [0, 1, -1, 0]])
    scores = np.array([[0.1, 0.3, 9.0, 0.5], [0.4, 0.2, 0.1, 0.4], [0.3, 0.1, 0.2, 0.3], [0.35, 0.0, -9.0, 0.2]])
    # task 0: 3 of 4 pairs in order; task 1: all of one class; task 2: 1 pair, in order; task 3: 3 of 4
    assert roc_auc(true, scores) == pytest.approx((0.75 + 1 + 0.75) / 3)
    assert math.isnan(roc_auc(true[:, 1:2], scores[:, 1:2]))


@given(true=st.lists(st.integers(0, 4), min_size=1, max_size=30), seed=st.integers(0, 100))
def test_micro_f1_is_scikit_learns(true, seed):
    predicted = np.random.RandomState(seed).randint(5, size=len(true))
    expected = f1_score(true, predicted, average="micro", zero_division=0.0)
    assert METRICS["micro-f1"](np.array(true), predicted) == pytest.approx(expected)
    assert METRICS["accuracy"](np.array(true), predicted) == pytest.approx(expected)
