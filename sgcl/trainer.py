"""The one optimisation loop: draws batches, takes steps, tells callbacks.

Every batch draws from a generator that is a function of (seed, epoch, batch) alone. A run can so be repeated, taken up
again at any epoch or prepared by several workers, with the same result.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.methods.base import Method
from sgcl.samplers import FullGraph, Sampler


class TrainingError(RuntimeError):
    """Training cannot go on; the message says where it stopped and what to try."""


@dataclass(frozen=True)
class Epoch:
    """What callbacks and the history are told at the end of an epoch."""

    epoch: int           # counted from 1
    epochs: int
    loss: float          # mean over the batches
    seconds: float       # since the training began
    peak_memory: int     # bytes

    def record(self) -> dict[str, Any]:
        """The line of ``metrics.jsonl``."""
        return {"epoch": self.epoch, "loss": self.loss, "seconds": round(self.seconds, 4),
                "peak_memory": self.peak_memory}


Callback = Callable[[Epoch], None]


def train(method: Method, graph: Graph, *, sampler: Sampler = FullGraph(), epochs: int = 200,  # noqa: B008 (frozen)
          lr: float = 1e-3, weight_decay: float = 0.0, accumulate: bool = False, patience: int | None = None,
          seed: int = 0, device: str = "cpu", callbacks: Sequence[Callback] = ()) -> list[Epoch]:
    """Train ``method`` on ``graph`` with Adam and return what happened in each epoch.

    Args:
        sampler: how batches are drawn; the whole graph unless given.
        epochs: how many times the batches of an epoch are drawn; the sampler says how many they are.
        lr, weight_decay: of Adam.
        accumulate: one optimiser step an epoch, on the mean loss of its batches, else a step a batch.
        patience: stop after so many epochs without a lower loss; never unless given.
        seed: of all chance in the training. The method's weights are drawn before, by whoever makes it.
        device: where the model trains; batches are drawn and augmented on the CPU.
        callbacks: called with each :class:`Epoch` as it ends.
    """
    check_training(epochs=epochs, lr=lr, weight_decay=weight_decay, patience=patience, seed=seed)
    graph = graph.to("cpu")
    method.to(device)
    optimizer = torch.optim.Adam(method.parameters(), lr=lr, weight_decay=weight_decay)
    optimizer.zero_grad(set_to_none=True)
    share = 1 / sampler.batches if accumulate else 1.0  # of a batch in its step
    steps_an_epoch = 1 if accumulate else sampler.batches
    history: list[Epoch] = []
    best, best_epoch = math.inf, 0
    start = time.perf_counter()
    with _own_chance(device):
        for epoch in range(1, epochs + 1):
            method.train()  # a callback may have looked at the embedding
            total = 0.0
            for number in range(sampler.batches):
                generator = step_generator(seed, epoch, number)
                views = method.augment(sampler(graph, generator), generator)
                views = views if device == "cpu" else type(views)(*(part.to(device) for part in views))
                _seed_model(device, generator)
                loss = method.loss(views)
                value = float(loss.detach())
                if not math.isfinite(value):
                    raise TrainingError(f"the loss is {value} in epoch {epoch}, batch {number + 1}: "
                                        f"lower the learning rate (lr is {lr}) or look at the features")
                (loss * share).backward()
                total += value
                if not accumulate or number == sampler.batches - 1:
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
                    done = (epoch - 1) * steps_an_epoch + (0 if accumulate else number) + 1
                    method.after_step(done / (epochs * steps_an_epoch))
            history.append(Epoch(epoch, epochs, total / sampler.batches, time.perf_counter() - start,
                                 peak_memory(device)))
            for callback in callbacks:
                callback(history[-1])
            if history[-1].loss < best:
                best, best_epoch = history[-1].loss, epoch
            elif patience is not None and epoch - best_epoch >= patience:
                break
    method.eval()
    return history


def check_training(*, epochs: int, lr: float, weight_decay: float, patience: int | None, seed: int) -> None:
    """Raise on training settings that make no sense."""
    if epochs < 0:
        raise InputError(f"epochs is {epochs}, expected 0 or more")
    if not 0 < lr < math.inf:
        raise InputError(f"lr is {lr}, expected a finite number above 0")
    if not 0 <= weight_decay < math.inf:
        raise InputError(f"weight_decay is {weight_decay}, expected a finite number of at least 0")
    if patience is not None and patience < 1:
        raise InputError(f"patience is {patience}, expected at least 1")
    if not 0 <= seed < 2**32:
        raise InputError(f"seed is {seed}, expected a whole number from 0 to 2^32 - 1")


def step_generator(seed: int, epoch: int, batch: int) -> torch.Generator:
    """All chance of one batch; epochs count from 1, batches from 0."""
    state = np.random.SeedSequence([seed, epoch, batch]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))


def peak_memory(device: str = "cpu") -> int:
    """The most bytes that the device held so far (of the process, on a CPU)."""
    if device.startswith("cuda"):
        return torch.cuda.max_memory_allocated(device)
    try:
        import resource
    except ImportError:  # Windows does not say
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@contextmanager
def _own_chance(device: str) -> Iterator[None]:
    """Whatever is drawn inside, the caller's random numbers afterwards are those it would have had."""
    kind = torch.device(device).type
    if kind == "cpu":
        with torch.random.fork_rng(devices=[]):
            yield
    else:
        with torch.random.fork_rng(devices=range(getattr(torch, kind).device_count()), device_type=kind):
            yield


def _seed_model(device: str, generator: torch.Generator) -> None:
    """Draw the seed of dropout and other chance inside the model, which then shares no numbers with the views."""
    seed = int(torch.randint(2**62, (), generator=generator))
    if device == "cpu":
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would reach for other devices too
    else:
        torch.manual_seed(seed)
