"""What methods for nodes and methods for collections promise alike; both contracts ask it of theirs."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from collections_of import seeded

from sgcl import Estimator, Graph
from sgcl.checkpoints import Checkpoints
from sgcl.estimator import estimator_for
from sgcl.methods import Method
from sgcl.settings import known
from sgcl.sparse import CSR, SparseFeatures
from sgcl.trainer import Epoch


def small(name: str, **chosen: Any) -> Estimator:
    """An estimator for a small graph, with those of the settings that its method knows."""
    chosen = {"hidden_channels": 8, "epochs": 2, "lr": 0.01, **chosen}
    return estimator_for(name)(**{key: value for key, value in chosen.items() if key in known(name)})


def begun(made: Estimator, graph: Graph) -> Method:
    """The method as it is when the first batch comes."""
    method = made.untrained(graph.num_features)
    torch.manual_seed(0)
    method.start(graph)
    _next_epoch(method.eval(), graph, 1)
    return method.train()


def loss_of(method: Method, views: tuple) -> torch.Tensor:
    """The loss, with the same dropout each time."""
    torch.manual_seed(0)
    return method.loss(views)


def without_edges(graph: Graph) -> Graph:
    nodes = graph.num_nodes
    return graph.replace(adj=CSR(torch.zeros(nodes + 1, dtype=torch.long), torch.empty(0, dtype=torch.long),
                                 symmetric=True))


def check_gradients(method: Method, graph: Graph, *, flat: str | None = None, epochs: int = 1) -> None:
    """They are finite and reach every parameter within so many epochs; those of ``flat``, a pattern, are 0."""
    loss = loss_of(method, method.augment(graph, seeded()))
    assert loss.shape == ()
    assert torch.isfinite(loss)
    loss.backward()
    for epoch in range(2, 1 + epochs):
        _next_epoch(method, graph, epoch)
        loss_of(method, method.augment(graph, seeded())).backward()
    stepped = {id(parameter) for group in method.parameter_groups(0.01, 0.0) for parameter in group["params"]}
    for name, parameter in method.named_parameters():
        assert (id(parameter) in stepped) == parameter.requires_grad, name
        if not parameter.requires_grad:                                   # a moving average
            assert parameter.grad is None, name
            continue
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        most = parameter.grad.abs().max()
        assert most < 1e-5 if flat and re.fullmatch(flat, name) else most > 0, name


def check_steps(method: Method, graph: Graph) -> None:
    """Twenty on fixed views lower the loss."""
    views = method.augment(graph, seeded())
    optimizer = torch.optim.Adam(method.parameter_groups(0.01, 0.0), lr=0.01)
    losses = []
    for step in range(20):
        losses.append(loss_of(method, views))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
        method.after_step((step + 1) / 20)
    assert loss_of(method, views) < losses[0]


def check_seeds(make: Callable[[int], Estimator], data: Any) -> None:
    """One settles everything, and another changes it."""
    first, again, other = (make(seed).fit(data) for seed in (5, 5, 6))
    _check_same(first, again, data)
    assert not torch.allclose(first.transform(data), other.transform(data))
    assert [epoch.loss for epoch in first.history] != [epoch.loss for epoch in other.history]


def check_saved(fitted: Estimator, data: Any, folder: Path) -> None:
    """A model comes back as it was."""
    fitted.save(folder)
    loaded = Estimator.load(folder)
    assert type(loaded) is type(fitted)
    assert loaded.settings == fitted.settings
    assert torch.equal(loaded.transform(data), fitted.transform(data))


def check_resumed(make: Callable[[], Estimator], data: Any, folder: Path, *, cut: str) -> None:
    """Cut off in its second epoch, at the checkpoint ``cut``, a training goes on exactly."""
    def cut_off(epoch: Epoch) -> None:
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    whole = make().fit(data)
    with pytest.raises(KeyboardInterrupt):
        make().fit(data, callbacks=[cut_off], checkpoint=Checkpoints(folder, every=0))
    assert max(file.name for file in folder.iterdir()).startswith(cut)
    _check_same(whole, make().fit(data, checkpoint=Checkpoints(folder, every=0, resume=True)), data)


def check_sparse(made: Estimator, graph: Graph) -> None:
    """Features that are held as sparse give the loss and the embedding of dense ones."""
    graphs = (graph, graph.replace(x=SparseFeatures.from_dense(graph.x)))
    methods = [begun(made, one).eval() for one in graphs]
    assert torch.allclose(methods[0].embed(graphs[1]), methods[0].embed(graph), atol=1e-5)
    losses = [loss_of(method, method.augment(one, seeded(3))) for method, one in zip(methods, graphs, strict=True)]
    assert torch.allclose(*losses, rtol=1e-5)


def check_finite(method: Method, graph: Graph) -> torch.Tensor:
    """A batch, without edges perhaps, has a finite loss, gradients and embedding, which is returned."""
    loss = method.loss(method.augment(graph, seeded()))
    loss.backward()
    assert torch.isfinite(loss)
    assert all(parameter.grad.isfinite().all() for parameter in method.parameters() if parameter.grad is not None)
    embedding = method.embed(graph)
    assert embedding.isfinite().all()
    return embedding


def check_views(method: Method, graph: Graph, *, chance: bool = True) -> None:
    """They are a tuple of parts that move, and depend on the generator alone; with ``chance`` at all."""
    views, again = method.augment(graph, seeded(4)), method.augment(graph, seeded(4))
    moved = type(views)(*(part.to("cpu") for part in views))
    assert loss_of(method, views) == loss_of(method, again) == loss_of(method, moved)
    others = [loss_of(method, method.augment(graph, seeded(seed))) for seed in range(5, 15)]
    assert any(loss != loss_of(method, views) for loss in others) == chance


def _next_epoch(method: Method, graph: Graph, epoch: int) -> None:
    with torch.no_grad():
        method.before_epoch(graph, epoch, 20, seeded(9))


def _check_same(one: Estimator, other: Estimator, data: Any) -> None:
    weights = one.method.state_dict()
    assert all(torch.equal(weights[key], value) for key, value in other.method.state_dict().items())
    assert [epoch.loss for epoch in other.history] == [epoch.loss for epoch in one.history]
    assert torch.equal(other.transform(data), one.transform(data))
