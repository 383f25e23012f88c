"""Growing graphs with a chosen homophily: each new node links to earlier ones, the more to well-linked and alike ones.

Karimi et al., Homophily Influences Ranking of Minorities in Social Networks, Scientific Reports 8, 2018; and the
ten-class graphs of Abu-El-Haija et al., MixHop, ICML 2019, which borrow the mechanism.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.datasets.tables import Array
from sgcl.errors import InputError, check_rate

_PATH = 40            # MixHop's graphs begin with a path of the nodes 1 to 39; node 0 stays alone
_RADIUS = 300.0       # of the circle on which the centres of the features stand
_MOST_MISSES = 50     # draws of a node that is linked already, before the others are weighed one by one


def karimi(nodes: int = 5000, *, links: int = 2, minority: float = 0.5, homophily: float = 0.8, seed: int = 0) -> Data:
    """Homophilic preferential attachment with two groups.

    ``links`` nodes stand alone at first. Node s then links to ``links`` different earlier nodes i, drawn with
    probability ~ c (k_i + 1e-5), where k_i is the degree of i, and c is ``homophily`` inside a group and
    1 - ``homophily`` between groups; where fewer have a positive weight, it links to those. The homophily of the edges
    equals ``homophily`` for groups of one size only.

    Args:
        nodes: N; the number of a node is its time of arrival.
        links: of each new node.
        minority: share of the smaller group, 0 < minority <= 0.5; it gets ⌊minority N⌋ nodes.
        homophily: preference for one's own group, in [0, 1]; 0.5 is none.
        seed: of everything random.

    Returns:
        ``x`` (N, 2): Gaussian, the centres of the groups 600 apart; ``edge_index`` (2, 2 E): both directions;
        ``y`` (N,): 1 for the minority. The paper has no features and no split.
    """
    check_rate("karimi", "homophily", homophily)
    if not 0 < minority <= 0.5:
        raise InputError(f"karimi: minority is {minority}, expected a share above 0 and up to 0.5")
    if links < 1 or nodes <= links:
        raise InputError(f"karimi: {nodes} nodes with {links} links each, expected at least 1 link and more nodes")
    random = _random(seed)
    y = np.zeros(nodes, dtype=np.int64)
    y[random.permutation(nodes)[:int(minority * nodes)]] = 1
    affinity = [[homophily, 1 - homophily], [1 - homophily, homophily]]
    pairs = _attach(y.tolist(), links, affinity, start=(), first=links, epsilon=1e-5, random=random)
    return _as_data(y, pairs, _gaussians(y, 2, random, turning=False))


def mixhop(nodes: int = 5000, *, links: int = 6, classes: int = 10, homophily: float = 0.5, seed: int = 0) -> Data:
    """A graph like the MixHop files: classes on a circle, near ones rather linked than far ones.

    Classes are uniform. The nodes 1 to 39 form a path and node 0 stands alone; node s >= 40 links to ``links``
    different earlier nodes i, drawn with probability ~ k_i H[y_s, y_i], where H is ``homophily`` on the diagonal and
    elsewhere (1 - ``homophily``) 2^-d / Z, d the distance of the classes on the circle, rows summing up to 1.

    Args:
        nodes: N, more than 40; the number of a node is its time of arrival.
        links: of each new node.
        classes: at least 2.
        homophily: share of links to one's own class, in [0, 1], if classes had equal degrees.
        seed: of everything random.

    Returns:
        ``x`` (N, 2): Gaussian, the centres of the classes on a circle of radius 300, the covariance turning with them;
        ``edge_index`` (2, 2 E): both directions; ``y`` (N,); ``train_mask``, ``val_mask``, ``test_mask`` (N,): thirds
        by arrival, so that test nodes are young and have few links.
    """
    check_rate("mixhop", "homophily", homophily)
    if nodes <= _PATH or links < 1 or classes < 2:
        raise InputError(f"mixhop: {nodes} nodes, {links} links and {classes} classes, expected more than {_PATH} "
                         "nodes, at least 1 link and at least 2 classes")
    random = _random(seed)
    y = random.randint(classes, size=nodes)
    apart = np.abs(np.arange(classes)[:, None] - np.arange(classes))       # (C, C)
    near = 0.5 ** np.minimum(apart, classes - apart)
    np.fill_diagonal(near, 0)
    affinity = homophily * np.eye(classes) + (1 - homophily) * near / near.sum(1, keepdims=True)
    path = [(node, node + 1) for node in range(1, _PATH - 1)]
    pairs = _attach(y.tolist(), links, affinity.tolist(), start=path, first=_PATH, epsilon=0.0, random=random)
    data = _as_data(y, pairs, _gaussians(y, classes, random, turning=True))
    third = torch.arange(nodes) // (nodes // 3)
    data.train_mask, data.val_mask, data.test_mask = third == 0, third == 1, third >= 2
    return data


def _random(seed: int) -> np.random.RandomState:
    if not 0 <= seed < 2**32:
        raise InputError(f"seed {seed} is out of range: seeds are integers from 0 to 2^32 - 1")
    return np.random.RandomState(seed)


def _attach(y: Sequence[int], links: int, affinity: Sequence[Sequence[float]], *, start: Sequence[tuple[int, int]],
            first: int, epsilon: float, random: np.random.RandomState) -> list[tuple[int, int]]:
    """The links in order of arrival: node s >= ``first`` draws ``links`` different earlier nodes i with probability
    ~ affinity[y_s][y_i] (k_i + epsilon), degrees k_i as they were when it came.

    A class is drawn first, then one of its link ends, which has the right law at a cost that does not grow with the
    graph. A node drawn twice is drawn again: the same as weighing those left.
    """
    ends: list[list[int]] = [[] for _ in affinity]       # by class: a node as often as it has links
    members: list[list[int]] = [[] for _ in affinity]    # by class: the nodes that can be drawn at all
    degree, pairs = [0] * len(y), list(start)
    uniform = _uniforms(random)

    def link(a: int, b: int) -> None:
        for node in (a, b):
            if epsilon == 0 and degree[node] == 0:
                members[y[node]].append(node)
            degree[node] += 1
            ends[y[node]].append(node)

    for a, b in start:
        link(a, b)
    for node in range(first if epsilon > 0 else 0):
        members[y[node]].append(node)
    for node in range(first, len(y)):
        mine = affinity[y[node]]
        mass = [len(end) + epsilon * len(group) for end, group in zip(ends, members, strict=True)]
        weight = [share * part for share, part in zip(mine, mass, strict=True)]
        total = sum(weight)
        wanted = min(links, sum(len(group) for share, group in zip(mine, members, strict=True) if share > 0))
        chosen: list[int] = []
        misses = 0
        while len(chosen) < wanted:
            if misses < _MOST_MISSES:
                label = _pick(weight, next(uniform) * total)
                place = next(uniform) * mass[label]
                target = (ends[label][int(place)] if place < len(ends[label])
                          else members[label][min(int((place - len(ends[label])) / epsilon), len(members[label]) - 1)])
            else:
                target = _weighed(mine, members, degree, epsilon, chosen, next(uniform))
            if target in chosen:
                misses += 1
            else:
                chosen.append(target)
        for target in chosen:
            link(node, target)
        pairs += [(node, target) for target in chosen]
        if epsilon > 0:
            members[y[node]].append(node)
    return pairs


def _uniforms(random: np.random.RandomState) -> Iterator[float]:
    while True:
        yield from random.random_sample(1 << 12).tolist()


def _pick(weight: Sequence[float], place: float) -> int:
    """The entry whose part of the sum holds ``place``; never one of weight 0."""
    last = 0
    for number, share in enumerate(weight):
        if share > 0:
            last = number
            if place < share:
                return number
            place -= share
    return last


def _weighed(mine: Sequence[float], members: Sequence[Sequence[int]], degree: Sequence[int], epsilon: float,
             chosen: Sequence[int], place: float) -> int:
    """A node not yet chosen, every one of them weighed: for the rare arrival where nearly all weight is chosen."""
    left = [(node, share * (degree[node] + epsilon)) for share, group in zip(mine, members, strict=True) if share > 0
            for node in group if node not in chosen]
    weight = [share for _, share in left]
    return left[_pick(weight, place * sum(weight))][0]


def _gaussians(y: Array, classes: int, random: np.random.RandomState, *, turning: bool) -> Array:
    """(N, 2) points around centres (300 sin t, 300 cos t), t = 2 π c / classes, with the covariance diag(24500, 7000)
    of class 0, which ``turning`` turns by R(t)^T cov R(t)."""
    angle = 2 * math.pi * y / classes                                      # (N,)
    spread = random.standard_normal((len(y), 2)) * np.sqrt([24500.0, 7000.0])
    if turning:
        sin, cos = np.sin(angle), np.cos(angle)
        spread = np.stack([cos * spread[:, 0] + sin * spread[:, 1], cos * spread[:, 1] - sin * spread[:, 0]], axis=1)
    return np.stack([_RADIUS * np.sin(angle), _RADIUS * np.cos(angle)], axis=1) + spread


def _as_data(y: Array, pairs: Sequence[tuple[int, int]], x: Array) -> Data:
    one_way = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T          # (2, E)
    return Data(x=torch.from_numpy(x).float(), edge_index=torch.cat([one_way, one_way.flip(0)], dim=1),
                y=torch.from_numpy(y).long())


KARIMI = Dataset("karimi", "Homophilic preferential attachment", "Karimi et al., Homophily Influences Ranking of "
                 "Minorities in Social Networks, Scientific Reports 8, 2018", "random", nodes=5000, edges=9996,
                 features=2, classes=2, loader=karimi, licence="made by a rule")
MIXHOP = Dataset("mixhop", "A graph like the MixHop files", "Abu-El-Haija et al., MixHop, ICML 2019", "public",
                 nodes=5000, edges=29798, features=2, classes=10, loader=mixhop, licence="made by a rule")
