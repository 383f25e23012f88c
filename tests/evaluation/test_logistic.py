import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from sgcl.evaluation import logistic
from sgcl.evaluation.logistic import logistic_path, task_path

STRENGTHS = [2.0**-6, 0.25, 1.0, 32.0]


def objective(x, y, weight, bias, strength):
    """½||W||² + C Σ loss, one row at a time."""
    total = 0.5 * float(np.sum(np.square(weight)))
    for row, label in zip(x, y, strict=True):
        scores = [float(row @ weight[:, k] + bias[k]) for k in range(len(bias))]
        top = max(scores)
        total += strength * (top + np.log(sum(np.exp(score - top) for score in scores)) - scores[label])
    return total


def some_rows(n, width, classes, seed):
    """Rows of very different column scales, all classes present."""
    random = np.random.RandomState(seed)
    y = np.concatenate([np.arange(classes), random.randint(classes, size=n - classes)])
    x = (random.randn(n, width) + random.randn(classes, width)[y]) * np.logspace(0, -1, width) + 1
    return x, y


@settings(max_examples=15)
@given(n=st.integers(8, 40), width=st.integers(1, 60), classes=st.integers(3, 5), seed=st.integers(0, 1000))
def test_the_solution_is_scikit_learns(n, width, classes, seed):
    x, y = some_rows(n, width, classes, seed)
    for strength, model in zip(STRENGTHS, logistic_path(x, y, STRENGTHS), strict=True):
        twin = LogisticRegression(C=strength, tol=1e-7, max_iter=10_000).fit(x, y)
        ours = objective(x, y, model.weight, model.bias, strength)
        theirs = objective(x, y, twin.coef_.T, twin.intercept_, strength)
        assert model.converged
        assert strength == model.C
        assert ours <= theirs * (1 + 1e-6)
        np.testing.assert_allclose(model.weight, twin.coef_.T, atol=5e-3 * np.abs(twin.coef_).max())


@given(n=st.integers(4, 30), width=st.integers(1, 40), scale=st.sampled_from([1e-3, 1, 1e3]), seed=st.integers(0, 1000))
def test_the_gradient_vanishes(n, width, scale, seed):
    x, y = some_rows(n, width, 3, seed)
    x *= scale
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logistic, "_TOLERANCE", 1e-9)
        (model,) = logistic_path(x, y, [1 / scale**2])
    scores = x @ model.weight + model.bias
    probability = np.exp(scores - scores.max(1, keepdims=True))
    probability /= probability.sum(1, keepdims=True)
    missing = np.eye(3)[y] - probability
    np.testing.assert_allclose(model.weight, x.T @ missing / scale**2, atol=1e-5 * np.abs(model.weight).max())
    np.testing.assert_allclose(missing.sum(0), 0, atol=1e-6)


@pytest.mark.parametrize("width", [4, 50])
def test_two_classes_are_scikit_learns_with_twice_the_strength(width):
    x, y = some_rows(30, width, 2, 0)
    for strength, model in zip(STRENGTHS, logistic_path(x, y, STRENGTHS), strict=True):
        twin = LogisticRegression(C=2 * strength, tol=1e-7, max_iter=10_000).fit(x, y)
        weight, bias = model.weight[:, 1] - model.weight[:, 0], model.bias[1] - model.bias[0]
        np.testing.assert_allclose(weight, twin.coef_[0], atol=5e-3 * np.abs(twin.coef_).max())
        assert bias == pytest.approx(twin.intercept_[0], rel=5e-3)
        assert (model.predict(x) == twin.predict(x)).all()


def test_the_path_does_not_depend_on_where_it_began():
    x, y = some_rows(60, 10, 3, 1)
    (alone,) = logistic_path(x, y, [8.0])
    *_, last = logistic_path(x, y, [2.0**-10, 1.0, 8.0])
    np.testing.assert_allclose(alone.weight, last.weight, atol=1e-3)


def test_labels_need_not_be_consecutive():
    x = np.array([[0.0], [1.0], [5.0], [6.0]])
    (model,) = logistic_path(x, np.array([7, 7, 3, 3]), [100.0])
    assert model.predict(x).tolist() == [7, 7, 3, 3]
    assert model.classes.tolist() == [3, 7]


@pytest.mark.parametrize("x", [np.ones((6, 3)), np.zeros((6, 2)), np.ones((6, 9)), np.repeat(np.eye(2), 3, axis=0)])
def test_rows_that_are_all_alike_do_no_harm(x):
    y = np.array([0, 0, 1, 1, 1, 1])
    for model in logistic_path(x, y, STRENGTHS):
        assert model.converged
        assert np.isfinite(model.weight).all()
        assert np.isfinite(model.bias).all()
    assert model.predict(np.zeros((1, x.shape[1]))).tolist() == [1]  # the larger class


@settings(max_examples=15)
@given(n=st.integers(8, 40), width=st.integers(1, 30), tasks=st.integers(1, 4), unknown=st.booleans(),
       seed=st.integers(0, 1000))
def test_tasks_are_scikit_learns_one_by_one(n, width, tasks, unknown, seed):
    x, _ = some_rows(n, width, 2, seed)
    random = np.random.RandomState(seed)
    y = (x[:, :1] + random.randn(n, tasks) > 1).astype(int)
    y[0], y[1] = 0, 1
    if unknown:
        y[2:][random.rand(n - 2, tasks) < 0.3] = -1
    for strength, model in zip(STRENGTHS, task_path(x, y, STRENGTHS), strict=True):
        assert model.converged
        assert strength == model.C
        for task in range(tasks):
            known = y[:, task] >= 0
            twin = LogisticRegression(C=strength, tol=1e-7, max_iter=10_000).fit(x[known], y[known, task])
            np.testing.assert_allclose(model.weight[:, task], twin.coef_[0], atol=5e-3 * np.abs(twin.coef_).max())
            np.testing.assert_allclose(model.scores(x)[:, task], twin.decision_function(x), atol=0.05)
        assert (model.predict(x) == (model.scores(x) > 0)).all()


def test_a_task_without_both_classes_says_what_it_saw():
    x = np.random.RandomState(0).randn(10, 3)
    y = np.stack([np.zeros(10), np.ones(10), np.arange(10) % 2], axis=1).astype(int)
    (model,) = task_path(x, y, [1.0])
    assert (model.weight[:, :2] == 0).all()
    assert model.predict(x)[:, :2].tolist() == [[0, 1]] * 10
    (alone,) = task_path(x, y[:, 2:], [1.0])
    np.testing.assert_allclose(model.weight[:, 2], alone.weight[:, 0], atol=1e-5)


def test_scores_of_two_classes_are_log_odds():
    x, y = some_rows(20, 3, 2, 0)
    (model,) = logistic_path(x, y, [1.0])
    twin = LogisticRegression(C=2.0, tol=1e-7, max_iter=10_000).fit(x, y)
    np.testing.assert_allclose(model.scores(x), twin.decision_function(x), atol=1e-2)
