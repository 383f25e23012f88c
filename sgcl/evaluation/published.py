"""The probe of the papers: one linear layer, trained by gradient steps on the embeddings as they are."""

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation.probe import ProbeResult, check_inputs
from sgcl.evaluation.splits import Split


def published_probe(embedding: Tensor, y: Tensor, split: Split, *, steps: int, every: int | None,
                    seed: int) -> ProbeResult:
    """Cross-entropy, full-batch Adam with learning rate 0.01 and no decay; rows are not normalised.

    The weights begin Xavier-uniform, the biases at zero. DGI takes 100 steps and the last one; PyGCL and the published
    SGCL code take 5000, validate every 20 and keep the first best. Scores are accuracies.

    Args:
        embedding: (N, D).
        y: (N,) labels.
        split: the nodes to fit, choose and score on.
        steps: optimiser steps.
        every: validate after each so many steps and keep the first best; ``None`` keeps the last step.
        seed: of the initial weights.
    """
    if steps < 1 or (every is not None and not 1 <= every <= steps):
        raise InputError(f"published_probe: steps is {steps} and every is {every}, expected 1 <= every <= steps")
    embedding, y = check_inputs("published_probe", embedding, y, split, needs_val=every is not None)
    rows = {name: embedding[nodes.to(embedding.device)].float() for name, nodes in split.sets.items()}
    weight, bias, step = _train(rows["train"], y[split.train], rows["val"], y[split.val],
                                num_classes=int(y.max()) + 1, steps=steps, every=every, seed=seed)
    predicted = {name: F.linear(x, weight, bias).argmax(1).cpu() for name, x in rows.items()}
    # All is settled: the labels of the test nodes are read in the next statement and nowhere else.
    scores = {name: float((y[nodes] == predicted[name]).double().mean()) for name, nodes in split.sets.items()}
    return ProbeResult(scores["test"], scores["val"], scores["train"], "accuracy", step=step,
                       predictions=predicted["test"])


def _train(train_x: Tensor, train_y: Tensor, val_x: Tensor, val_y: Tensor, *, num_classes: int, steps: int,
           every: int | None, seed: int) -> tuple[Tensor, Tensor, int]:
    """The weight (C, D) and bias (C,) that were kept, and their step. No test node is passed in."""
    device = train_x.device
    train_y, val_y = train_y.to(device), val_y.to(device)
    initial = torch.empty(num_classes, train_x.size(1))
    torch.nn.init.xavier_uniform_(initial, generator=torch.Generator().manual_seed(seed))
    weight, bias = initial.to(device).requires_grad_(), torch.zeros(num_classes, device=device, requires_grad=True)
    optimiser = torch.optim.Adam([weight, bias], lr=0.01)
    kept, most_correct = (weight.detach(), bias.detach(), steps), -1
    for step in range(1, steps + 1):
        optimiser.zero_grad()
        loss = F.cross_entropy(F.linear(train_x, weight, bias), train_y)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if every is not None and step % every == 0:
            with torch.no_grad():
                correct = int((F.linear(val_x, weight, bias).argmax(1) == val_y).sum())
            if correct > most_correct:
                kept, most_correct = (weight.detach().clone(), bias.detach().clone(), step), correct
    return kept
