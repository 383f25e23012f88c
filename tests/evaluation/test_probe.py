import inspect

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

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
