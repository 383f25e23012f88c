import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from sgcl.errors import InputError
from sgcl.evaluation import C_GRID, Split, cross_validated_probe
from sgcl.evaluation.folds import stratified_folds


def blobs(n=80, width=4, classes=3, spread=2.5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % classes
    embedding = 2 * torch.randn(classes, width, generator=generator)[y]
    embedding += spread * torch.randn(n, width, generator=generator)
    train, test = torch.randperm(n, generator=generator).split([n // 2, n - n // 2])
    return embedding, y, Split(train, torch.empty(0, dtype=torch.long), test)


@given(y=st.lists(st.integers(0, 4), min_size=5, max_size=60), folds=st.integers(2, 5), seed=st.integers(0, 1000))
def test_folds_share_out_every_class(y, folds, seed):
    y = np.array(y)
    fold = stratified_folds(y, folds, seed)
    assert set(fold) == set(range(folds))
    size = np.bincount(fold)
    assert size.max() - size.min() <= 1
    for label in np.unique(y):
        count = np.bincount(fold[y == label], minlength=folds)
        assert count.max() - count.min() <= 1
    assert (fold == stratified_folds(y, folds, seed)).all()


def test_folds_are_shuffled_by_the_seed():
    y = np.zeros(40, dtype=int)
    assert (stratified_folds(y, 5, 0) != stratified_folds(y, 5, 1)).any()


@pytest.mark.parametrize(("size", "folds"), [(4, 5), (10, 1)])
def test_folds_are_checked(size, folds):
    with pytest.raises(InputError, match=f"{folds} folds of {size} labelled items: expected 2 folds or more"):
        stratified_folds(np.zeros(size, dtype=int), folds, 0)


@pytest.mark.parametrize("seed", range(2))
def test_the_choice_is_the_best_over_the_folds(seed):
    embedding, y, split = blobs(seed=seed)
    result = cross_validated_probe(embedding, y, split, seed=seed)
    x, y_ = F.normalize(embedding.double()).numpy(), y.numpy()
    train, test = split.train.numpy(), split.test.numpy()
    fold = stratified_folds(y_[train], 5, seed)

    def fitted(nodes, strength):
        models = [LogisticRegression(C=strength, tol=1e-8, max_iter=10_000).fit(x[nodes], y_[nodes] == label)
                  for label in range(3)]
        return lambda rows: np.argmax([model.decision_function(rows) for model in models], axis=0)

    means = []
    for strength in C_GRID:
        scores = []
        for number in range(5):
            inside, outside = train[fold != number], train[fold == number]
            scores.append(np.mean(fitted(inside, strength)(x[outside]) == y_[outside]))
        means.append(np.mean(scores))
    best = int(np.argmax(means))
    assert result.choice == {"C": C_GRID[best]}
    assert result.val == pytest.approx(means[best])
    predicted = fitted(train, C_GRID[best])(x[test])
    assert result.predictions.tolist() == predicted.tolist()
    assert result.test == pytest.approx(np.mean(predicted == y_[test]))
    assert result.metric == "micro-f1"
    assert result.converged


def test_a_class_of_one_node_may_be_missing_from_a_fold():
    embedding, y, split = blobs(n=24)
    y[split.train] = 0
    y[split.train[0]] = 1
    result = cross_validated_probe(embedding, y, split)
    assert 0 <= result.test <= 1


def test_fits_that_do_not_converge_are_reported(monkeypatch):
    monkeypatch.setattr("sgcl.evaluation.logistic._MAX_STEPS", 1)
    with pytest.warns(UserWarning, match=r"cross_validated_probe: no convergence at C = .*1024: those fits are approx"):
        assert not cross_validated_probe(*blobs()).converged


def test_inputs_are_checked():
    embedding, y, split = blobs()
    with pytest.raises(InputError, match="no metric of predicted classes named 'roc-auc'; known: accuracy, macro-f1"):
        cross_validated_probe(embedding, y, split, metric="roc-auc")
    with pytest.raises(InputError, match="cross_validated_probe: predicts one class a node"):
        cross_validated_probe(embedding, torch.stack([y % 2, y % 2], dim=1), split)
    with pytest.raises(InputError, match="no metric of predicted classes named 'f1'"):
        cross_validated_probe(embedding, y, split, metric="f1")
    with pytest.raises(InputError, match="50 folds of 40 labelled items"):
        cross_validated_probe(embedding, y, split, folds=50)
