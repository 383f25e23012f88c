"""The one optimisation loop: draws batches, takes steps, tells callbacks, keeps checkpoints.

Every batch draws from a generator that is a function of (seed, epoch, batch) alone. A run can so be repeated, taken up
again after any batch or prepared by several workers, with the same result.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from sgcl import chance, checkpoints, distributed, ram
from sgcl.chance import step_generator
from sgcl.checkpoints import Checkpoints
from sgcl.distributed import Group
from sgcl.errors import InputError, unknown_name
from sgcl.errors import TrainingError as TrainingError
from sgcl.graph import Graph
from sgcl.loader import Loader
from sgcl.methods.base import Method
from sgcl.samplers import FullGraph, Sampler
from sgcl.signals import Interrupted, Request, stop_request
from sgcl.turns import Steps, Turn, Turns, check_ranks

Optimizer = Literal["adam", "adamw"]
Schedule = Literal["constant", "cosine"]

_OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
_SHOWN = 5  # nodes of a batch named in a message


class NonFiniteError(TrainingError):
    """A loss or gradient is no finite number. The weights are still those before the step."""

    def __init__(self, message: str, epoch: int, batch: int, rows: Tensor, kind: str = "nodes") -> None:
        super().__init__(message)
        self.epoch, self.batch = epoch, batch   # counted from 1
        self.rows, self.kind = rows, kind       # (n,) numbers of its nodes, or of the graphs of a collection


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
          lr: float = 1e-3, weight_decay: float = 0.0, optimizer: Optimizer = "adam", schedule: Schedule = "constant",
          warmup: int = 0, accumulate: int = 1, sync_grams: bool = False, patience: int | None = None, seed: int = 0,
          device: str = "cpu", workers: int = 0, callbacks: Sequence[Callback] = (),
          checkpoint: Checkpoints | None = None) -> list[Epoch]:
    """Train ``method`` on ``graph`` and return what happened in each epoch.

    Where ``torch.distributed`` has several ranks, all of which call this, they share the batches of each step, and the
    result is that of one process.

    Args:
        sampler: how batches are drawn; the whole graph unless given.
        epochs: how many times the batches of an epoch are drawn; the sampler says how many they are.
        lr, weight_decay: of the optimiser.
        optimizer: ``"adam"``, or ``"adamw"`` whose weight decay does not pass through the adaptive scale.
        schedule: of the learning rate after the warm-up, ``"constant"`` or ``"cosine"``, half a wave down to 0.
        warmup: epochs in which the learning rate first rises linearly.
        accumulate: batches whose mean loss an optimiser step is taken on; 0 for all of an epoch. Ranks share them.
        sync_grams: the loss of a step is that of its batches side by side, as one, instead of their mean; SGCL alone.
        patience: stop after so many epochs without a lower loss; never unless given. Losses are compared within a
            stage of the method, and all stages must have begun.
        seed: of all chance in the training. The method's weights are drawn before, by whoever makes it.
        device: where the model trains; batches are drawn and augmented on the CPU.
        workers: threads that draw and augment the next batches meanwhile, with the same result; 0 has none.
        callbacks: called with each :class:`Epoch` as it ends.
        checkpoint: where rank 0 keeps checkpoints, if it does. Ctrl-C and SIGTERM then end the training with
            :class:`~sgcl.signals.Interrupted` after the step at hand and a checkpoint.
    """
    check_training(epochs=epochs, lr=lr, weight_decay=weight_decay, optimizer=optimizer, schedule=schedule,
                   warmup=warmup, accumulate=accumulate, patience=patience, seed=seed, workers=workers)
    check_sync(method, sync_grams)
    graph = graph.to("cpu").replace(n_id=None)  # a batch's n_id numbers the nodes of this graph
    if method.looks_at_all():
        graph = graph.whole(type(method).__name__)
    if isinstance(sampler, FullGraph) or method.looks_at_all():
        graph = graph.in_memory()
    sampler, group = sampler.on(graph), distributed.current()
    steps = Steps(sampler.batches, accumulate or sampler.batches)
    check_ranks(group.size, steps)
    for batch in group.own(range(sampler.batches)):
        graph.source(batch, sampler.batches)  # a part that is not here is told now
    checkpoint = checkpoint if group.rank == 0 else None
    with ExitStack() as stack:
        stack.enter_context(group.watched())
        stack.enter_context(chance.own_chance(device))
        if device == "cpu":
            stack.enter_context(ram.kept())
        request = Request() if checkpoint is None and group.alone else stack.enter_context(stop_request())
        chance.seed_model(device, step_generator(seed, 0, 0))
        method.start(graph)
        method.to(device)
        stepper = _OPTIMIZERS[optimizer](method.parameter_groups(lr, weight_decay), lr=lr, weight_decay=weight_decay,
                                         fused=device == "cpu" or None)
        full_lr = [part["lr"] for part in stepper.param_groups]
        method.zero_grad(set_to_none=True)
        at = _resumed(checkpoint, method, stepper, device, group)
        began = time.perf_counter() - at.seconds
        load = stack.enter_context(Loader(method, graph, sampler, seed=seed, epochs=epochs, workers=workers,
                                          group=group))
        take = Turns(method, load, device, group, request, together=sync_grams)
        falling = _Falling(method, epochs, at.history)
        while at.epoch <= epochs and (patience is None or at.epoch - falling.last <= patience):
            if at.batch == 0:
                generator = step_generator(seed, at.epoch, sampler.batches)  # the number after the last batch
                chance.seed_model(device, generator)
                method.eval()
                with torch.no_grad():
                    method.before_epoch(graph, at.epoch, epochs, generator)
            method.train()  # a callback may have looked at the embedding
            while at.batch < sampler.batches:
                step = steps.of(at.batch)
                turn = take(at.epoch, range(at.batch, step.stop), 1 / len(step))
                if turn.trouble is not None:
                    raise _not_finite(turn, at.epoch, load, graph, lr, checkpoint, group)
                at.batch, at.total = turn.batches.stop, sum(turn.losses, at.total)
                if at.batch == step.stop:
                    done = (at.epoch - 1) * len(steps) + step.start // steps.size
                    share_of_lr = lr_factor(done, schedule, warmup=warmup * len(steps), steps=epochs * len(steps))
                    for part, full in zip(stepper.param_groups, full_lr, strict=True):
                        part["lr"] = full * share_of_lr
                    stepper.step()
                    method.zero_grad(set_to_none=True)
                    method.after_step((done + 1) / (epochs * len(steps)))
                if at.batch < sampler.batches:
                    _keep(checkpoint, take.request, at, began, method, stepper, device)
            if strayed := group.strayed(method):
                raise TrainingError(f"after epoch {at.epoch} rank {strayed[0]} holds other weights than rank 0: run "
                                    "all ranks on machines of one kind with the same versions")
            losses = len(steps) if sync_grams else sampler.batches
            at.history.append(Epoch(at.epoch, epochs, at.total / losses, time.perf_counter() - began,
                                    peak_memory(device)))
            for callback in callbacks:
                callback(at.history[-1])
            falling.see(at.history[-1])
            at.epoch, at.batch, at.total = at.epoch + 1, 0, 0.0
            _keep(checkpoint, take.request, at, began, method, stepper, device)
    method.eval()
    return at.history


def check_training(*, epochs: int, lr: float, weight_decay: float, optimizer: str, schedule: str, warmup: int,
                   accumulate: int, patience: int | None, seed: int, workers: int) -> None:
    """Raise on training settings that make no sense."""
    if epochs < 0:
        raise InputError(f"epochs is {epochs}, expected 0 or more")
    if not 0 < lr < math.inf:
        raise InputError(f"lr is {lr}, expected a finite number above 0")
    if not 0 <= weight_decay < math.inf:
        raise InputError(f"weight_decay is {weight_decay}, expected a finite number of at least 0")
    for name, word, known in (("optimizer", optimizer, Optimizer), ("schedule", schedule, Schedule)):
        if word not in get_args(known):
            raise unknown_name(name, word, get_args(known))
    if warmup < 0:
        raise InputError(f"warmup is {warmup}, expected 0 or more epochs")
    if accumulate < 0 or isinstance(accumulate, bool):
        raise InputError(f"accumulate is {accumulate}, expected how many batches make an optimiser step, or 0 for all "
                         "of an epoch")
    if patience is not None and patience < 1:
        raise InputError(f"patience is {patience}, expected at least 1")
    if workers < 0:
        raise InputError(f"workers is {workers}, expected 0 or more")
    if not 0 <= seed < 2**32:
        raise InputError(f"seed is {seed}, expected a whole number from 0 to 2^32 - 1")


def check_sync(method: Method, sync_grams: bool) -> None:
    """Raise where a method has no Gram sums to bring together."""
    if sync_grams and not method.unites:
        raise InputError(f"{type(method).__name__} has no loss over the batches of a step as one: leave out sync_grams "
                         "(--sync-grams), which is for SGCL with the cosine")


def lr_factor(step: int, schedule: str, *, warmup: int, steps: int) -> float:
    """The share of the learning rate that step number ``step`` of ``steps`` is taken with; they count from 0.

    >>> [lr_factor(step, "cosine", warmup=2, steps=4) for step in range(4)]
    [0.5, 1.0, 1.0, 0.5]
    """
    if step < warmup:
        return (step + 1) / warmup
    return (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2 if schedule == "cosine" else 1.0


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


def named_rows(ids: Sequence[Any], kind: str = "nodes") -> str:
    """The first of the nodes or graphs of a batch, as messages name them."""
    return f"{kind} {', '.join(map(str, ids[:_SHOWN]))}" + (f", ... {len(ids)} in all" if len(ids) > _SHOWN else "")


@dataclass
class _Place:
    """Where a training stands between two batches."""

    epoch: int = 1                # of the next batch
    batch: int = 0                # the next, counted from 0
    total: float = 0.0            # of the losses of this epoch so far
    seconds: float = 0.0          # of training
    history: list[Epoch] = field(default_factory=list)


class _Falling:
    """When the loss of a stage last fell; not before all stages of the method have begun."""

    def __init__(self, method: Method, epochs: int, history: Sequence[Epoch]) -> None:
        self._stage, self._begins = method.stage, max(method.stages(epochs))
        self._lowest: dict[int, float] = {}
        self.last = self._begins
        for epoch in history:
            self.see(epoch)

    def see(self, epoch: Epoch) -> None:
        stage = self._stage(epoch.epoch, epoch.epochs)
        if epoch.loss < self._lowest.get(stage, math.inf):
            self._lowest[stage], self.last = epoch.loss, max(epoch.epoch, self._begins)


def _resumed(checkpoint: Checkpoints | None, method: Method, stepper: torch.optim.Optimizer, device: str, group: Group,
             ) -> _Place:
    """Where the last checkpoint stands, its contents put in place; the beginning where there is none. All ranks begin
    with what rank 0 has, which alone keeps the gradients that wait for their step."""
    state = None if checkpoint is None else checkpoint.restore(method, stepper)
    if not group.alone:
        state, tensors = group.from_first((state, checkpoints.tensors(method, stepper)))
        checkpoints.fill(method, stepper, tensors)
        if group.rank:
            method.zero_grad(set_to_none=True)
    if state is None:
        return _Place()
    chance.set_states(device, state["random"])
    place = state["place"]
    return _Place(place["epoch"], place["batch"], place["total"], place["seconds"],
                  [Epoch(**epoch) for epoch in place["history"]])


def _keep(checkpoint: Checkpoints | None, request: Request, at: _Place, began: float, method: Method,
          stepper: torch.optim.Optimizer, device: str) -> None:
    """Write a checkpoint if it is time to, or if the training shall stop, which it then does."""
    if checkpoint is not None and (checkpoint.due or request.number):
        at.seconds = time.perf_counter() - began
        checkpoint.save(at.epoch - 1, at.batch, method, stepper, {"place": asdict(at), "random": chance.states(device)})
    if request.number:
        raise Interrupted(f"interrupted after epoch {at.epoch - 1}" + (f", batch {at.batch} of the next" if at.batch
                                                                       else ""), request.number)


def _not_finite(turn: Turn, epoch: int, load: Loader, graph: Graph, lr: float, checkpoint: Checkpoints | None,
                group: Group) -> NonFiniteError:
    kind = "nodes" if graph.graph_ptr is None else "graphs"
    own = group.own(range(turn.batch, turn.batch + 1))  # others may not have what it is drawn from
    rows, named = group.gather(_rows(load.drawn(epoch, turn.batch), graph, kind) if own else (torch.empty(0), ""))[
        turn.batch % group.size]
    kept = "" if checkpoint is None else "; " + (
        f"the last good checkpoint is {checkpoint.last}" if checkpoint.last else "there is no checkpoint yet")
    return NonFiniteError(f"{turn.trouble} in epoch {epoch}, batch {turn.batch + 1} ({named}){turn.beside}: lower the "
                          f"learning rate (lr is {lr}) or look at the features{kept}", epoch, turn.batch + 1, rows,
                          kind)


def _rows(batch: Graph, graph: Graph, kind: str) -> tuple[Tensor, str]:
    """The nodes or graphs of a batch, by number and as a message names them."""
    if batch.n_id is None:
        return torch.arange(batch.num_nodes if graph.graph_ptr is None else batch.num_graphs), f"all {kind}"
    rows = batch.n_id if batch.graph_ptr is None else graph.graph_of[batch.n_id[batch.graph_ptr[:-1]]]
    return rows, named_rows(rows.tolist(), kind)
