import math

import pytest
import torch
from torch import nn

from sgcl.errors import InputError
from sgcl.evaluation import Split, published_probe, roc_auc


def noisy(n=90, width=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % 3
    embedding = torch.randn(3, width, generator=generator)[y] + 2 * torch.randn(n, width, generator=generator)
    return embedding, y, Split(*torch.randperm(n, generator=generator).split(n // 3))


def test_the_last_step_by_a_plain_loop():
    embedding, y, split = noisy()
    result = published_probe(embedding, y, split, steps=100, every=None, seed=4)
    layer = nn.Linear(6, 3)
    nn.init.xavier_uniform_(layer.weight, generator=torch.Generator().manual_seed(4))
    nn.init.zeros_(layer.bias)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01, weight_decay=0)
    for _ in range(100):
        optimiser.zero_grad()
        nn.CrossEntropyLoss()(layer(embedding[split.train]), y[split.train]).backward()
        optimiser.step()
    predicted = layer(embedding).argmax(1)
    assert torch.equal(result.predictions, predicted[split.test])
    for score, nodes in zip((result.train, result.val, result.test), split.sets.values(), strict=True):
        assert score == pytest.approx(sum(int(predicted[i] == y[i]) for i in nodes.tolist()) / len(nodes))
    assert result.choice == {"step": 100}


@pytest.mark.parametrize("seed", range(4))
def test_the_first_best_validation_is_kept(seed):
    embedding, y, split = noisy(seed=seed)
    runs = {step: published_probe(embedding, y, split, steps=step, every=None, seed=0) for step in range(10, 101, 10)}
    best = max(run.val for run in runs.values())
    first = min(step for step, run in runs.items() if run.val == best)
    result = published_probe(embedding, y, split, steps=100, every=10, seed=0)
    assert result.step == first
    assert (result.val, result.test, result.train) == (best, runs[first].test, runs[first].train)


def test_rows_are_taken_as_they_are():
    embedding, y, split = noisy()
    long, short = (published_probe(scale * embedding, y, split, steps=30, every=None, seed=0) for scale in (10, 0.001))
    assert long.train > short.train


def test_test_labels_change_the_score_and_nothing_else():
    embedding, y, split = noisy()
    other = y.clone()
    other[split.test] = y[split.test].roll(1)
    before, after = (published_probe(embedding, labels, split, steps=60, every=20, seed=0) for labels in (y, other))
    assert (before.step, before.val, before.train) == (after.step, after.val, after.train)
    assert torch.equal(before.predictions, after.predictions)


def test_only_the_seed_is_random():
    embedding, y, split = noisy()
    state = torch.get_rng_state()
    first, again, other = (published_probe(embedding, y, split, steps=1, every=None, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first.predictions, again.predictions)
    assert not torch.equal(first.predictions, other.predictions)


def test_validation_nodes_are_only_needed_to_choose():
    embedding, y, split = noisy()
    bare = Split(split.train, torch.empty(0, dtype=torch.long), split.test)
    assert math.isnan(published_probe(embedding, y, bare, steps=5, every=None, seed=0).val)
    with pytest.raises(InputError, match="published_probe: the split has no val nodes"):
        published_probe(embedding, y, bare, steps=5, every=1, seed=0)


@pytest.mark.parametrize(("steps", "every"), [(0, None), (10, 0), (10, 11)])
def test_steps_are_checked(steps, every):
    with pytest.raises(InputError, match=f"published_probe: steps is {steps} and every is {every}, expected 1 <="):
        published_probe(*noisy(), steps=steps, every=every, seed=0)


def test_the_decay_is_the_first_best_on_validation():
    embedding, y, split = noisy(seed=2)
    decays = [2.0**power for power in range(-4, 7, 2)]
    runs = {decay: published_probe(embedding, y, split, steps=60, every=None, seed=0, normalise=True, decays=[decay])
            for decay in decays}
    best = max(run.val for run in runs.values())
    first = min(decay for decay, run in runs.items() if run.val == best)
    result = published_probe(embedding, y, split, steps=60, every=None, seed=0, normalise=True, decays=decays)
    assert result.choice == {"step": 60, "decay": first}
    assert (result.val, result.test) == (best, runs[first].test)
    assert runs[first].choice == {"step": 60}
    assert len({run.train for run in runs.values()}) > 1


def test_normalised_rows_forget_their_length():
    embedding, y, split = noisy()
    scale = torch.rand(len(y), 1, generator=torch.Generator().manual_seed(1)) + 0.1
    long, short = (published_probe(x, y, split, steps=40, every=None, seed=0, normalise=True)
                   for x in (embedding, embedding * scale))
    assert torch.equal(long.predictions, short.predictions)


def several(seed=0):
    embedding, _, split = noisy(seed=seed)
    noise = torch.randn(90, 4, generator=torch.Generator().manual_seed(seed))
    return embedding, (embedding[:, :4] + noise > 0).long(), split


def test_several_tasks_by_a_plain_loop():
    embedding, y, split = several()
    y[split.train[:4], 1] = -1
    result = published_probe(embedding, y, split, steps=50, every=None, seed=4)
    layer = nn.Linear(6, 4)
    nn.init.xavier_uniform_(layer.weight, generator=torch.Generator().manual_seed(4))
    nn.init.zeros_(layer.bias)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01)
    known = y[split.train] >= 0
    for _ in range(50):
        optimiser.zero_grad()
        loss = nn.BCEWithLogitsLoss(reduction="none")(layer(embedding[split.train]), y[split.train].float())
        (loss[known].sum() / known.numel()).backward()
        optimiser.step()
    logits = layer(embedding[split.test]).detach()
    assert torch.allclose(result.scores, logits, atol=1e-5)
    assert torch.equal(result.predictions, (logits > 0).long())
    assert result.metric == "roc-auc"
    assert result.test == pytest.approx(roc_auc(y[split.test].numpy(), logits.numpy()))


def test_test_labels_of_tasks_change_the_score_and_nothing_else():
    embedding, y, split = several()
    other = y.clone()
    other[split.test] = y[split.test].roll(1, dims=0)
    before, after = (published_probe(embedding, labels, split, steps=40, every=20, seed=0, decays=[0.0, 0.1])
                     for labels in (y, other))
    assert (before.choice, before.val, before.train) == (after.choice, after.val, after.train)
    assert torch.equal(before.scores, after.scores)


@pytest.mark.parametrize("decays", [[], [-0.1]])
def test_decays_are_checked(decays):
    with pytest.raises(InputError, match=r"published_probe: decays are .*, expected one or more numbers >= 0"):
        published_probe(*noisy(), steps=5, every=None, seed=0, decays=decays)
