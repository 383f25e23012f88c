"""A training that is stopped, by a signal, a loss that is no number or a full disk, says how to go on with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from sgcl.files import whole
from sgcl.signals import Interrupted
from sgcl.store import PartGraph
from sgcl.trainer import NonFiniteError, TrainingError, named_rows
from sgcl.workflow.graphs import node_ids


@contextmanager
def resumable(folder: Path, data: Data) -> Iterator[None]:
    """Say of whatever stops a run how to go on with it."""
    how = f"go on with: sgcl train --resume {folder}"
    try:
        yield
    except Interrupted as stop:
        raise Interrupted(f"{stop}; {how}", stop.number) from None
    except NonFiniteError as error:
        file, ids = folder / "failed-batch.json", _ids_of(data, error)
        with whole(file) as part:
            part.write_text(json.dumps({"epoch": error.epoch, "batch": error.batch, "ids": ids}) + "\n",
                            encoding="utf-8")
        message = str(error).replace(named_rows(error.rows.tolist(), error.kind), named_rows(ids, error.kind))
        raise TrainingError(f"{message}; the ids of its {error.kind} are in {file}; without its cause, {how}") from None
    except TrainingError as error:
        raise type(error)(f"{error}; {how}") from None
    except OSError as error:  # a full disk, a folder that went away
        raise TrainingError(f"cannot write {error.filename or folder}: {error.strerror or error}; once that is "
                            f"mended, {how}") from None


def _ids_of(data: Data, error: NonFiniteError) -> list[Any]:
    """What the nodes or graphs of a batch are called."""
    if isinstance(data.get("graph"), PartGraph):
        names: list[Any] = data.graph.names(error.batch - 1, error.rows.tolist())
        return names
    return list(node_ids(data)[error.rows.numpy()].tolist())
