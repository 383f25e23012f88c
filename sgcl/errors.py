"""Two exceptions: for what a user can mend, in a single line, and for a training that cannot go on."""

import difflib
from collections.abc import Iterable
from typing import Any

from torch_geometric.data import Data, HeteroData, TemporalData

_TIMES = ("time", "edge_time", "node_time", "timestamp", "timestamps")


class InputError(ValueError):
    """Bad input, setting or name. The command line prints its message as one line and exits with code 2."""


class TrainingError(RuntimeError):
    """Training cannot go on; the message says where it stopped and what to try."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An :class:`InputError` for a misspelt name: the nearest known one, and all of them."""
    known = sorted(known)
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return InputError(f"no {kind} named {name!r}; {hint}known: {', '.join(known)}")


def check_rate(owner: str, name: str, value: float) -> None:
    """Raise unless ``value`` is a probability."""
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{owner}: {name} is {value}, expected a probability in [0, 1]")


def check_kind(data: Any, owner: str = "") -> None:
    """Raise for graphs of a kind that is not supported, heterogeneous or temporal; ``owner`` opens the message."""
    prefix = f"{owner}: " if owner else ""
    if isinstance(data, HeteroData):
        raise InputError(f"{prefix}heterogeneous graphs (HeteroData) are not supported; use data.to_homogeneous()")
    if isinstance(data, TemporalData):
        raise InputError(f"{prefix}temporal graphs (TemporalData) are not supported; drop the times: "
                         "Data(edge_index=torch.stack([data.src, data.dst]), num_nodes=data.num_nodes)")
    for name in _TIMES:
        if isinstance(data, Data) and name in data:
            raise InputError(f"{prefix}temporal graphs (data.{name}) are not supported; drop the times: "
                             f"del data.{name}")
