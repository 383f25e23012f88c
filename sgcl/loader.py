"""Batches and their views, made by threads while the model trains, or when they are asked for."""

from __future__ import annotations

import contextvars
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import torch

from sgcl.chance import step_generator
from sgcl.distributed import Group
from sgcl.graph import Graph
from sgcl.methods.base import Method
from sgcl.samplers import Sampler


class Step(NamedTuple):
    """What a step of training begins with."""

    batch: Graph
    views: Any                   # what the method's ``augment`` made
    generator: torch.Generator   # for whatever chance is left


class Loader:
    """The steps of a training, one after the other: the same whatever the number of workers, as each draws from a
    generator of its own.

    Args:
        method, graph, sampler, seed, epochs: those of the training.
        workers: threads, and how many steps they are ahead; 0 makes a step when it is asked for. What they hold is as
            much more memory. A method that decides something before each epoch is not overtaken.
        group: whose own batches are made; all of them unless given.
    """

    def __init__(self, method: Method, graph: Graph, sampler: Sampler, *, seed: int, epochs: int, workers: int,
                 group: Group = Group()) -> None:  # noqa: B008 (of one)
        self._method, self._graph, self._sampler, self._seed = method, graph, sampler, seed
        self._epochs, self._workers, self._group = epochs, workers, group
        self._stays = type(method).before_epoch is not Method.before_epoch
        self._ahead: deque[tuple[tuple[int, int], Future[Step]]] = deque()
        self._pool = ThreadPoolExecutor(workers, "sgcl-loader") if workers else None

    def __call__(self, epoch: int, batch: int) -> Step:
        """The step of one batch; epochs count from 1, batches from 0."""
        if self._pool is None:
            return self._made(epoch, batch)
        place: tuple[int, int] | None = self._ahead[-1][0] if self._ahead else None
        for _ in range(self._workers + 1 - len(self._ahead)):
            place = (epoch, batch) if place is None else self._after(*place)
            if place is None:
                break
            made = partial(contextvars.copy_context().run, self._made, *place)
            self._ahead.append((place, self._pool.submit(made)))
        asked, step = self._ahead.popleft()
        assert asked == (epoch, batch), "steps are asked for in their order"
        return step.result()

    def _after(self, epoch: int, batch: int) -> tuple[int, int] | None:
        """The step after another, ``None`` where it cannot be made yet."""
        for following in self._group.own(range(batch + 1, self._sampler.batches)):
            return epoch, following
        return None if self._stays or epoch == self._epochs else (
            epoch + 1, self._group.own(range(self._sampler.batches))[0])

    def drawn(self, epoch: int, batch: int, generator: torch.Generator | None = None) -> Graph:
        """The sub-graph of any batch."""
        generator = step_generator(self._seed, epoch, batch) if generator is None else generator
        shuffle = step_generator(self._seed, epoch, self._sampler.batches + 1)  # the last batch's number + 1 is taken
        return self._sampler.part(self._graph.source(batch, self._sampler.batches), batch, shuffle, generator)

    def _made(self, epoch: int, batch: int) -> Step:
        generator = step_generator(self._seed, epoch, batch)
        drawn = self.drawn(epoch, batch, generator)
        return Step(drawn, self._method.augment(drawn, generator), generator)

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
