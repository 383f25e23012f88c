"""``fit``, ``transform``, ``save`` and ``load`` around any method: what most people import."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import safetensors
import safetensors.torch
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import distributed, embeddings, files, runs, settings
from sgcl.checkpoints import Checkpoints
from sgcl.errors import InputError
from sgcl.graph import Graph, one_column_each, prepare
from sgcl.methods import METHODS, Method
from sgcl.samplers import FullGraph, WholeGraphs
from sgcl.trainer import Callback, Epoch, check_sync, check_training, train


class Estimator:
    """A method with its settings, fitted to a graph.

    Subclasses name their method; every setting of the method and of the training is a keyword:

    >>> from sgcl import SGCL, Taubin
    >>> SGCL(smoothing=Taubin(prune=0), epochs=50, seed=1).settings["epochs"]
    50
    """

    method_name: ClassVar[str]

    def __init__(self, **given: Any) -> None:
        self.settings = settings.resolve(self.method_name, given)
        method, training, _ = settings.split(self.settings)
        check_training(**{name: training[name] for name in inspect.signature(check_training).parameters})
        device_for(training["device"])
        kind: type[Method] = METHODS[self.method_name]
        if kind.level == "graph" and not isinstance(training["sampler"], WholeGraphs | FullGraph):
            raise InputError(f"{self.method_name} takes batches of whole graphs: the sampler is "
                             f"{type(training['sampler']).__name__}, expected WholeGraphs or FullGraph (--sampler "
                             "graphs or full)")
        if kind.level == "node" and isinstance(training["sampler"], WholeGraphs):
            raise InputError(f"{self.method_name} embeds nodes of a graph: the sampler graphs draws whole graphs of a "
                             "collection; take walk, node, edge, ego or full")
        with torch.random.fork_rng(devices=[]):
            made = METHODS[self.method_name](1, **method)  # a bad setting is told here, not at the end of a long load
        check_sync(made, training["sync_grams"])
        self.method: Method | None = None
        self.in_channels = 0
        self.history: list[Epoch] = []

    def __init_subclass__(cls) -> None:
        parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
                      for name, value in settings.defaults(cls.method_name).items()]
        cls.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]

    def fit(self, data: Data | Graph | Sequence[Data], *, callbacks: Sequence[Callback] = (),
            checkpoint: str | Path | Checkpoints | None = None, resume: bool = False) -> Self:
        """Train on the whole of ``data``, without labels. Where ``torch.distributed`` has several ranks, all of them
        call this with the same, and have the same model at the end.

        Args:
            data: the graph.
            callbacks: called with each :class:`~sgcl.trainer.Epoch` as it ends.
            checkpoint: a folder in which checkpoints are kept, or :class:`~sgcl.checkpoints.Checkpoints`.
            resume: go on from the last checkpoint in that folder, if there is one, with the same result.
        """
        group = distributed.current()
        if isinstance(checkpoint, str | Path) and group.rank:
            checkpoint = None  # rank 0 alone writes, and all go on from what it finds
        if isinstance(checkpoint, str | Path):
            with files.lock(Path(checkpoint)):
                return self.fit(data, callbacks=callbacks, checkpoint=Checkpoints(checkpoint, resume=resume))
        graph, (_, training, _) = self.graph(data), settings.split(self.settings)
        method = self.untrained(graph.num_features)
        training["device"] = device_for(training["device"])
        if checkpoint is not None and not checkpoint.identity:
            checkpoint.identity = self.identity(runs.fingerprint(graph))
        if not group.alone:
            with group.watched():
                group.check_agreed(self.identity(runs.fingerprint(graph)))
        before = self.method, self.in_channels
        self.method, self.in_channels = method, graph.num_features  # callbacks may look at it
        try:
            self.history = train(method, graph, **training, callbacks=callbacks, checkpoint=checkpoint)
        except BaseException:
            self.method, self.in_channels = before
            raise
        return self

    def transform(self, data: Data | Graph | Sequence[Data], *, memory: int | str | None = None,
                  folder: str | Path | None = None, out: str | Path | None = None,
                  tell: embeddings.Tell = lambda layer, share: None) -> Tensor:
        """The (N, D) embedding of the nodes of ``data``: the fitted graph, or another with the same features.

        Args:
            data: a graph.
            memory: what to take at most beside the graph and the weights, such as ``"2GB"``; see
                :func:`sgcl.embeddings.compute`.
            folder: where temporary files go, if there have to be any.
            out: an ``.npy`` file to write the rows to, from which they are then mapped; with ``memory``. Cut short, the
                same call goes on where it was; see :func:`sgcl.embeddings.compute_file`.
            tell: for ``out``, called with the number of the layer at work and the share of it that is done.
        """
        if out is not None and memory is None:
            raise InputError("out= is for an embedding in blocks: give memory=, such as \"2GB\", too")
        method = self._fitted()
        graph = self.graph(data).whole("an embedding")
        if graph.num_features != self.in_channels:
            learned = ": learned features are for the nodes they were learned with" if one_column_each(graph.x) else ""
            raise InputError(f"the graph has {graph.num_features} features, the model was fitted on {self.in_channels}"
                             f"{learned}")
        if out is not None and memory is not None:
            return embeddings.compute_file(Path(out), method, graph, device_for(self.settings["device"]), memory=memory,
                                           identity=self.identity(runs.fingerprint(graph)), tell=tell)
        return embeddings.compute(method, graph, device_for(self.settings["device"]), memory=memory,
                                  folder=None if folder is None else Path(folder))

    def fit_transform(self, data: Data | Graph | Sequence[Data]) -> Tensor:
        """:meth:`fit`, then :meth:`transform` of the same graph."""
        return self.fit(data).transform(data)

    def graph(self, data: Data | Graph | Sequence[Data]) -> Graph:
        """``data`` as the model sees it."""
        graph = prepare(data, **settings.split(self.settings)[2])
        kind: type[Method] = METHODS[self.method_name]
        if (graph.graph_ptr is None) == (kind.level == "graph"):
            raise InputError(f"{self.method_name} embeds the nodes of a graph, this is a collection of graphs: take a "
                             "method for graphs" if graph.graph_ptr is not None else
                             f"{self.method_name} embeds graphs of a collection, this is a single graph: give a list "
                             "of them, or take a method for nodes")
        return graph

    def untrained(self, in_channels: int) -> Method:
        """The method with the weights it starts from, a function of the seed."""
        method, training, _ = settings.split(self.settings)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(training["seed"])
            made: Method = METHODS[self.method_name](in_channels, **method)
        return made

    def save(self, folder: str | Path) -> None:
        """Write ``config.json`` and ``weights.safetensors``."""
        self._fitted()
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        runs.write_config(folder, self.config(self.in_channels))
        self.save_weights(folder)

    def save_weights(self, folder: Path) -> None:
        """Write ``weights.safetensors`` alone."""
        with files.whole(folder / "weights.safetensors") as part:
            part.write_bytes(safetensors.torch.save(self._fitted().state_dict()))

    def identity(self, fingerprint: str) -> dict[str, Any]:
        """What must agree for a checkpoint to be of this training: the graph, the method and its settings, without the
        workers, which change no result."""
        chosen = settings.encode(self.settings)
        del chosen["workers"]
        return {"graph": fingerprint, "method": self.method_name, **chosen}

    def config(self, in_channels: int) -> dict[str, Any]:
        """What ``config.json`` says of the model."""
        return {"format": runs.FORMAT, "method": self.method_name, "settings": settings.encode(self.settings),
                "in_channels": in_channels}

    @staticmethod
    def load(folder: str | Path, *, device: str | None = None) -> Estimator:
        """The estimator that :meth:`save` wrote, or that of a run folder.

        Args:
            folder: where it lies.
            device: where it shall work; unless given, where it was trained if there is such a device, else the CPU.
        """
        folder = Path(folder)
        config = runs.read_config(folder)
        chosen = dict(config["settings"])
        if device is not None or _is_missing(chosen.get("device")):
            chosen["device"] = device or "cpu"
        estimator = estimator_for(config["method"])(**chosen)
        method = estimator.untrained(config["in_channels"])
        _read_weights(method, folder / "weights.safetensors")
        estimator.method, estimator.in_channels = method.eval(), config["in_channels"]
        return estimator

    @property
    def fitted(self) -> Method:
        """The trained method."""
        return self._fitted()

    def _fitted(self) -> Method:
        if self.method is None:
            raise InputError(f"this {type(self).__name__} is not fitted: call fit(data) first")
        return self.method

    def __repr__(self) -> str:
        default = settings.defaults(self.method_name)
        changed = ", ".join(f"{k}={v!r}" for k, v in self.settings.items() if v != default[k])
        return f"{type(self).__name__}({changed})"


class SGCL(Estimator):
    """Smoothed graph contrastive learning; ``sgcl.methods.SGCL`` says what each setting of the method means and
    ``sgcl.trainer.train`` what each of the training does."""

    method_name = "sgcl"


class DGI(Estimator):
    """Deep graph infomax; ``sgcl.methods.DGI`` says what its settings mean."""

    method_name = "dgi"


class GRACE(Estimator):
    """Deep graph contrastive representation learning; ``sgcl.methods.GRACE`` says what its settings mean."""

    method_name = "grace"


class MVGRL(Estimator):
    """Contrastive multi-view representation learning; ``sgcl.methods.MVGRL`` says what its settings mean."""

    method_name = "mvgrl"


class BGRL(Estimator):
    """Bootstrapped graph latents; ``sgcl.methods.BGRL`` says what its settings mean."""

    method_name = "bgrl"


class GBT(Estimator):
    """Graph Barlow Twins; ``sgcl.methods.GBT`` says what its settings mean."""

    method_name = "g-bt"


class CCASSG(Estimator):
    """Canonical correlation analysis for graphs; ``sgcl.methods.CCASSG`` says what its settings mean."""

    method_name = "cca-ssg"


class ProGCL(Estimator):
    """GRACE with negatives weighed or mixed by a mixture; ``sgcl.methods.ProGCL`` says what its settings mean."""

    method_name = "progcl"


class AUGCL(Estimator):
    """GRACE with negatives weighed by uncertainty; ``sgcl.methods.AUGCL`` says what its settings mean."""

    method_name = "augcl"


class CGRA(Estimator):
    """Contrastive graph representation with node and graph augmentation; ``sgcl.methods.CGRA`` says what its settings
    mean."""

    method_name = "cgra"


class GRLC(Estimator):
    """Graph representation learning with constraints; ``sgcl.methods.GRLC`` says what its settings mean."""

    method_name = "grlc"


class GraphMAE2(Estimator):
    """Masked graph autoencoder with a latent target; ``sgcl.methods.GraphMAE2`` says what its settings mean."""

    method_name = "graphmae2"


class GREET(Estimator):
    """Contrast of a low-pass and a high-pass encoder on edges told apart; ``sgcl.methods.GREET`` says what its settings
    mean."""

    method_name = "greet"


class GSCL(Estimator):
    """Graph soft-contrastive learning by neighbourhood ranking; ``sgcl.methods.GSCL`` says what its settings mean."""

    method_name = "gscl"


class SGCLGraphs(Estimator):
    """Smoothed graph contrastive learning of whole graphs; ``sgcl.methods.SGCLGraphs`` says what its settings mean."""

    method_name = "sgcl-graphs"


class InfoGraph(Estimator):
    """Mutual information between graphs and their nodes; ``sgcl.methods.InfoGraph`` says what its settings mean."""

    method_name = "infograph"


class GraphCL(Estimator):
    """Graph contrastive learning with augmentations; ``sgcl.methods.GraphCL`` says what its settings mean."""

    method_name = "graphcl"


class ProGCLGraphs(Estimator):
    """GraphCL with negatives weighed or mixed by a mixture; ``sgcl.methods.ProGCLGraphs`` says what its settings
    mean."""

    method_name = "progcl-graphs"


class AUGCLGraphs(Estimator):
    """GraphCL with negatives weighed by uncertainty; ``sgcl.methods.AUGCLGraphs`` says what its settings mean."""

    method_name = "augcl-graphs"


class LaGraph(Estimator):
    """Latent graph prediction of whole graphs; ``sgcl.methods.LaGraph`` says what its settings mean."""

    method_name = "lagraph"


class BGRLGraphs(Estimator):
    """Bootstrapped graph latents of whole graphs; ``sgcl.methods.BGRLGraphs`` says what its settings mean."""

    method_name = "bgrl-graphs"


class CGRAGraphs(Estimator):
    """Contrastive graph representation of whole graphs; ``sgcl.methods.CGRAGraphs`` says what its settings mean."""

    method_name = "cgra-graphs"


class MVGRLGraphs(Estimator):
    """Contrastive multi-view representation learning of whole graphs; ``sgcl.methods.MVGRLGraphs`` says what its
    settings mean."""

    method_name = "mvgrl-graphs"


class ADGCL(Estimator):
    """Adversarial graph contrastive learning; ``sgcl.methods.ADGCL`` says what its settings mean."""

    method_name = "ad-gcl"


def estimator_for(method_name: str) -> type[Estimator]:
    """The estimator class of a method, also of one from another package."""
    for known in Estimator.__subclasses__():
        if known.method_name == method_name:
            return known
    return type(METHODS[method_name].__name__, (Estimator,), {"method_name": method_name})


def device_for(name: str) -> str:
    """``"auto"`` as the best device there is; any other name checked."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if not re.fullmatch(r"cpu|mps|cuda(:\d+)?", name):
        raise InputError(f"no device named {name!r}: use cpu, cuda, cuda:1, mps or auto")
    if _is_missing(name):
        raise InputError(f"device {name!r} is not available here: use cpu or auto")
    return name


def _is_missing(device: Any) -> bool:
    """Whether it names a device that this machine does not have."""
    if cuda := re.fullmatch(r"cuda(?::(\d+))?", str(device)):
        return int(cuda[1] or 0) >= torch.cuda.device_count()
    return device == "mps" and not torch.backends.mps.is_available()


def _read_weights(method: Method, file: Path) -> None:
    try:
        method.load_state_dict(safetensors.torch.load(file.read_bytes()))
    except FileNotFoundError:
        raise InputError(f"{file.parent} holds no {file.name}: train the run to its end first") from None
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except (safetensors.SafetensorError, RuntimeError) as error:
        raise InputError(f"{file} does not fit its config.json or is damaged "
                         f"({str(error).splitlines()[0]})") from None
