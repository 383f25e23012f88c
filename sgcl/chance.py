"""All chance of a training: every batch draws from a generator that is a function of (seed, epoch, batch) alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


def step_generator(seed: int, epoch: int, batch: int) -> torch.Generator:
    """All chance of one batch; epochs count from 1, batches from 0."""
    state = np.random.SeedSequence([seed, epoch, batch]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))


def seed_model(device: str, generator: torch.Generator) -> None:
    """Draw the seed of dropout and other chance inside the model, which then shares no numbers with the views."""
    seed = int(torch.randint(2**62, (), generator=generator))
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if device == "cpu":
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would reach for other devices too
    else:
        torch.manual_seed(seed)


@contextmanager
def own_chance(device: str) -> Iterator[None]:
    """Whatever is drawn inside, the caller's random numbers afterwards are those it would have had."""
    kind = torch.device(device).type
    others = [] if kind == "cpu" else range(getattr(torch, kind).device_count())
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=others, device_type="cuda" if kind == "cpu" else kind):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def states(device: str) -> dict[str, Any]:
    """The states of all global generators, as JSON values."""
    numpy = np.random.get_state(legacy=False)
    found: dict[str, Any] = {"python": random.getstate(), "torch": _text(torch.get_rng_state()),
             "numpy": {**numpy, "state": {**numpy["state"], "key": numpy["state"]["key"].tolist()}}}
    if device.startswith("cuda"):
        found["device"] = _text(torch.cuda.get_rng_state(device))
    elif device == "mps":
        found["device"] = _text(torch.mps.get_rng_state())
    return found


def set_states(device: str, found: dict[str, Any]) -> None:
    """The inverse of :func:`states`."""
    version, numbers, gauss = found["python"]
    random.setstate((version, tuple(numbers), gauss))
    key = np.array(found["numpy"]["state"]["key"], dtype=np.uint32)
    np.random.set_state({**found["numpy"], "state": {**found["numpy"]["state"], "key": key}})
    torch.set_rng_state(_state(found["torch"]))
    if device.startswith("cuda"):
        torch.cuda.set_rng_state(_state(found["device"]), device)
    elif device == "mps":
        torch.mps.set_rng_state(_state(found["device"]))


def _text(state: torch.Tensor) -> str:
    return bytes(state.numpy()).hex()


def _state(text: str) -> torch.Tensor:
    return torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8)
