"""Checkpoints: all that a training needs to go on exactly, in a file that is whole and unchanged or is refused.

A checkpoint is one safetensors file: every parameter and buffer of the method, the optimiser's tensors, gradients that
wait for their step and, as JSON in the tensor ``state``, where the training stands. Its header carries the SHA-256 of
the file. Nothing in it is run.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from sgcl import files
from sgcl.errors import InputError

FORMAT = 1  # a reader refuses what is newer than itself

_BLANK = b"0" * 64  # stands for the checksum while it is computed
_NAME = re.compile(r"epoch-(\d+)-batch-(\d+)\.safetensors")


class Checkpoint(NamedTuple):
    """What one file holds."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


class Checkpoints:
    """The checkpoints of one training: the last two, in a folder.

    Args:
        folder: where they lie; made when the first is written.
        every: seconds between two.
        resume: go on from the last one, if there is one; else the folder must hold none.
    """

    def __init__(self, folder: str | Path, *, every: float = 60.0, resume: bool = False) -> None:
        if not every >= 0:
            raise InputError(f"checkpoints every {every} seconds: expected 0 or more")
        self.folder, self.every, self.resume = Path(folder), every, resume
        self.identity: Mapping[str, Any] = {}  # of the training: a checkpoint of another is refused
        self.last: Path | None = None          # the last that is known to be whole
        self._loaded: Checkpoint | None = None
        self._written = time.monotonic()

    def load(self) -> Checkpoint | None:
        """The last checkpoint that can be read; ``None`` where none was written."""
        if self._loaded is None:
            found = self._files()
            for file in reversed(found):
                try:
                    self._loaded, self.last = read(file), file
                    break
                except _Damaged as why:
                    warnings.warn(f"{file} is damaged ({why}): the one before is used", stacklevel=2)
            else:
                if found:
                    raise InputError(f"no checkpoint in {self.folder} can be read: remove them to begin at epoch 1")
        return self._loaded

    def restore(self, method: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any] | None:
        """Put the last checkpoint into a method and its optimiser; gives its state, ``None`` where there is none."""
        self._written = time.monotonic()
        if not self.resume:
            if self._files():
                raise InputError(f"{self.folder} holds checkpoints already: resume, or give another folder")
            return None
        found, self._loaded = self.load(), None
        if found is None:
            return None
        _check_identity(self.folder, found.state["identity"], self.identity)
        try:
            fill(method, optimizer, found.tensors)
        except (KeyError, ValueError, RuntimeError, AttributeError) as error:
            why = str(error).splitlines()[0]
            raise InputError(f"{self.last} does not fit the method, of another version perhaps: {why}") from None
        return found.state

    @property
    def due(self) -> bool:
        return time.monotonic() - self._written >= self.every

    def save(self, epoch: int, batch: int, method: nn.Module, optimizer: torch.optim.Optimizer,
             state: Mapping[str, Any]) -> None:
        """Write what is after ``epoch`` epochs and ``batch`` batches of the next, then drop all but the last two."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"epoch-{epoch:06d}-batch-{batch:06d}.safetensors"
        with files.whole(file) as part:
            part.write_bytes(_sealed(tensors(method, optimizer), {
                "format": FORMAT, "identity": self.identity, **state}))
        kept, self.last, self._written = {file, self.last}, file, time.monotonic()
        for other in [*self._files(), *self.folder.glob(".*.part.safetensors")]:  # and what a killed process left
            if other not in kept:
                other.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        """Oldest first."""
        named = [(match, file) for file in self.folder.glob("*") if (match := _NAME.fullmatch(file.name))]
        return [file for _, file in sorted(named, key=lambda pair: tuple(map(int, pair[0].groups())))]


class _Damaged(ValueError):
    """Not what was written."""


def read(file: Path) -> Checkpoint:
    """The contents of a checkpoint, verified."""
    try:
        raw = file.read_bytes()
        length = int.from_bytes(raw[:8], "little")
        digest = json.loads(raw[8:8 + length])["__metadata__"]["sha256"].encode()
        if digest != hashlib.sha256(raw.replace(digest, _BLANK, 1)).hexdigest().encode():
            raise _Damaged("its checksum is another")
        tensors = safetensors.torch.load(raw)
        state = json.loads(bytes(tensors.pop("state").numpy()))
        version = state["format"]
    except _Damaged:
        raise
    except OSError as error:
        raise _Damaged(error.strerror) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, safetensors.SafetensorError):
        raise _Damaged("it is no whole checkpoint") from None
    if version > FORMAT:
        raise InputError(f"{file} was written by a newer sgcl (format {version}, this one reads up to {FORMAT}): "
                         "upgrade sgcl")
    return Checkpoint(tensors, state)


def _sealed(tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> bytes:
    """The bytes of a checkpoint, with the SHA-256 of all of them in their midst."""
    text = torch.frombuffer(bytearray(json.dumps(state).encode()), dtype=torch.uint8)
    raw = bytearray(safetensors.torch.save({**tensors, "state": text}, metadata={"sha256": _BLANK.decode()}))
    place = raw.index(_BLANK)
    raw[place:place + len(_BLANK)] = hashlib.sha256(raw).hexdigest().encode()
    return bytes(raw)


def tensors(method: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Copies of all tensors by name; buffers include those that are not saved with the weights."""
    found: dict[str, Tensor] = {f"parameter.{name}": value for name, value in method.named_parameters()}
    found |= {f"gradient.{name}": parameter.grad for name, parameter in method.named_parameters()
              if parameter.grad is not None}
    found |= {f"buffer.{name}": buffer for name, buffer in method.named_buffers()}
    found |= {f"optimizer.{number}.{name}": value for number, values in optimizer.state_dict()["state"].items()
              for name, value in values.items()}
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in found.items()}


def fill(method: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put what :func:`tensors` gave into a method and its optimiser."""
    kinds: dict[str, dict[str, Tensor]] = {"parameter": {}, "gradient": {}, "buffer": {}, "optimizer": {}}
    for name, tensor in tensors.items():
        kind, _, own = name.partition(".")
        kinds[kind][own] = tensor
    if kinds["parameter"].keys() != dict(method.named_parameters()).keys():
        raise ValueError("it has other parameters")
    for name, parameter in method.named_parameters():
        if parameter.shape != kinds["parameter"][name].shape:
            raise ValueError(f"{name} has another shape")
        parameter.data.copy_(kinds["parameter"][name])
        parameter.grad = kinds["gradient"][name].to(parameter) if name in kinds["gradient"] else None
    for name, buffer in kinds["buffer"].items():
        path, _, own = name.rpartition(".")
        owner = method.get_submodule(path)
        here = owner._buffers[own]
        if here is not None and here.shape == buffer.shape:
            here.copy_(buffer)  # in place: another module may hold it too
        else:
            setattr(owner, own, buffer.to(next(method.parameters()).device))
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in kinds["optimizer"].items():
        number, _, own = name.partition(".")
        state.setdefault(int(number), {})[own] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _check_identity(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    wanted = json.loads(json.dumps(wanted))
    for name in [*wanted, *found]:
        if found.get(name) != wanted.get(name):
            raise InputError(f"{folder} holds checkpoints of another training: {name} was {found.get(name)}, "
                             f"is {wanted.get(name)}")
