import threading

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import SGCL, Graph, InputError
from sgcl.loader import Loader
from sgcl.methods import SGCL as SGCLMethod
from sgcl.samplers import EgoGraph, FullGraph, RandomEdge, RandomNode, RandomWalk

SAMPLERS = [FullGraph(), FullGraph(batches=3), RandomWalk(batch_size=20, batches=3), EgoGraph(batch_size=20, batches=1),
            RandomEdge(batch_size=20, batches=2), RandomNode(batch_size=20, batches=2)]


class Counting(SGCLMethod):
    """Notes on which thread its views are made, and how many there are."""

    def __init__(self, **chosen) -> None:
        super().__init__(6, hidden_channels=4, **chosen)
        self.made: list[str] = []

    def augment(self, graph: Graph, generator: torch.Generator):
        self.made.append(threading.current_thread().name)
        return super().augment(graph, generator)


class Deciding(Counting):
    """Its views depend on what was decided before the epoch."""

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        self.decided = epoch


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def places(sampler, epochs: int) -> list[tuple[int, int]]:
    return [(epoch, batch) for epoch in range(1, epochs + 1) for batch in range(sampler.batches)]


def numbers(step) -> list[Tensor]:
    views = step.views
    return [step.batch.x, views.first.x, views.first.adj.idx, views.second.adj.idx, views.positives12.values(),
            views.positives21.values(), step.generator.get_state()]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_steps_are_the_same_with_any_number_of_workers(graph, sampler, workers):
    alone = Loader(Counting(), graph, sampler, seed=3, epochs=3, workers=0)
    with Loader(Counting(), graph, sampler, seed=3, epochs=3, workers=workers) as loader:
        for place in places(sampler, 3):
            for one, other in zip(numbers(alone(*place)), numbers(loader(*place)), strict=True):
                assert torch.equal(one, other)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_weights_are_the_same_with_any_number_of_workers(ring, sampler):
    def weights(workers: int) -> list[Tensor]:
        made = SGCL(hidden_channels=8, dropout=0.2, epochs=3, sampler=sampler, workers=workers).fit(ring)
        return list(made.method.state_dict().values())

    expected = weights(0)
    for workers in (1, 3):
        assert all(map(torch.equal, expected, weights(workers)))


def test_workers_are_so_many_steps_ahead_and_end_with_the_training(graph):
    method, sampler = Counting(), RandomNode(batch_size=10, batches=2)
    with Loader(method, graph, sampler, seed=0, epochs=4, workers=3) as loader:
        loader(1, 0)
        loader(1, 1)
    assert 2 <= len(method.made) <= 5                                      # two were asked for, three may be ahead
    assert all(name.startswith("sgcl-loader") for name in method.made)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sgcl-loader")]
    method = Counting()
    with Loader(method, graph, sampler, seed=0, epochs=2, workers=3) as loader:
        for place in places(sampler, 2):
            loader(*place)
    assert len(method.made) == 4                                           # none beyond the last epoch


def test_a_method_that_decides_before_each_epoch_is_not_overtaken(graph):
    method, sampler = Deciding(), RandomNode(batch_size=10, batches=2)
    with Loader(method, graph, sampler, seed=0, epochs=3, workers=4) as loader:
        for epoch, batch in places(sampler, 3):
            loader(epoch, batch)
            assert len(method.made) <= 2 * epoch


def test_a_training_goes_on_in_the_middle_of_an_epoch(graph):
    sampler = RandomNode(batch_size=10, batches=3)
    alone = Loader(Counting(), graph, sampler, seed=0, epochs=2, workers=0)
    with Loader(Counting(), graph, sampler, seed=0, epochs=2, workers=2) as loader:
        for place in places(sampler, 2)[2:]:
            assert torch.equal(alone(*place).batch.n_id, loader(*place).batch.n_id)


def test_what_goes_wrong_in_a_worker_is_raised_in_the_training(ring):
    class Broken(Counting):
        def augment(self, graph: Graph, generator: torch.Generator):
            raise InputError("no view can be made")

    with Loader(Broken(), Graph.from_data(ring), FullGraph(), seed=0, epochs=2, workers=1) as loader, \
            pytest.raises(InputError, match="no view can be made"):
        loader(1, 0)
    with pytest.raises(InputError, match="workers is -1, expected 0 or more"):
        SGCL(workers=-1)
