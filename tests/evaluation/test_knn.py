import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.evaluation import K_GRID, Split, knn, knn_probe


def blobs(n=60, width=4, classes=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=generator)
    embedding = torch.randn(classes, width, generator=generator)[y] + torch.randn(n, width, generator=generator)
    return embedding, y, Split(*torch.randperm(n, generator=generator).split(n // 3))


def slow_vote(embedding, y, train, node, k):
    """The classes that may win: most votes, then the largest sum of cosines."""
    cosine = [float(F.cosine_similarity(embedding[node], embedding[other], dim=0)) for other in train]
    nearest = sorted(range(len(train)), key=lambda place: -cosine[place])[:k]
    tally = {}
    for place in nearest:
        votes, total = tally.get(int(y[train[place]]), (0, 0.0))
        tally[int(y[train[place]])] = (votes + 1, total + cosine[place])
    most = max(votes for votes, _ in tally.values())
    near = max(total for votes, total in tally.values() if votes == most)
    return {label for label, (votes, total) in tally.items() if votes == most and total > near - 1e-5}


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), k=st.integers(1, 9), block=st.sampled_from([1, 30, 1 << 24]))
def test_votes_by_a_loop(seed, k, block):
    embedding, y, split = blobs(n=30, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "_BLOCK", block)
        result = knn_probe(embedding, y, split, k=k)
    for node, label in zip(split.test.tolist(), result.predictions.tolist(), strict=True):
        assert label in slow_vote(embedding, y, split.train.tolist(), node, k)
    assert result.test == pytest.approx(float((result.predictions == y[split.test]).double().mean()))


def test_equal_votes_go_to_the_more_similar_class():
    embedding = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8]])
    split = Split(torch.tensor([0, 1]), torch.empty(0, dtype=torch.long), torch.tensor([2, 3]))
    assert knn_probe(embedding, torch.tensor([0, 1, 0, 1]), split, k=2).predictions.tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_k_is_the_best_on_validation_and_ties_go_to_the_smaller(seed):
    embedding, y, split = blobs(seed=seed)
    runs = {k: knn_probe(embedding, y, split, k=k) for k in K_GRID if k <= len(split.train)}
    best = max(run.val for run in runs.values())
    first = min(k for k, run in runs.items() if run.val == best)
    result = knn_probe(embedding, y, split)
    assert result.choice == {"k": first}
    assert (result.val, result.test) == (best, runs[first].test)
    assert math.isnan(result.train)


@settings(max_examples=15)
@given(seed=st.integers(0, 1000))
def test_test_labels_change_the_score_and_nothing_else(seed):
    embedding, y, split = blobs(seed=seed)
    other = y.clone()
    other[split.test] = y[split.test].roll(1)
    before, after = knn_probe(embedding, y, split), knn_probe(embedding, other, split)
    assert (before.k, before.val) == (after.k, after.val)
    assert torch.equal(before.predictions, after.predictions)


def test_inputs_are_checked():
    embedding, y, split = blobs()
    none = torch.empty(0, dtype=torch.long)
    assert math.isnan(knn_probe(embedding, y, Split(split.train, none, split.test), k=3).val)
    with pytest.raises(InputError, match="knn_probe: the split has no val nodes"):
        knn_probe(embedding, y, Split(split.train, none, split.test))
    for k in (0, 21):
        with pytest.raises(InputError, match=f"knn_probe: k is {k}, expected 1 to 20 neighbours among the training"):
            knn_probe(embedding, y, split, k=k)
    with pytest.raises(InputError, match="no metric of predicted classes named 'roc-auc'"):
        knn_probe(embedding, y, split, metric="roc-auc")
    with pytest.raises(InputError, match="knn_probe: predicts one class a node, but the labels are of several tasks"):
        knn_probe(embedding, torch.stack([y.clamp(max=1)] * 2, dim=1), split)
