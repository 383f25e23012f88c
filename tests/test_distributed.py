"""Ranks do the sums of one process: gradients, batch norms, Gram matrices. Each rank is a forked process."""

import os
import signal

import pytest
import torch
from forking import in_ranks
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Data

from sgcl import GRACE, SGCL, Graph, InputError, distributed, methods
from sgcl.checkpoints import Checkpoints
from sgcl.distributed import Group, LostRank
from sgcl.encoders import BatchNorm
from sgcl.errors import TrainingError
from sgcl.estimator import estimator_for
from sgcl.graph import join
from sgcl.losses import smoothed_contrastive_loss
from sgcl.methods import METHODS
from sgcl.samplers import RandomWalk
from sgcl.signals import Interrupted
from sgcl.smoothing import Taubin
from sgcl.trainer import NonFiniteError, step_generator, train
from sgcl.turns import Steps, check_ranks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
WALK = RandomWalk(batch_size=15, batches=5)


def made(name: str, **chosen) -> methods.Method:
    torch.manual_seed(0)
    return METHODS[name](6, hidden_channels=8, **chosen)


class Watched:
    """Trains and notes the gradients of each step."""

    def __init__(self, name: str, graph: Graph, **training) -> None:
        self.method, self.gradients = made(name), []
        step, noted = torch.optim.Adam.step, self.gradients

        def note(optimizer, *given):
            noted.append({name: parameter.grad.clone() for name, parameter in self.method.named_parameters()
                          if parameter.grad is not None})
            return step(optimizer, *given)

        torch.optim.Adam.step = note
        try:
            self.losses = [epoch.loss for epoch in train(self.method, graph, sampler=WALK, epochs=3, **training)]
        finally:
            torch.optim.Adam.step = step
        self.state = self.method.state_dict()

    def found(self) -> tuple:
        return self.losses, self.gradients, self.state


def assert_same(ranks: list, one: tuple, bound: float = 1e-6, state_bound: float = 1e-5) -> None:
    """All ranks have what one process has, up to the order of sums; among each other, bit for bit."""
    for losses, gradients, state in ranks:
        assert losses == pytest.approx(one[0], rel=1e-6)
        assert len(gradients) == len(one[1])
        for mine, expected in zip(gradients, one[1], strict=True):
            assert mine.keys() == expected.keys()
            for name in mine:
                assert float((mine[name] - expected[name]).abs().max()) <= bound * max(
                    1.0, float(expected[name].abs().max())), name
        assert all(torch.equal(value, ranks[0][2][name]) for name, value in state.items())
        assert all(torch.allclose(value, one[2][name], rtol=1e-4, atol=state_bound) for name, value in state.items())


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


@pytest.mark.parametrize("name", ["sgcl", "bgrl", "grace", "cca-ssg"])
def test_two_ranks_with_a_batch_each_are_one_process_with_two(name, graph, tmp_path):
    one = Watched(name, graph, accumulate=2).found()
    assert_same(in_ranks(2, tmp_path, lambda: Watched(name, graph, accumulate=2).found()), one)


@pytest.mark.parametrize(("ranks", "accumulate"), [(3, 4), (2, 0)])
def test_ranks_may_have_different_numbers_of_batches_or_none(graph, tmp_path, ranks, accumulate):
    def work(**more) -> tuple:
        return Watched("bgrl", graph, accumulate=accumulate, **more).found()

    # a bias before a batch norm has no gradient but noise, which Adam makes steps of
    assert_same(in_ranks(ranks, tmp_path, lambda: work(workers=1)), work(), state_bound=6e-3)


# the loss over the union of the batches of a step

def union_gradients(graph: Graph) -> dict[str, torch.Tensor]:
    """Of the first step of two batches, as one block-diagonal graph, written out."""
    method = made("sgcl")
    pairs = []
    for batch in range(2):
        generator = step_generator(0, 1, batch)
        pairs.append(method.augment(WALK(graph, generator), generator))
    first, second = join([pair.first for pair in pairs]), join([pair.second for pair in pairs])
    h1, h2 = method.encoders[0](first.x, first.adj), method.encoders[0](second.x, second.adj)
    smoothing = Taubin()
    smoothed_contrastive_loss(h1, h2, smoothing(second.adj), smoothing(first.adj),
                              negative_weight=1 / (2 * first.num_nodes)).backward()
    return {name: parameter.grad for name, parameter in method.named_parameters() if parameter.grad is not None}


def test_synchronised_grams_are_one_process_on_the_union(graph, tmp_path):
    one = Watched("sgcl", graph, accumulate=2, sync_grams=True).found()
    assert_same(in_ranks(2, tmp_path, lambda: Watched("sgcl", graph, accumulate=2, sync_grams=True).found()), one)
    expected = union_gradients(graph)
    assert one[1][0].keys() == expected.keys()
    for name, gradient in expected.items():
        assert float((one[1][0][name] - gradient).abs().max()) <= 1e-6 * max(1.0, float(gradient.abs().max()))
    apart = Watched("sgcl", graph, accumulate=2).found()
    assert abs(apart[0][0] - one[0][0]) > 1e-3  # it is another loss


def test_grams_need_a_method_that_has_them():
    with pytest.raises(InputError, match="GRACE has no loss over the batches of a step as one: leave out sync_grams"):
        GRACE(sync_grams=True)
    with pytest.raises(InputError, match=r"SGCL has no loss .* which is for SGCL with the cosine"):
        SGCL(sync_grams=True, similarity="correlation")


# parts

@given(st.integers(1, 6), st.integers(0, 20), st.integers(0, 20))
def test_each_batch_belongs_to_one_rank_whatever_the_step(size, start, length):
    batches = range(start, start + length)
    own = [list(Group(rank, size).own(batches)) for rank in range(size)]
    assert sorted(number for numbers in own for number in numbers) == list(batches)
    assert all(number % size == rank for rank, numbers in enumerate(own) for number in numbers)


@pytest.mark.parametrize(("batches", "size", "why"), [
    (2, 2, "3 ranks share the batches of an epoch, but there are 2: take a sampler"),
    (6, 2, "3 ranks share the batches of an optimiser step, which has 2: give accumulate=3")])
def test_a_rank_without_batches_is_refused(batches, size, why):
    with pytest.raises(InputError, match=why):
        check_ranks(3, Steps(batches, size))


def test_averages_follow_what_calls_noted_as_they_follow_the_calls():
    direct, noting = BatchNorm(3), BatchNorm(3)
    noting.noted = []
    for number in range(4):
        h = torch.randn(9, 3, generator=torch.Generator().manual_seed(number)) * number + 1
        assert torch.equal(direct(h), noting(h))
    assert noting.num_batches_tracked == 0
    for seen in noting.noted:
        noting.follow(seen)
    for name, value in direct.state_dict().items():
        assert torch.allclose(noting.state_dict()[name], value), name


class Plain(methods.SGCL):
    def __init__(self, *given, **chosen) -> None:
        super().__init__(*given, **chosen)
        self.norm = nn.BatchNorm1d(8)


def test_a_batch_norm_that_ranks_cannot_share_is_refused(graph, tmp_path):
    found = in_ranks(2, tmp_path, lambda: train(Plain(6, hidden_channels=8), graph, sampler=WALK, accumulate=2))
    for error in found:
        assert isinstance(error, InputError)
        assert "Plain: norm is a BatchNorm1d, whose averages ranks cannot share" in str(error)


# what goes wrong

class Straying(methods.SGCL):
    def after_step(self, progress: float) -> None:
        if distributed.current().rank == 1 and progress > 0.5:
            with torch.no_grad():
                next(self.parameters()).add_(1e-3)


def test_a_rank_that_strays_is_named(graph, tmp_path):
    found = in_ranks(2, tmp_path, lambda: train(Straying(6, hidden_channels=8), graph, sampler=WALK, accumulate=2,
                                                epochs=2))
    for error in found:
        assert isinstance(error, TrainingError)
        assert "after epoch 2 rank 1 holds other weights than rank 0" in str(error)


def test_ranks_with_different_data_or_settings_are_refused(ring, tmp_path):
    def work() -> None:
        SGCL(hidden_channels=8, lr=0.1 + distributed.current().rank, accumulate=2, sampler=WALK).fit(ring)

    for error in in_ranks(2, tmp_path, work):
        assert isinstance(error, InputError)
        assert "rank 1 trains with another lr than rank 0: start all ranks with the same command" in str(error)


class Spoilt(methods.SGCL):
    """Its loss in batch 4 of the epoch is no number."""

    def augment(self, graph, generator):
        self.seen = getattr(self, "seen", 0) + 1
        return super().augment(graph, generator)

    def loss(self, views):
        spoils = distributed.current().rank == 1 and self.seen == 2
        return super().loss(views) * (float("nan") if spoils else 1.0)


def test_all_ranks_name_the_batch_whose_loss_is_no_number(graph, tmp_path):
    def work() -> tuple:
        try:
            train(Spoilt(6, hidden_channels=8), graph, sampler=WALK, accumulate=2)
        except NonFiniteError as error:
            return error.epoch, error.batch, error.rows, str(error)

    expected = WALK.nodes(graph, step_generator(0, 1, 3))
    for epoch, batch, rows, text in in_ranks(2, tmp_path, work):
        assert (epoch, batch) == (1, 4)
        assert torch.equal(rows, expected)
        assert text.startswith("the loss is nan in epoch 1, batch 4 (nodes ")


class Stopped(methods.SGCL):
    """Rank 1 is asked to stop in the second step."""

    def after_step(self, progress: float) -> None:
        self.steps = getattr(self, "steps", 0) + 1
        if distributed.current().rank == 1 and self.steps == 1:
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_request_to_one_rank_stops_all_after_the_same_step(graph, tmp_path):
    def work() -> str:
        try:
            train(Stopped(6, hidden_channels=8), graph, sampler=WALK, accumulate=2, epochs=50)
        except Interrupted as stop:
            return str(stop)

    assert in_ranks(2, tmp_path, work) == ["interrupted after epoch 0, batch 4 of the next"] * 2


def test_a_rank_that_is_gone_is_named(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(distributed, "_ROLL_CALL", 0.5)

    def die(epoch) -> None:
        if distributed.current().rank == 1:
            os._exit(1)

    found = in_ranks(2, tmp_path, lambda: train(made("sgcl"), graph, sampler=WALK, accumulate=2, callbacks=[die]))
    assert found[1] is None
    assert isinstance(found[0], LostRank)
    assert str(found[0]).startswith("rank 1 is lost: ")


def test_an_error_of_ones_own_is_not_blamed_on_another_rank():
    with pytest.raises(RuntimeError, match="shapes do not fit"), Group(0, 2).watched():
        raise RuntimeError("shapes do not fit")


# going on

def test_a_training_goes_on_with_another_number_of_ranks_from_amid_a_step(ring, tmp_path):
    def fitted(**more):
        return estimator_for("bgrl")(hidden_channels=8, epochs=3, sampler=WALK, accumulate=3).fit(ring, **more)

    class Died(Exception):
        pass

    save, count = Checkpoints.save, [0]

    def last_save(self, *given):
        save(self, *given)
        count[0] += 1
        if count[0] == 7:  # two batches of the second epoch, gradients of both waiting
            raise Died

    Checkpoints.save = last_save
    try:
        with pytest.raises(Died):
            fitted(checkpoint=Checkpoints(tmp_path / "run", every=0))
    finally:
        Checkpoints.save = save
    whole = fitted()

    def work() -> tuple:
        done = fitted(checkpoint=tmp_path / "run", resume=True)
        return [epoch.loss for epoch in done.history], [], done.method.state_dict()

    expected = [epoch.loss for epoch in whole.history], [], whole.method.state_dict()
    assert_same(in_ranks(2, tmp_path, work), expected, state_bound=6e-3)
