import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.datasets import attachment, karimi, mixhop, statistics
from sgcl.errors import InputError


def one_way(data):
    """The links in order of arrival."""
    return data.edge_index[:, :data.num_edges // 2].T.tolist()


@given(nodes=st.integers(5, 60), links=st.integers(1, 4), minority=st.sampled_from([0.1, 0.3, 0.5]),
       homophily=st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), seed=st.integers(0, 100))
def test_what_every_karimi_graph_has(nodes, links, minority, homophily, seed):
    data = karimi(nodes, links=links, minority=minority, homophily=homophily, seed=seed)
    pairs = one_way(data)
    assert data.is_undirected()
    assert int(data.y.sum()) == int(minority * nodes)
    assert len({tuple(sorted(pair)) for pair in pairs}) == len(pairs)
    for node in range(nodes):
        targets = [target for source, target in pairs if source == node]
        assert all(target < node for target in targets)
        same = [bool(data.y[other] == data.y[node]) for other in range(node)]
        can_link = sum((homophily > 0) if alike else (homophily < 1) for alike in same)
        assert len(targets) == (0 if node < links else min(links, can_link))
        assert all(homophily > 0 if same[target] else homophily < 1 for target in targets)


def expected_homophily(h, f):
    """The fixed point of the minority's share of the degrees, and the homophily of the edges that follows."""
    c = 2 * f
    for _ in range(1000):
        p_aa, p_ba = h * c / (h * c + (1 - h) * (2 - c)), (1 - h) * c / ((1 - h) * c + h * (2 - c))
        c = f * (1 + p_aa) + (1 - f) * p_ba
    return f * p_aa + (1 - f) * (1 - p_ba), (c / f) / ((2 - c) / (1 - f))


@pytest.mark.parametrize(("h", "f", "tolerance"), [(0.1, 0.5, 0.03), (0.7, 0.5, 0.03), (0.2, 0.2, 0.06),
                                                   (0.5, 0.2, 0.05), (0.8, 0.2, 0.05)])
def test_homophily_and_degrees_are_those_of_the_theory(h, f, tolerance):
    data = karimi(4000, links=2, minority=f, homophily=h, seed=1)
    edges, ratio = expected_homophily(h, f)
    assert statistics(data, sources=1)["homophily"] == pytest.approx(edges, abs=tolerance)
    degree = data.edge_index[0].bincount(minlength=4000).double()
    assert float(degree[data.y == 1].mean() / degree[data.y == 0].mean()) == pytest.approx(ratio, rel=0.2)


def test_links_have_the_stated_law():
    """The last of five nodes, over many seeds, against the weights worked out from the graph before it came."""
    y, affinity, start = [0, 1, 0, 1, 0], [[0.7, 0.3], [0.3, 0.7]], [(0, 1), (0, 2), (0, 3)]
    weight = np.array([affinity[0][y[node]] * (degree + 0.5) for node, degree in enumerate([3, 1, 1, 1])])
    pairs_law = {}
    for first in range(4):
        for second in set(range(4)) - {first}:
            chance = weight[first] / weight.sum() * weight[second] / (weight.sum() - weight[first])
            key = tuple(sorted((first, second)))
            pairs_law[key] = pairs_law.get(key, 0) + chance
    for misses in (50, 0):  # by drawing again, and by weighing those left
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(attachment, "_MOST_MISSES", misses)
            random, count, runs = np.random.RandomState(0), {}, 4000
            for _ in range(runs):
                drawn = attachment._attach(y, 2, affinity, start=start, first=4, epsilon=0.5, random=random)[3:]
                key = tuple(sorted(target for _, target in drawn))
                count[key] = count.get(key, 0) + 1
        for key, chance in pairs_law.items():
            assert count.get(key, 0) / runs == pytest.approx(chance, abs=0.025)


def test_a_hub_that_holds_all_weight_does_not_stall():
    data = karimi(300, links=5, minority=0.5, homophily=1.0, seed=0)
    assert statistics(data, sources=1)["homophily"] == 1


@pytest.mark.parametrize("homophily", [0.0, 0.1, 0.5, 0.9])
def test_mixhop_graphs_are_like_the_files(homophily):
    data = mixhop(2500, homophily=homophily, seed=0)
    pairs = one_way(data)
    assert data.is_undirected()
    assert len({tuple(sorted(pair)) for pair in pairs}) == len(pairs) == 38 + 6 * 2460
    assert pairs[:38] == [[node, node + 1] for node in range(1, 39)]
    assert [source for source, _ in pairs[38:]] == [node for node in range(40, 2500) for _ in range(6)]
    assert all(target < source for source, target in pairs[38:])
    found = statistics(data, sources=1)
    assert found["components"] == 2  # node 0 stays alone
    assert found["homophily"] == pytest.approx(homophily, abs=0.03)
    assert [int(mask.sum()) for mask in (data.train_mask, data.val_mask, data.test_mask)] == [833, 833, 834]
    assert bool(data.train_mask[:833].all() & data.test_mask[1666:].all())


def test_mixhop_classes_far_apart_are_rarely_linked():
    data = mixhop(3000, homophily=0.0, seed=0)
    apart = (data.y[data.edge_index[0]] - data.y[data.edge_index[1]]).abs()
    apart = torch.minimum(apart, 10 - apart)
    share = apart.bincount(minlength=6).double() / len(apart)
    assert torch.allclose(share, torch.tensor([0.0, 0.525, 0.262, 0.131, 0.066, 0.016]).double(), atol=0.015)


def test_features_stand_on_a_circle_and_turn_with_it():
    data = mixhop(20_000, links=1, homophily=0.5, seed=0)
    first = torch.tensor([[24500.0, 0.0], [0.0, 7000.0]]).double()
    for label in range(10):
        rows = data.x[data.y == label].double()
        angle = torch.tensor(2 * torch.pi * label / 10).double()
        centre = 300 * torch.stack([angle.sin(), angle.cos()])
        turn = torch.stack([torch.stack([angle.cos(), -angle.sin()]), torch.stack([angle.sin(), angle.cos()])])
        assert torch.allclose(rows.mean(0), centre, atol=20)
        assert torch.allclose(torch.cov(rows.T), turn.T @ first @ turn, atol=3000)


def test_groups_of_karimi_stand_opposite_with_one_covariance():
    data = karimi(8000, links=1, seed=0)
    for label, centre in ((0, 300.0), (1, -300.0)):
        rows = data.x[data.y == label].double()
        assert torch.allclose(rows.mean(0), torch.tensor([0.0, centre]).double(), atol=15)
        assert torch.allclose(torch.cov(rows.T), torch.diag(torch.tensor([24500.0, 7000.0]).double()), atol=2500)


@settings(max_examples=5)
@given(seed=st.integers(0, 1000))
def test_the_seed_decides_and_global_generators_are_left_alone(seed):
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    for make in (karimi, mixhop):
        first, again, other = make(80, seed=seed), make(80, seed=seed), make(80, seed=seed + 1)
        assert torch.equal(first.edge_index, again.edge_index)
        assert torch.equal(first.x, again.x)
        assert not torch.equal(first.x, other.x)
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize(("make", "settings_", "message"), [
    (karimi, {"homophily": 1.1}, "karimi: homophily is 1.1, expected a probability"),
    (karimi, {"minority": 0.6}, "karimi: minority is 0.6, expected a share above 0 and up to 0.5"),
    (karimi, {"nodes": 2}, "karimi: 2 nodes with 2 links each, expected at least 1 link and more nodes"),
    (karimi, {"links": 0}, "karimi: 5000 nodes with 0 links each"),
    (karimi, {"seed": -1}, "seed -1 is out of range"),
    (mixhop, {"homophily": -0.1}, "mixhop: homophily is -0.1, expected a probability"),
    (mixhop, {"nodes": 40}, "mixhop: 40 nodes, 6 links and 10 classes, expected more than 40 nodes"),
    (mixhop, {"classes": 1}, "mixhop: 5000 nodes, 6 links and 1 classes")])
def test_settings_are_checked(make, settings_, message):
    with pytest.raises(InputError, match=message):
        make(**settings_)
