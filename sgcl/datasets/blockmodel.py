"""The degree-corrected block model: Karrer and Newman, Stochastic Blockmodels and Community Structure in Networks,
Physical Review E 83, 2011. Graphs of any size, degree, homophily and width, in time linear in their edges."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.errors import InputError, check_rate

_AT_ONCE = 1 << 24    # edges drawn at a time
_MOST_ROUNDS = 200    # rounds of drawing before a graph counts as too dense


def sbm(nodes: int = 10_000, *, edges: int | None = None, mean_degree: float | None = None, classes: int = 10,
        homophily: float = 0.8, features: int = 64, signal: float = 1.0, exponent: float = 2.5, seed: int = 0) -> Data:
    """A graph with exactly E different edges, round(homophily E) of them inside classes.

    Node i has a propensity θ_i; an edge inside a class joins i and j with probability ~ θ_i θ_j over all such pairs,
    and so does an edge between classes; repeats are drawn again. The propensities follow a power law,
    P(θ > t) = t^(1 - exponent), cut at the root of N.

    Args:
        nodes: N, as evenly split among the classes as can be, in random order.
        edges: E; or give ``mean_degree``.
        mean_degree: 2 E / N; 10 unless either is given.
        classes: C, at least 2.
        homophily: share of the edges that lie inside classes, in [0, 1].
        features: F, at least 1.
        signal: distance of the centre of each class from the origin; around it the features are standard normal.
        exponent: of the power law of the propensities, above 2; ``math.inf`` gives all nodes the same.
        seed: of everything random.

    Returns:
        ``x`` (N, F); ``edge_index`` (2, 2 E): both directions, sorted one way; ``y`` (N,).
    """
    check_rate("sbm", "homophily", homophily)
    if edges is not None and mean_degree is not None:
        raise InputError("sbm: give edges or mean_degree, not both")
    if edges is None:
        edges = round(nodes * (10.0 if mean_degree is None else mean_degree) / 2)
    if classes < 2 or nodes < classes or features < 1 or edges < 1:
        raise InputError(f"sbm: {nodes} nodes, {edges} edges, {classes} classes and {features} features, expected at "
                         "least 1 edge, 2 classes, a node for each class and 1 feature")
    if not exponent > 2:
        raise InputError(f"sbm: exponent is {exponent}, expected more than 2")
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(nodes)[torch.randperm(nodes, generator=generator)] % classes
    uniform = 1 - torch.rand(nodes, generator=generator, dtype=torch.float64)
    propensity = (uniform ** (-1 / (exponent - 1))).clamp_(max=math.sqrt(nodes))
    inside = round(homophily * edges)
    draw_inside, draw_between = _drawers(y, propensity, classes, generator)
    size = y.bincount(minlength=classes)
    room_inside = int((size * (size - 1)).sum()) // 2
    keys = _merged(_distinct(draw_inside, inside, room_inside, nodes, "inside", generator),
                   _distinct(draw_between, edges - inside, nodes * (nodes - 1) // 2 - room_inside, nodes, "between",
                             generator))                                   # (E,)
    edge_index = torch.empty(2, 2 * edges, dtype=torch.long)
    torch.div(keys, nodes, rounding_mode="floor", out=edge_index[0, :edges])
    torch.remainder(keys, nodes, out=edge_index[1, :edges])
    edge_index[:, edges:] = edge_index[:, :edges].flip(0)
    del keys
    centres = signal * F.normalize(torch.randn(classes, features, generator=generator))
    x = torch.randn(nodes, features, generator=generator)
    for label, centre in enumerate(centres):
        x[y == label] += centre
    return Data(x=x, edge_index=edge_index, y=y)


_Drawer = Callable[[int], tuple[Tensor, Tensor]]


def _drawers(y: Tensor, propensity: Tensor, classes: int, generator: torch.Generator) -> tuple[_Drawer, _Drawer]:
    """Two functions that draw n pairs of nodes, with probability ~ θ_i θ_j: inside classes, and between them.

    With the nodes laid side by side by class, each as wide as its propensity, a draw is a place on a line: inside the
    stretch of a class, or outside of it going round.
    """
    order = torch.argsort(y, stable=True)
    line = propensity[order].cumsum(0)                                     # (N,) where each node ends
    end = line[y.bincount(minlength=classes).cumsum(0) - 1]                # (C,) where each class ends
    start = F.pad(end[:-1], (1, 0))
    width, whole = end - start, end[-1]

    def uniform(count: int) -> Tensor:
        return torch.rand(count, generator=generator, dtype=torch.float64)

    def drawn(weight: Tensor, count: int) -> Tensor:
        line_of = weight.cumsum(0)
        return torch.searchsorted(line_of, uniform(count) * line_of[-1], right=True).clamp_(max=len(weight) - 1)

    def at(place: Tensor) -> Tensor:
        return order[torch.searchsorted(line, place, right=True).clamp_(max=len(line) - 1)]

    def inside(count: int) -> tuple[Tensor, Tensor]:
        label = drawn(width.square(), count)
        one, other = (at(start[label] + uniform(count) * width[label]) for _ in range(2))
        right = y[one] == y[other]  # all but those that rounding pushed over the border of a class
        return one[right], other[right]

    def between(count: int) -> tuple[Tensor, Tensor]:
        label = drawn(width * (whole - width), count)
        one = at(start[label] + uniform(count) * width[label])
        other = at((end[label] + uniform(count) * (whole - width[label])) % whole)
        right = y[one] != y[other]
        return one[right], other[right]

    return inside, between


def _distinct(draw: _Drawer, wanted: int, room: int, nodes: int, where: str, generator: torch.Generator) -> Tensor:
    """(wanted,) ascending keys min(i, j) N + max(i, j) of different pairs i != j."""
    if wanted > room:
        raise InputError(f"sbm: {wanted} edges {where} classes are asked for, but there are only {room} pairs of nodes "
                         "for them: ask for fewer edges or another homophily")
    keys = torch.empty(0, dtype=torch.long)
    for _ in range(_MOST_ROUNDS + wanted // _AT_ONCE):
        if len(keys) == wanted:
            return keys
        missing = min(wanted - len(keys), _AT_ONCE)
        one, other = draw(missing + missing // 8 + 16)
        one, other = one[one != other], other[one != other]
        new = torch.unique(torch.minimum(one, other) * nodes + torch.maximum(one, other))
        if len(keys):
            place = torch.searchsorted(keys, new).clamp_(max=len(keys) - 1)
            new = new[keys[place] != new]
        if len(new) > missing:
            new = new[torch.randperm(len(new), generator=generator)[:missing]]
        keys = _merged(keys, new)
    if len(keys) == wanted:
        return keys
    raise InputError(f"sbm: only {len(keys)} of {wanted} edges {where} classes found room, the nodes with most links "
                     "being joined to all others: ask for fewer edges or a larger exponent")


def _merged(some: Tensor, others: Tensor) -> Tensor:
    """All keys, ascending."""
    keys = torch.cat([some, others])
    keys.numpy().sort()  # in place: there may be many
    return keys


SBM = Dataset("sbm", "Degree-corrected block model", "Karrer and Newman, Stochastic Blockmodels and Community "
              "Structure in Networks, Physical Review E 83, 2011", "random", nodes=10_000, edges=50_000, features=64,
              classes=10, loader=sbm, licence="made by a rule")
