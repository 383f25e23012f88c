"""The processes that share one training: who they are, what they tell each other, and which of them is lost.

``torchrun`` or ``sgcl train --ranks N`` start them. Each draws its own batches of a step, gradients are summed, and all
then take the same step: the result is that of one process that takes all batches of the step itself.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from sgcl.errors import InputError, TrainingError

T = TypeVar("T")

TIMEOUT = 600.0   # seconds that a rank is waited for, unless given
_ROLL_CALL = 5.0  # seconds that ranks have to answer once one of them noticed a loss
_OF_A_LINK = re.compile(r"gloo|nccl|TCPStore|connection (closed|reset|refused)|timed out|broken pipe", re.IGNORECASE)
_BUFFERS = next(name for name in ("forward_sync_buffers", "broadcast_buffers")  # the newer name first
                if name in inspect.signature(DistributedDataParallel.__init__).parameters)


class LostRank(TrainingError):
    """Another rank ended, or did not answer in time; the message names it."""


class Group:
    """The ranks of a training, counted from 0; a single one where there are no others.

    Only rank 0 writes. All of them call each of these methods, in the same order.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def alone(self) -> bool:
        return self.size == 1

    def own(self, batches: range) -> range:
        """Those of some consecutive batches that this rank takes: every ``size``-th batch of an epoch is its own."""
        first = batches.start + (self.rank - batches.start) % self.size
        return range(min(first, batches.stop), batches.stop, self.size)

    def gather(self, value: T) -> list[T]:
        """What each rank gave, by rank."""
        if self.alone:
            return [value]
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value)
        return found

    def from_first(self, value: T) -> T:
        """What rank 0 gave."""
        if self.alone:
            return value
        held = [value if self.rank == 0 else None]
        dist.broadcast_object_list(held, src=0)
        return held[0]  # type: ignore[return-value]

    def total(self, values: Tensor) -> Tensor:
        """The sum over the ranks of tensors of one shape; it has no gradient."""
        if not self.alone:
            values = values.clone()
            dist.all_reduce(values)
        return values

    def check_agreed(self, told: Mapping[str, Any]) -> None:
        """Raise unless all ranks give the same."""
        everyone = self.gather(dict(told))
        for rank, other in enumerate(everyone):
            for name in told:
                if other.get(name) != everyone[0].get(name):
                    raise InputError(f"rank {rank} trains with another {name} than rank 0: start all ranks with the "
                                     "same command, data and version")

    def strayed(self, module: nn.Module) -> list[int]:
        """The ranks whose weights and saved buffers are not, bit for bit, those of rank 0."""
        digest = hashlib.sha256()
        for tensor in [] if self.alone else module.state_dict().values():
            digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())  # type: ignore[arg-type]
        found = self.gather(digest.hexdigest())
        return [rank for rank, other in enumerate(found) if other != found[0]]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Raise :class:`LostRank` for whatever a lost rank makes the others raise."""
        try:
            yield
        except RuntimeError as error:
            if self.alone or isinstance(error, TrainingError) or not _OF_A_LINK.search(str(error)):
                raise
            why = str(error).splitlines()[0]
            raise LostRank(f"{_named(self._absent())}: {why}") from None

    def _absent(self) -> list[int]:
        """The ranks that do not answer a roll call; none is known where the roll itself cannot be read."""
        try:
            store = dist.distributed_c10d._get_default_store()
            store.set(f"sgcl/here/{self.rank}", "1")
            deadline = time.monotonic() + _ROLL_CALL
            while True:
                absent = [rank for rank in range(self.size) if not store.check([f"sgcl/here/{rank}"])]
                if not absent or time.monotonic() > deadline:
                    return absent
                time.sleep(0.05)
        except RuntimeError:
            return [0] if self.rank else []  # rank 0 or whoever started it keeps the roll


def current() -> Group:
    """The ranks that this process is one of."""
    if dist.is_available() and dist.is_initialized():
        return Group(dist.get_rank(), dist.get_world_size())
    return Group()


def is_started() -> bool:
    """Whether ``torchrun`` or the like started this process as one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ


def processes_here() -> int:
    """How many ranks share this machine, as far as is known."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if is_started() else 1


@contextmanager
def joined(*, timeout: float = TIMEOUT) -> Iterator[Group]:
    """Inside, the processes that ``torchrun`` or the like started know each other; one that is alone stays so.

    Args:
        timeout: seconds after which a rank that does not answer counts as lost; longer than any step, checkpoint or
            evaluation of rank 0 takes.
    """
    if not timeout > 0:
        raise InputError(f"the timeout of a rank is {timeout} seconds, expected more than 0")
    if not is_started() or dist.is_initialized():
        yield current()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    try:
        dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo",
                                timeout=timedelta(seconds=timeout))
    except (RuntimeError, ValueError) as error:
        raise LostRank(f"rank {os.environ['RANK']} cannot reach the others: {str(error).splitlines()[0]}") from None
    try:
        yield current()
    finally:
        dist.destroy_process_group()


class SharedLoss:
    """The loss of a module whose gradients are summed over the ranks.

    Args:
        loss: a module whose ``forward`` gives the loss of a batch; its parameters are those of all ranks.
        group: the ranks.
    """

    def __init__(self, loss: nn.Module, group: Group) -> None:
        self._loss, self._group = loss, group
        self._summed: DistributedDataParallel | None = None
        if not group.alone:
            more: dict[str, Any] = {_BUFFERS: False}
            self._summed = DistributedDataParallel(_Touched(loss), find_unused_parameters=True, **more)
            self._summed.register_comm_hook(None, lambda state, bucket: _sum(bucket))

    def __call__(self, given: Any) -> Tensor:
        """The loss of a batch, (); of ``None``, where a rank has no batch, 0."""
        loss: Tensor = (self._loss if self._summed is None else self._summed)(given)
        return loss

    def pending(self) -> AbstractContextManager[Any]:
        """For the forward and the backward of batches after which a step has more: gradients are summed over the ranks
        at the last one, which each rank has."""
        return nullcontext() if self._summed is None else self._summed.no_sync()


class _Touched(nn.Module):
    """A loss with a parameter of its own in it: a rank without a batch has something to take the gradient of. Another
    is never in it: PyTorch complains where it looks for such parameters and finds none."""

    def __init__(self, loss: nn.Module) -> None:
        super().__init__()
        zero = torch.zeros((), device=next(loss.parameters()).device)
        self.loss, self.touched, self.untouched = loss, nn.Parameter(zero), nn.Parameter(zero.clone())

    def forward(self, given: Any) -> Tensor:
        return 0 * self.touched if given is None else self.loss(given) + 0 * self.touched


def _sum(bucket: Any) -> torch.futures.Future[Tensor]:
    """Sums of gradients, where the usual hook takes means: a rank may have any number of batches of a step."""
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0])  # type: ignore[no-any-return, union-attr]


def _named(ranks: Sequence[int]) -> str:
    if not ranks:
        return "a rank broke off"
    return f"rank {ranks[0]} is lost" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))} are lost"
