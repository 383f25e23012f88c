"""The batches of an optimiser step: each rank takes its own, then all know what all of them found."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor, nn

from sgcl import chance
from sgcl.distributed import Group, SharedLoss
from sgcl.encoders.norm import BatchNorm
from sgcl.errors import InputError
from sgcl.loader import Loader, Step
from sgcl.methods.base import Method
from sgcl.signals import Request


@dataclass(frozen=True)
class Steps:
    """How the batches of an epoch make optimiser steps.

    >>> steps = Steps(batches=5, size=2)
    >>> len(steps), [steps.of(batch) for batch in (0, 3, 4)]
    (3, [range(0, 2), range(2, 4), range(4, 5)])
    """

    batches: int   # of an epoch
    size: int      # batches of a step; the last one may have fewer

    def __len__(self) -> int:
        return math.ceil(self.batches / self.size)

    def of(self, batch: int) -> range:
        """The batches of the step that a batch belongs to."""
        start = batch // self.size * self.size
        return range(start, min(start + self.size, self.batches))


def check_ranks(ranks: int, steps: Steps) -> None:
    """Raise where a rank would never have a batch."""
    if ranks > steps.batches:
        raise InputError(f"{ranks} ranks share the batches of an epoch, but there are {steps.batches}: take a sampler "
                         f"with more, such as --sampler walk --walk-batches {2 * ranks}, or fewer ranks")
    check_accumulate(ranks, steps.size)


def check_accumulate(ranks: int, accumulate: int) -> None:
    """Raise where a step has fewer batches than ranks; 0 stands for all batches of an epoch."""
    if 0 < accumulate < ranks:
        raise InputError(f"{ranks} ranks share the batches of an optimiser step, which has {accumulate}: give "
                         f"accumulate={ranks} (--accumulate {ranks}), or fewer ranks")


class Turn(NamedTuple):
    """What all ranks know after they took some batches."""

    batches: range             # those that were taken
    losses: list[float]        # in their order: one each, or one for all of them together
    trouble: str | None        # what is no finite number, so that no step may be taken
    batch: int                 # where that showed, counted from 0
    beside: str = ""           # who else it may be


class Turns:
    """Takes batches and adds up their gradients.

    A process that is alone takes one batch at a time, so that it may stop after each. Ranks take all that is left of a
    step. Their batch norms note what they see, and the averages follow it in the order of the batches: they end up as
    those of one process.

    Args:
        method, load, device: of the training.
        group: the ranks.
        request: whether this process was asked to stop.
        together: all batches of a step make one loss, the method's ``union_loss``.
    """

    def __init__(self, method: Method, load: Loader, device: str, group: Group, request: Request, *,
                 together: bool) -> None:
        self._method, self._load, self._device, self._group = method, load, device, group
        self._own_request, self.request = request, request if group.alone else Request()  # the latter is that of all
        self._together = together
        self._norms = [] if group.alone else _batch_norms(method)
        self._loss = SharedLoss(_Loss(method, group if together else None), group)

    def __call__(self, epoch: int, batches: range, share: float) -> Turn:
        """Take the next of these batches, or all of them, each with its ``share`` in the gradient."""
        if self._group.alone and not self._together:
            batches = batches[:1]
        own, seen = self._group.own(batches), dict[int, _Seen]()
        if self._together:
            steps = [self._load(epoch, number) for number in own]
            seen[batches[-1]] = self._taken(map(self._ready, steps), 1.0)
        else:
            for number in own:
                with self._loss.pending() if number != own[-1] else nullcontext():
                    seen[number] = self._taken(self._ready(self._load(epoch, number)), share)
            if not own:
                self._taken(None, share)
        return self._met(batches, seen)

    def _ready(self, step: Step) -> Any:
        """The views of a batch where the model is, and the model's chance set to that batch."""
        views = step.views
        if self._device != "cpu":
            views = type(views)(*(part.to(self._device) for part in views))
        chance.seed_model(self._device, step.generator)
        return views

    def _taken(self, given: Any, share: float) -> _Seen:
        for norm in self._norms:
            norm.noted = []
        loss = self._loss(given)
        value = float(loss.detach())
        if math.isfinite(value) or not self._group.alone:  # ranks wait for each other's gradients, good or bad
            (loss * share).backward()
        noted = [[one.cpu() for one in norm.noted or []] for norm in self._norms]
        for norm in self._norms:
            norm.noted = None
        return _Seen(value, noted)

    def _met(self, batches: range, seen: dict[int, _Seen]) -> Turn:
        """What all ranks saw."""
        everyone = self._group.gather((seen, self._own_request.number))
        if not self._group.alone:
            self.request.number = max((number for _, number in everyone if number is not None), default=None)
        losses: list[float] = []
        others = ", or another of its step" if len(batches) > 1 else ""
        for batch in batches:
            parts = [part[batch] for part, _ in everyone if batch in part]
            for part in parts:
                for norm, noted in zip(self._norms, part.noted, strict=True):
                    for one in noted:
                        norm.follow(one)
            if parts:
                losses.append(sum(part.loss for part in parts))
                if not math.isfinite(losses[-1]):
                    return Turn(batches, losses, f"the loss is {losses[-1]}", batch, others if self._together else "")
        for name, parameter in self._method.named_parameters():
            if not _is_finite(parameter.grad):
                return Turn(batches, losses, f"the gradient of {name} is not finite", batches[-1], others)
        return Turn(batches, losses, None, batches[-1])


class _Seen(NamedTuple):
    """What a rank found in a batch."""

    loss: float
    noted: list[list[Tensor]]   # of each batch norm, what each of its calls noted


class _Loss(nn.Module):
    """A method, called for its loss: of one batch or, with a group, of the union of those that its ranks have."""

    def __init__(self, method: Method, group: Group | None) -> None:
        super().__init__()
        self.method, self._group = method, group

    def forward(self, given: Any) -> Tensor:
        return self.method.loss(given) if self._group is None else self.method.union_loss(given, self._group.total)


def _batch_norms(method: Method) -> list[BatchNorm]:
    for name, module in method.named_modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and not isinstance(module, BatchNorm):
            raise InputError(f"{type(method).__name__}: {name} is a {type(module).__name__}, whose averages ranks "
                             "cannot share: use sgcl.encoders.BatchNorm, or train in one process")
    return [module for module in method.modules() if isinstance(module, BatchNorm)]


def _is_finite(gradient: Tensor | None) -> bool:
    """Whether every entry is; a finite sum, which is quick, says so, an infinite one may be too large alone."""
    return gradient is None or bool(gradient.sum().isfinite()) or bool(gradient.isfinite().all())
