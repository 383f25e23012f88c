import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.evaluation import SVC_GRID, GraphScore, Split, Tu, svc_probe
from sgcl.evaluation.folds import stratified_folds


def clouds(n=60, width=3, classes=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % classes
    return torch.randn(n, width, generator=generator) + 1.2 * y[:, None], y


@given(y=st.lists(st.integers(-1, 3), min_size=30, max_size=80), seed=st.integers(0, 1000))
def test_every_labelled_graph_is_tested_once(y, seed):
    y = torch.tensor(y)
    labelled = (y >= 0).nonzero().view(-1).tolist()
    if len(labelled) < 10:
        return
    splits = Tu().splits(y, seed)
    assert len(splits) == 10
    assert sorted(node for split in splits for node in split.test.tolist()) == labelled
    for split in splits:
        assert sorted([*split.train.tolist(), *split.test.tolist()]) == labelled
        assert len(split.val) == 0
        for label in range(4):
            all_ = int((y == label).sum())
            assert all_ // 10 <= int((y[split.test] == label).sum()) <= -(-all_ // 10)


def test_rows_that_are_all_alike_score_the_same_with_a_table_of_the_kernel(monkeypatch):
    _, y = clouds(n=30)
    score = Tu().score(torch.zeros(30, 2), y)
    monkeypatch.setattr("sgcl.evaluation.graphs._TABLE", 0)
    assert score == Tu().score(torch.zeros(30, 2), y)


def test_folds_depend_on_labels_and_seed_alone():
    _, y = clouds()
    first, again, other = (Tu().splits(y, seed) for seed in (3, 3, 4))
    assert all(torch.equal(a.test, b.test) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a.test, b.test) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("table", [0, 4096])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_machine_is_chosen_by_the_inner_folds(classes, table, monkeypatch):
    monkeypatch.setattr("sgcl.evaluation.graphs._TABLE", table)
    embedding, y = clouds(classes=classes)
    split = Tu().splits(y, 0)[0]
    result = svc_probe(embedding, y, split, seed=5)
    x, y_, train = embedding.double().numpy(), y.numpy(), split.train.numpy()
    fold = stratified_folds(y_[train], 5, 5)
    means = []
    for strength in SVC_GRID:
        scores = []
        for number in range(5):
            inside, outside = train[fold != number], train[fold == number]
            scores.append(SVC(C=strength, gamma="scale").fit(x[inside], y_[inside]).score(x[outside], y_[outside]))
        means.append(np.mean(scores))
    best = int(np.argmax(means))
    twin = SVC(C=SVC_GRID[best], gamma="scale").fit(x[train], y_[train])
    assert result.choice == {"C": SVC_GRID[best]}
    assert result.val == pytest.approx(means[best])
    assert result.predictions.tolist() == twin.predict(x[split.test.numpy()]).tolist()
    assert result.train == pytest.approx(twin.score(x[train], y_[train]))


def test_a_run_is_the_mean_over_its_folds():
    embedding, y = clouds(n=40)
    run = Tu(folds=4, inner=2).score(embedding, y, seed=1)
    splits = Tu(folds=4, inner=2).splits(y, 1)
    single = [svc_probe(embedding, y, split, folds=2, seed=1) for split in splits]
    assert run.folds == tuple(result.test for result in single)
    assert tuple(result.C for result in single) == run.C
    assert run.mean == pytest.approx(sum(run.folds) / 4)
    assert run == Tu(folds=4, inner=2).score(embedding, y, seed=1)


def test_deviations_by_hand():
    run = GraphScore((0.5, 0.7, 0.9), (1.0, 1.0, 10.0), "accuracy", 0)
    assert (run.mean, run.fold_deviation) == (pytest.approx(0.7), pytest.approx(0.2))


@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_test_labels_change_the_score_and_nothing_else(seed):
    embedding, y = clouds(n=40, seed=seed)
    split = Tu().splits(y, seed)[0]
    other = y.clone()
    other[split.test] = 1 - y[split.test]
    before, after = (svc_probe(embedding, labels, split, seed=seed) for labels in (y, other))
    assert (before.C, before.val, before.train) == (after.C, after.val, after.train)
    assert torch.equal(before.predictions, after.predictions)
    assert after.test == pytest.approx(1 - before.test)


def test_a_fold_of_one_class_is_fitted_by_that_class():
    embedding, y = clouds(n=12)
    y[:] = 0
    y[[3, 7]] = 1
    split = Split(torch.arange(6), torch.empty(0, dtype=torch.long), torch.arange(6, 12))
    assert svc_probe(embedding, y, split).test == pytest.approx(5 / 6)


def test_nodes_are_not_graphs():
    data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1]))
    for call in (lambda: Tu().restrict(data), lambda: Tu().split(data, 0)):
        with pytest.raises(InputError, match="tu: scores collections of graphs, not the nodes of one: read one with"):
            call()


def test_inputs_are_checked():
    embedding, y = clouds()
    split = Tu().splits(y, 0)[0]
    with pytest.raises(InputError, match="no metric of predicted classes named 'roc-auc'; known: accuracy, macro-f1"):
        svc_probe(embedding, y, split, metric="roc-auc")
    with pytest.raises(InputError, match="svc_probe: predicts one class a node"):
        svc_probe(embedding, torch.stack([y, y], dim=1), split)
    with pytest.raises(InputError, match="tu: 1 folds and 5 inner ones, expected at least 2 of each"):
        Tu(folds=1)
    with pytest.raises(InputError, match="10 folds of 6 labelled items"):
        Tu().splits(y[:6], 0)
    with pytest.raises(InputError, match="seed -1 is out of range"):
        Tu().splits(y, -1)
