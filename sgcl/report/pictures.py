"""Pictures of a run as PNG: the training curve, a map of the embedding, what each smoothing does to a delta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sgcl.errors import InputError


def draw_curve(file: Path, curves: Mapping[str, Sequence[float]]) -> None:
    """The loss of each epoch, a line for each name."""
    figure, axes = _canvas(6, 4)
    for name, losses in curves.items():
        axes.plot(range(1, len(losses) + 1), losses, label=name)
    some = any(loss > 0 for losses in curves.values() for loss in losses)
    axes.set(xlabel="epoch", ylabel="loss", yscale="log" if some else "linear")
    if len(curves) > 1:
        axes.legend()
    _save(figure, file)


def draw_map(file: Path, embedding: np.ndarray, labels: np.ndarray | None = None, *, title: str = "") -> None:
    """A 2-D map of (N, D) embeddings, coloured by (N,) labels: t-SNE up to 5,000 nodes, PCA beyond."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    rows = embedding / np.maximum(np.linalg.norm(embedding, axis=1, keepdims=True), 1e-12)
    points = PCA(min(50, *rows.shape), random_state=0).fit_transform(rows)
    points = np.pad(points, ((0, 0), (0, max(0, 2 - points.shape[1]))))    # (N, 2) of a single column
    if 5 < len(points) <= 5000:
        points = TSNE(init="pca", perplexity=min(30, len(points) // 3), random_state=0).fit_transform(points)
    figure, axes = _canvas(6, 6)
    colours = {} if labels is None else {"c": labels, "cmap": "tab10" if labels.max() < 10 else "viridis"}
    axes.scatter(points[:, 0], points[:, 1], s=5, linewidths=0, **colours)
    axes.set(xticks=[], yticks=[], title=title)
    _save(figure, file)


def draw_smoothing(file: Path, panels: Mapping[str, np.ndarray]) -> None:
    """Signals on a grid side by side, one colour scale: a delta before and after each smoothing (values in [0, 1])."""
    figure, axes = _canvas(3 * len(panels), 3.2, columns=len(panels))
    for axis, (name, values) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        image = axis.imshow(np.sqrt(values), cmap="viridis", vmin=0, vmax=1)
        axis.set(title=name, xticks=[], yticks=[])
    bar = figure.colorbar(image, ax=axes, shrink=0.8, ticks=np.sqrt([0, 0.01, 0.1, 0.25, 0.5, 1]))
    bar.ax.set_yticklabels(["0", "0.01", "0.1", "0.25", "0.5", "1"])
    _save(figure, file)


def _canvas(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'sgcl[plots]'") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns)


def _save(figure: Any, file: Path) -> None:
    figure.savefig(file, dpi=120)
