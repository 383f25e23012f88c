"""The probe of the papers: one linear layer, trained by gradient steps on the embeddings as they are."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.errors import InputError
from sgcl.evaluation.probe import ProbeResult, check_inputs, judged
from sgcl.evaluation.splits import Split


def published_probe(embedding: Tensor, y: Tensor, split: Split, *, steps: int, every: int | None, seed: int,
                    normalise: bool = False, decays: Sequence[float] = (0.0,)) -> ProbeResult:
    """Cross-entropy, full-batch Adam with learning rate 0.01 and no decay; rows are not normalised.

    The weights begin Xavier-uniform, the biases at zero. DGI takes 100 steps and the last one; PyGCL and the published
    SGCL code take 5000, validate every 20 and keep the first best. BGRL, on OGB, takes 100 with normalised rows and
    AdamW, its decay chosen on validation. Scores are accuracies; for labels (N, T) of several tasks the loss is a
    binary cross-entropy for each and the score ROC-AUC.

    Args:
        embedding: (N, D).
        y: (N,) labels, or (N, T) labels of T tasks.
        split: the nodes to fit, choose and score on.
        steps: optimiser steps.
        every: validate after each so many steps and keep the first best; ``None`` keeps the last step.
        seed: of the initial weights.
        normalise: scale rows to unit length.
        decays: decoupled weight decays to try; the best on validation wins, the first of equals.
    """
    if steps < 1 or (every is not None and not 1 <= every <= steps):
        raise InputError(f"published_probe: steps is {steps} and every is {every}, expected 1 <= every <= steps")
    if not decays or min(decays) < 0:
        raise InputError(f"published_probe: decays are {list(decays)}, expected one or more numbers >= 0")
    chooses = every is not None or len(decays) > 1
    embedding, y = check_inputs("published_probe", embedding, y, split, needs_val=chooses)
    rows = {name: embedding[nodes.to(embedding.device)].float() for name, nodes in split.sets.items()}
    if normalise:
        rows = {name: F.normalize(x) for name, x in rows.items()}
    width = y.size(1) if y.dim() == 2 else int(y[split.train].max()) + 1
    best, best_score = None, -math.inf
    for decay in decays:
        weight, bias, step = _train(rows["train"], y[split.train], rows["val"], y[split.val], width=width, steps=steps,
                                    every=every, seed=seed, decay=decay)
        score = _score(F.linear(rows["val"], weight, bias), y[split.val]) if len(decays) > 1 else 0.0
        if score > best_score:
            best, best_score = (weight, bias, step, decay), score
    assert best is not None
    weight, bias, step, decay = best
    logits = {name: F.linear(x, weight, bias).cpu() for name, x in rows.items()}
    # All is settled: the labels of the test nodes are read in the next statement and nowhere else.
    scores = {name: _score(logits[name], y[nodes], name) for name, nodes in split.sets.items()}
    tasks = y.dim() == 2
    return ProbeResult(scores["test"], scores["val"], scores["train"], "roc-auc" if tasks else "accuracy", step=step,
                       predictions=(logits["test"] > 0).long() if tasks else logits["test"].argmax(1),
                       decay=decay if len(decays) > 1 else None, scores=logits["test"] if tasks else torch.empty(0))


def _train(train_x: Tensor, train_y: Tensor, val_x: Tensor, val_y: Tensor, *, width: int, steps: int,
           every: int | None, seed: int, decay: float) -> tuple[Tensor, Tensor, int]:
    """The weight (C, D) and bias (C,) that were kept, and their step. No test node is passed in."""
    device = train_x.device
    train_y = train_y.to(device)
    initial = torch.empty(width, train_x.size(1))
    torch.nn.init.xavier_uniform_(initial, generator=torch.Generator().manual_seed(seed))
    weight, bias = initial.to(device).requires_grad_(), torch.zeros(width, device=device, requires_grad=True)
    optimiser = torch.optim.AdamW([weight, bias], lr=0.01, weight_decay=decay)
    kept, best = (weight.detach(), bias.detach(), steps), -math.inf
    for step in range(1, steps + 1):
        optimiser.zero_grad()
        loss = _loss(F.linear(train_x, weight, bias), train_y)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if every is not None and step % every == 0:
            with torch.no_grad():
                score = _score(F.linear(val_x, weight, bias), val_y)
            if score > best:
                kept, best = (weight.detach().clone(), bias.detach().clone(), step), score
    return kept


def _loss(logits: Tensor, y: Tensor) -> Tensor:
    if y.dim() == 1:
        return F.cross_entropy(logits, y)
    return F.binary_cross_entropy_with_logits(logits, y.clamp(min=0).float(), weight=(y >= 0).float())


def _score(logits: Tensor, y: Tensor, where: str = "val") -> float:
    """Accuracy, or ROC-AUC of several tasks; NaN without nodes."""
    if len(y) == 0:
        return math.nan
    if y.dim() == 1:
        return float((logits.argmax(1).cpu() == y.cpu()).double().mean())
    return judged("published_probe", "roc-auc", y.cpu().numpy(), logits.detach().cpu().numpy(), where)
