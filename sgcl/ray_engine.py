"""The ranks of a training as workers of Ray Train, which starts them, and starts them anew where one is lost.

Each checkpoint goes to Ray's storage as the run folder that it belongs to. A worker that finds one there resumes it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sgcl import distributed, workflow
from sgcl.errors import InputError, TrainingError
from sgcl.signals import handlers_restored
from sgcl.trainer import Epoch

_FAILURES = 3  # after which Ray gives up


@handlers_restored()
def train_with_ray(method: str, chosen: Mapping[str, Any], *, ranks: int, out: str | Path, storage: str | Path,
                   timeout: float = distributed.TIMEOUT, **job: Any) -> dict[str, Any]:
    """Train as :func:`sgcl.workflow.train_run` does, with its arguments, and leave the run folder ``out``.

    Args:
        method, chosen: what to train, settings in JSON form.
        ranks: how many workers; they join the cluster that ``RAY_ADDRESS`` names, or one of this machine.
        out: the run folder.
        storage: a folder or address that all machines reach, for Ray's checkpoints.
        timeout: seconds that a rank is waited for.
        job: ``dataset``, ``files``, ``attributes``, ``data_root`` and ``download`` say which graph, which each worker
            reads for itself; all else goes to ``train_run``.
    """
    try:
        import ray
        from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchConfig, TorchTrainer
    except ImportError:
        raise InputError("Ray is not installed: pip install 'sgcl[ray]'") from None
    own = not ray.is_initialized()
    if own:
        here = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": max(ranks, os.cpu_count() or 1),
                                                       "include_dashboard": False}
        ray.init(log_to_driver=False, logging_level="ERROR", **here)
    out, storage = Path(out), str(storage) if "://" in str(storage) else str(Path(storage).resolve())
    trainer = TorchTrainer(
        _work, train_loop_config={"method": method, "chosen": dict(chosen), "job": job},
        torch_config=TorchConfig(timeout_s=int(timeout)),
        scaling_config=ScalingConfig(num_workers=ranks, use_gpu=str(chosen.get("device", "")).startswith("cuda")),
        run_config=RunConfig(name=out.name, storage_path=storage, failure_config=FailureConfig(max_failures=_FAILURES),
                             checkpoint_config=CheckpointConfig(num_to_keep=2)))
    try:
        result = trainer.fit()
    except Exception as error:  # whatever a worker raised, wrapped by Ray in one way or another
        why = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise TrainingError(f"Ray gave up: {why[-1].strip()}; its storage is {storage}, where the same command goes "
                            "on") from None
    finally:
        if own:
            ray.shutdown()
    result.checkpoint.to_directory(out)
    return {**workflow.finished(out), "seconds": round(result.metrics["seconds"], 2)}


def _work(given: Mapping[str, Any]) -> None:
    """One worker, from the last checkpoint in the storage if there is one."""
    from ray import train

    job = dict(given["job"])
    source = {name: job.pop(name, None) for name in ("data_root", "download")}
    rank, told = train.get_context().get_world_rank(), [Path()]
    with tempfile.TemporaryDirectory(prefix="sgcl-ray-") as room:
        folder = Path(room) / "run"

        def tell(epoch: Epoch) -> None:
            """All workers report each epoch; the first one adds the run folder where it has a new checkpoint."""
            last = max((folder / "checkpoints").glob("epoch-*"), default=told[0]) if rank == 0 else told[0]
            new, told[0] = last != told[0], last
            train.report(epoch.record(), checkpoint=train.Checkpoint.from_directory(folder) if new else None)

        running = {name: job.pop(name) for name in ("checkpoint_every", "memory_limit", "tensorboard") if name in job}
        running |= {"quiet": True, "callbacks": [tell]}
        job = {name: value for name, value in job.items() if name not in ("quiet", "verbose")}
        found = train.get_checkpoint()
        if found is not None:
            found.to_directory(folder)
            done = workflow.resume_run(folder, data_root=source["data_root"], download=bool(source["download"]),
                                       **running)
        else:
            data = workflow.load_graph({name: value for name, value in job.items() if value is not None},
                                       source["data_root"], download=bool(source["download"]))
            done = workflow.train_run(given["method"], given["chosen"], data, out=folder, **job, **running)
        train.report({"seconds": done.get("seconds", 0.0), "loss": done.get("loss")},
                     checkpoint=train.Checkpoint.from_directory(folder) if rank == 0 else None)
