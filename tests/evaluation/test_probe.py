import inspect

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from sgcl.errors import InputError
from sgcl.evaluation import C_GRID, METRICS, Split, linear_probe, probe


def blobs(n=90, width=5, classes=3, spread=1.0, seed=0):
    """Points around one centre a class, and a split into thirds."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % classes
    centres = 2 * torch.randn(classes, width, generator=generator)
    embedding = centres[y] + spread * torch.randn(n, width, generator=generator)
    return embedding, y, Split(*torch.randperm(n, generator=generator).sort().indices.split(n // 3))


def test_what_a_line_parts_is_found():
    embedding = torch.tensor([[1.0, 0.1], [2.0, 0.0], [0.1, 3.0], [0.0, 1.0], [5.0, 1.0], [0.5, 4.0], [9.0, 0.0],
                              [0.0, 0.2]])
    y = torch.tensor([0, 0, 1, 1, 0, 1, 0, 1])
    result = linear_probe(embedding, y, Split(torch.arange(4), torch.tensor([4, 5]), torch.tensor([6, 7])))
    assert (result.train, result.val, result.test) == (1, 1, 1)
    assert result.predictions.tolist() == [0, 1]
    assert result.converged


def test_the_grid_is_the_stated_one():
    assert list(C_GRID) == [2.0**power for power in range(-10, 11)]


@pytest.mark.parametrize("width", [5, 200])
def test_the_choice_is_the_best_on_validation_and_ties_go_to_the_smaller(width):
    embedding, y, split = blobs(width=width, spread=4.0)
    result = linear_probe(embedding, y, split)
    x = F.normalize(embedding.double())
    val, test = [], []
    for strength in C_GRID:
        twin = LogisticRegression(C=strength, tol=1e-8, max_iter=10_000).fit(x[split.train], y[split.train])
        val.append(np.mean(twin.predict(x[split.val]) == y[split.val].numpy()))
        test.append(np.mean(twin.predict(x[split.test]) == y[split.test].numpy()))
    best = val.index(max(val))
    assert best > 0
    assert result.choice == {"C": C_GRID[best]}
    assert (result.val, result.test) == (val[best], test[best])


@settings(max_examples=15)
@given(seed=st.integers(0, 1000))
def test_test_labels_change_the_score_and_nothing_else(seed):
    embedding, y, split = blobs(n=30, spread=3.0, seed=seed)
    other = y.clone()
    order = torch.randperm(len(split.test), generator=torch.Generator().manual_seed(seed))
    other[split.test] = y[split.test][order]
    before, after = linear_probe(embedding, y, split), linear_probe(embedding, other, split)
    assert (before.C, before.val, before.train) == (after.C, after.val, after.train)
    assert torch.equal(before.predictions, after.predictions)
    assert after.test == float((before.predictions == other[split.test]).double().mean())


def test_the_choice_is_given_no_test_nodes():
    assert list(inspect.signature(probe.choose).parameters) == ["train_x", "train_y", "val_x", "val_y", "metric"]


def test_the_length_of_rows_does_not_count():
    embedding, y, split = blobs()
    stretched = embedding * torch.rand(len(y), 1, generator=torch.Generator().manual_seed(1)).mul(9).add(0.5)
    before, after = linear_probe(embedding, y, split), linear_probe(stretched, y, split)
    assert (before.C, before.val, before.test) == (after.C, after.val, after.test)


def test_inputs_are_left_as_they_were():
    embedding, y, split = blobs()
    kept = embedding.clone()
    linear_probe(embedding.requires_grad_(), y, split)
    assert torch.equal(embedding, kept)


@given(true=st.lists(st.integers(0, 4), min_size=1, max_size=30), seed=st.integers(0, 100))
def test_macro_f1_is_scikit_learns(true, seed):
    predicted = np.random.RandomState(seed).randint(5, size=len(true))
    expected = f1_score(true, predicted, average="macro", zero_division=0.0)
    assert METRICS["macro-f1"](np.array(true), predicted) == pytest.approx(expected)


def test_another_metric_chooses_and_scores():
    embedding, y, split = blobs(spread=4.0)
    result = linear_probe(embedding, y, split, metric="macro-f1")
    assert result.metric == "macro-f1"
    expected = f1_score(y[split.test], result.predictions, average="macro", zero_division=0.0)
    assert result.test == pytest.approx(expected)
    with pytest.raises(InputError, match=r"no metric named 'acuracy'; did you mean 'accuracy'\?"):
        linear_probe(embedding, y, split, metric="acuracy")


def test_large_sets_are_predicted_in_parts(monkeypatch):
    embedding, y, split = blobs()
    whole = linear_probe(embedding, y, split)
    monkeypatch.setattr(probe, "_BLOCK", 35)
    assert torch.equal(linear_probe(embedding, y, split).predictions, whole.predictions)


def test_a_fit_that_does_not_converge_is_reported(monkeypatch):
    embedding, y, split = blobs()
    monkeypatch.setattr("sgcl.evaluation.logistic._MAX_STEPS", 1)
    with pytest.warns(UserWarning, match=r"linear_probe: no convergence at C = .*1024: those fits are approximate"):
        assert not linear_probe(embedding, y, split).converged


def test_inputs_are_checked():
    embedding, y, split = blobs(n=30)
    none = torch.empty(0, dtype=torch.long)
    cases = [
        ((embedding[0], y, split), r"linear_probe: the embedding is torch.float32 of shape \(5,\), expected floats"),
        ((embedding.long(), y, split), "linear_probe: the embedding is torch.int64"),
        ((embedding * torch.nan, y, split), "the embedding holds NaN or infinite values: the training diverged"),
        ((embedding[:20], y[:20], split), "the split names node 2[0-9], but the embedding has 20 rows: split"),
        ((embedding, None, split), "linear_probe: the graph has no labels"),
        ((embedding, torch.full_like(y, -1), split), "linear_probe: 10 of the train nodes have no label"),
        ((embedding, torch.full_like(y, 2), split), "all training nodes are of class 2: two classes are needed"),
        ((embedding, y, Split(split.train, none, split.test)), "linear_probe: the split has no val nodes"),
        ((embedding, y, Split(none, split.val, split.test)), "linear_probe: the split has no train nodes"),
        ((embedding, y, Split(split.train, split.val, none)), "linear_probe: the split has no test nodes"),
    ]
    for arguments, message in cases:
        with pytest.raises(InputError, match=message):
            linear_probe(*arguments)


def many_tasks(n=90, width=5, tasks=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    embedding = torch.randn(n, width, generator=generator)
    y = (embedding[:, :tasks] + 1.5 * torch.randn(n, tasks, generator=generator) > 0.5).long()
    return embedding, y, Split(*torch.randperm(n, generator=generator).split(n // 3))


def test_roc_auc_of_two_classes_by_scikit_learn():
    embedding, y, split = blobs(classes=2, spread=4.0)
    result = linear_probe(embedding, y, split, metric="roc-auc")
    x, areas = F.normalize(embedding.double()), []
    for strength in C_GRID:
        twin = LogisticRegression(C=2 * strength, tol=1e-8, max_iter=10_000).fit(x[split.train], y[split.train])
        areas.append([roc_auc_score(y[nodes], twin.decision_function(x[nodes])) for nodes in (split.val, split.test)])
    best = max(range(len(areas)), key=lambda place: (round(areas[place][0], 9), -place))
    assert result.choice == {"C": C_GRID[best]}
    assert (result.val, result.test) == (pytest.approx(areas[best][0]), pytest.approx(areas[best][1]))
    assert set(result.predictions.tolist()) <= {0, 1}
    assert roc_auc_score(y[split.test], result.scores) == pytest.approx(result.test)


def test_several_tasks_share_the_strength_with_the_best_mean():
    embedding, y, split = many_tasks()
    result = linear_probe(embedding, y, split, metric="roc-auc")
    x, means = F.normalize(embedding.double()), []
    for strength in C_GRID:
        models = [LogisticRegression(C=strength, tol=1e-8, max_iter=10_000).fit(x[split.train], y[split.train, task])
                  for task in range(3)]
        means.append([np.mean([roc_auc_score(y[nodes, task], model.decision_function(x[nodes]))
                               for task, model in enumerate(models)]) for nodes in (split.val, split.test)])
    best = max(range(len(means)), key=lambda place: (round(means[place][0], 9), -place))
    assert result.choice == {"C": C_GRID[best]}
    assert (result.val, result.test) == (pytest.approx(means[best][0]), pytest.approx(means[best][1]))
    assert result.predictions.shape == result.scores.shape == (30, 3)


@settings(max_examples=8)
@given(seed=st.integers(0, 1000))
def test_test_labels_of_tasks_change_the_score_and_nothing_else(seed):
    embedding, y, split = many_tasks(seed=seed)
    other = y.clone()
    other[split.test] = y[split.test].roll(7, dims=0)
    before, after = (linear_probe(embedding, labels, split, metric="roc-auc") for labels in (y, other))
    assert (before.C, before.val, before.train) == (after.C, after.val, after.train)
    assert torch.equal(before.scores, after.scores)
    assert torch.equal(before.predictions, after.predictions)


def test_tasks_without_a_label_here_and_there():
    embedding, y, split = many_tasks()
    y[split.train[:5], 0] = -1
    y[split.test[:5], 1] = -1
    result = linear_probe(embedding, y, split, metric="roc-auc")
    assert 0 <= result.test <= 1
    y[split.val[3]] = -1
    with pytest.raises(InputError, match="linear_probe: 1 of the val nodes have no label"):
        linear_probe(embedding, y, split, metric="roc-auc")


def test_metrics_fit_the_labels():
    embedding, y, split = blobs()
    _, tasks, _ = many_tasks()
    with pytest.raises(InputError, match="linear_probe: the labels are of 3 tasks: score them by metric='roc-auc'"):
        linear_probe(embedding, tasks, split)
    with pytest.raises(InputError, match="linear_probe: roc-auc is for labels 0 and 1, but the training nodes have 3"):
        linear_probe(embedding, y, split, metric="roc-auc")
    with pytest.raises(InputError, match="linear_probe: no task has training nodes of both classes"):
        linear_probe(embedding, torch.ones_like(tasks), split, metric="roc-auc")
    two = y.clamp(max=1)
    two[split.val] = 0
    with pytest.raises(InputError, match="linear_probe: roc-auc is undefined on the val nodes: they are all of"):
        linear_probe(embedding, two, split, metric="roc-auc")
