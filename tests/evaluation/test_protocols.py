import os

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData, TemporalData

from sgcl import datasets
from sgcl.errors import InputError
from sgcl.evaluation import (
    PROTOCOLS,
    Development,
    Fixed,
    Grace,
    Linkx,
    Ogb,
    Public,
    Random,
    Redrawn,
    Sgcl,
    knn_probe,
    linear_probe,
    published_probe,
)
from sgcl.evaluation import protocol as module

ROOT = os.environ.get("SGCL_DATA")


def ring(y):
    """Nodes in a circle, each with its label."""
    nodes = torch.arange(len(y))
    return Data(x=torch.ones(len(y), 1), edge_index=torch.stack([nodes, nodes.roll(-1)]), y=torch.as_tensor(y))


def sets(split):
    return [set(nodes.tolist()) for nodes in (split.train, split.val, split.test)]


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.sets.values(), b.sets.values(), strict=True))


def test_names():
    assert list(PROTOCOLS) == ["public", "random", "development", "sgcl", "redrawn", "fixed", "grace", "ogb", "linkx",
                               "tu"]
    assert all(name == protocol.name for name, protocol in PROTOCOLS.items())
    with pytest.raises(InputError, match=r"no protocol named 'develop'; did you mean 'development'\? known: "):
        PROTOCOLS["develop"]


@given(labels=st.lists(st.integers(-1, 3), min_size=10, max_size=80), seed=st.integers(0, 2**32 - 1))
def test_random_deals_out_the_labelled_nodes_and_no_others(labels, seed):
    labelled = {node for node, label in enumerate(labels) if label >= 0}
    if len(labelled) < 10:
        with pytest.raises(InputError, match=f"random: 10/10/80 of {len(labelled)} labelled nodes leaves a set empty"):
            Random().split(ring(labels), seed)
        return
    train, val, test = sets(Random().split(ring(labels), seed))
    assert train | val | test == labelled
    assert len(train) + len(val) + len(test) == len(labelled)
    assert len(train) == len(labelled) // 10
    assert len(test) == len(labelled) * 8 // 10
    assert len(val) >= len(train)


def test_random_gives_the_large_part_to_the_test():
    assert Random().split(ring([0, 1] * 1354), 0).sizes == (270, 272, 2166)  # as many nodes as Cora


@pytest.mark.parametrize("protocol", [Random(), Development(size=40, per_class=3),
                                      Redrawn(size=40, per_class=3), Grace(), Linkx()])
def test_the_seed_decides(protocol):
    data = ring([0, 1, 2] * 30)
    assert same(protocol.split(data, 7), protocol.split(data, 7))
    assert not same(protocol.split(data, 7), protocol.split(data, 8))
    for nodes in protocol.split(data, 7).sets.values():
        assert nodes.tolist() == sorted(nodes.tolist())


def test_splits_leave_the_global_generators_alone():
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    Random().split(ring([0, 1] * 20), 0)
    Development(size=20, per_class=2).split(ring([0, 1] * 20), 0)
    assert (np.random.get_state()[1] == before).all()


@given(labels=st.lists(st.integers(0, 2), min_size=30, max_size=60), seed=st.integers(0, 100))
def test_development_by_plain_loops(labels, seed):
    size, per_class = 25, 2
    drawn = np.random.RandomState(1684992425).choice(len(labels), size, replace=False).tolist()
    random, train = np.random.RandomState(seed), []
    protocol = Development(size=size, per_class=per_class)
    for label in range(max(labels) + 1):
        members = [node for node in drawn if labels[node] == label]
        if len(members) < per_class:
            with pytest.raises(InputError, match=f"development: class {label} has {len(members)} of the 25 "):
                protocol.split(ring(labels), seed)
            return
        train += random.choice(members, per_class, replace=False).tolist()
    found = sets(protocol.split(ring(labels), seed))
    assert found[0] == set(train)
    assert found[1] == {node for node in drawn if node not in train}
    assert found[2] == {node for node in range(len(labels)) if node not in drawn}


def test_development_tests_the_same_nodes_in_all_runs():
    data = ring([0, 1, 2] * 30)
    first, second = (Development(size=40, per_class=3).split(data, seed) for seed in (0, 1))
    assert torch.equal(first.test, second.test)
    assert not torch.equal(first.train, second.train)


def test_the_papers_split_is_one_with_training_nodes_drawn_with_replacement():
    labels = [0, 1, 2] * 30
    found = [sets(Sgcl(size=40, per_class=9).split(ring(labels), seed)) for seed in (0, 1)]
    assert found[0] == found[1]
    drawn = np.random.RandomState(12345).choice(90, 40, replace=False)
    random, train = np.random.RandomState(12345), []
    for label in range(3):
        train += random.choice([node for node in drawn if labels[node] == label], 9).tolist()
    assert len(set(train)) < 27
    assert found[0] == [set(train), set(drawn.tolist()) - set(train), set(range(90)) - set(drawn.tolist())]
    with pytest.raises(InputError):
        Sgcl(size=40, per_class=9).split(ring(labels), -1)


def test_redrawn_tests_other_nodes_in_every_run():
    data = ring([0, 1, 2] * 30)
    first, second = (Redrawn(size=40, per_class=3).split(data, seed) for seed in (0, 1))
    assert first.sizes == second.sizes == (9, 31, 50)
    assert not torch.equal(first.test, second.test)
    drawn = set(np.random.RandomState(1).choice(90, 40, replace=False).tolist())
    assert set(second.train.tolist()) | set(second.val.tolist()) == drawn
    with pytest.raises(InputError, match="redrawn: the largest component has 90 labelled nodes, but 1500 are for"):
        Redrawn().split(data, 0)


def test_development_leaves_out_unlabelled_nodes():
    labels = [0, 1, -1] * 30
    train, val, test = sets(Development(size=40, per_class=3).split(ring(labels), 0))
    assert train | val | test == {node for node, label in enumerate(labels) if label >= 0}
    assert len(train | val) == 40


def test_development_takes_more_of_coauthor_cs():
    data = ring([0, 1] * 3000)
    assert Development().split(data, 0).sizes == (40, 1460, 4500)
    data.name = "coauthor-cs"
    assert Development().split(data, 0).sizes == (40, 4960, 1000)
    assert Development(size=100).split(data, 0).sizes == (40, 60, 5900)


def test_development_is_for_the_largest_component():
    data = ring([0, 1] * 30)
    data.edge_index = torch.cat([data.edge_index[:, 10:59], torch.tensor([[0], [1]])], dim=1)
    protocol = Development(size=20, per_class=2)
    with pytest.raises(InputError, match=r"development: the graph has more than one component: split what restrict"):
        protocol.split(data, 0)
    part = protocol.restrict(data)
    assert part.n_id.tolist() == list(range(10, 60))
    assert protocol.split(part, 0).sizes == (4, 16, 30)
    for other in (Public(), Random(), Fixed(), Grace(), Ogb(), Linkx()):
        assert other.restrict(data) is data


def test_development_needs_room():
    with pytest.raises(InputError, match="development: the largest component has 40 labelled nodes, but 1500 are for "
                                         "development and the rest for testing: use the protocol 'random'"):
        Development().split(ring([0, 1] * 20), 0)
    with pytest.raises(InputError, match="development: size is 0, expected at least 1 node"):
        Development(size=0)
    with pytest.raises(InputError, match="development: per_class is 0, expected at least 1 node"):
        Development(per_class=0)


@pytest.mark.parametrize("seed", [-1, 2**32])
@pytest.mark.parametrize("protocol", [Random(), Development(size=20, per_class=2), Redrawn(size=20, per_class=2),
                                      Fixed(), Grace(), Linkx()])
def test_seeds_out_of_range_are_refused(protocol, seed):
    data = ring([0, 1] * 30)
    data.train_mask = data.val_mask = data.test_mask = torch.zeros(60, 2, dtype=torch.bool)
    with pytest.raises(InputError, match=f"seed {seed} is out of range: seeds are integers from 0 to 2"):
        protocol.split(data, seed)


def masked(train, val, test, y=(0, 1, 0, 1)):
    data = ring(list(y))
    for name, mask in (("train_mask", train), ("val_mask", val), ("test_mask", test)):
        data[name] = torch.tensor(mask, dtype=torch.bool)
    return data


def test_public_reads_the_masks_whatever_the_seed():
    data = masked([1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1])
    for seed in (0, 5):
        assert sets(Public().split(data, seed)) == [{0}, {2}, {1, 3}]
    data.y[3] = -1
    assert sets(Public().split(data, 0)) == [{0}, {2}, {1}]


def test_fixed_reads_mask_i_and_begins_again():
    data = masked([[1, 0], [0, 1], [0, 0], [0, 0]], [[0, 0], [1, 0], [0, 1], [0, 0]], [[0, 1], [0, 0], [1, 0], [1, 1]])
    assert sets(Fixed().split(data, 0)) == [{0}, {1}, {2, 3}]
    assert sets(Fixed().split(data, 1)) == [{1}, {2}, {0, 3}]
    assert same(Fixed().split(data, 0), Fixed().split(data, 2))


def test_masks_are_checked():
    one, many = masked([1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]), masked(*[[[0, 0]] * 4] * 3)
    with pytest.raises(InputError, match="public: the graph has 2 splits, not one: use the protocol 'fixed'"):
        Public().split(many, 0)
    with pytest.raises(InputError, match="fixed: the graph has a single split: use the protocol 'public'"):
        Fixed().split(one, 0)
    with pytest.raises(InputError, match="public: the graph has no train_mask: set it, or use the protocol 'random'"):
        Public().split(ring([0, 1]), 0)
    with pytest.raises(InputError, match="split: a node is in two of train, val and test"):
        Public().split(masked([1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 1]), 0)
    one.val_mask = torch.tensor([0, 0, 1, 0])
    with pytest.raises(InputError, match=r"public: val_mask is torch.int64 of shape \(4,\), expected booleans \(N,\)"):
        Public().split(one, 0)
    one.val_mask = many.val_mask
    with pytest.raises(InputError, match="public: train_mask, val_mask and test_mask differ in shape"):
        Public().split(one, 0)


@pytest.mark.parametrize("protocol", [Public(), Random(), Development(), Redrawn(), Fixed(), Grace(), Ogb(), Linkx()])
def test_every_protocol_asks_for_labels(protocol):
    data = ring([0, 1, 0, 1])
    shape = (4, 2) if protocol.name == "fixed" else (4,)
    data.train_mask = data.val_mask = data.test_mask = torch.zeros(shape, dtype=torch.bool)
    data.y = None
    with pytest.raises(InputError, match=f"{protocol.name}: the graph has no labels: set data.y"):
        protocol.split(data, 0)


@pytest.mark.parametrize(("name", "steps", "every"), [("public", 100, None), ("random", 5000, 20),
                                                      ("development", 5000, 20), ("fixed", 5000, 20),
                                                      ("linkx", 5000, 20)])
def test_the_probe_of_the_papers(name, steps, every, monkeypatch):
    monkeypatch.setattr(module, "published_probe", lambda *arguments, **settings: (arguments, settings))
    arguments, settings = PROTOCOLS[name].published_probe("embedding", "labels", "split", seed=3)
    assert arguments == ("embedding", "labels", "split")
    assert settings == {"steps": steps, "every": every, "seed": 3}


def test_the_probe_of_the_public_split_runs_to_its_last_step():
    data = ring([0, 1] * 20)
    result = Public().published_probe(data.y[:, None].float(), data.y, Random().split(data, 0), seed=0)
    assert (result.step, result.test) == (100, 1)


@given(labels=st.lists(st.integers(-1, 3), min_size=40, max_size=90), seed=st.integers(0, 2**32 - 1))
def test_grace_trains_on_a_tenth_and_tests_on_the_rest(labels, seed):
    labelled = {node for node, label in enumerate(labels) if label >= 0}
    if len(labelled) < 50:
        with pytest.raises(InputError, match=f"grace: 10 % of {len(labelled)} labelled nodes are "):
            Grace().split(ring(labels), seed)
        return
    train, val, test = sets(Grace().split(ring(labels), seed))
    assert train | test == labelled
    assert not train & test
    assert not val
    assert len(train) == len(labelled) // 10


@given(labels=st.lists(st.integers(-1, 3), min_size=4, max_size=60), seed=st.integers(0, 2**32 - 1))
def test_linkx_has_five_fixed_splits_of_the_labelled_nodes(labels, seed):
    labelled = {node for node, label in enumerate(labels) if label >= 0}
    if len(labelled) < 4:
        with pytest.raises(InputError, match=f"linkx: 50/25/25 of {len(labelled)} labelled nodes leaves a set empty"):
            Linkx().split(ring(labels), seed)
        return
    train, val, test = sets(Linkx().split(ring(labels), seed))
    assert train | val | test == labelled
    assert len(train) + len(val) + len(test) == len(labelled)
    assert (len(train), len(val)) == (len(labelled) // 2, len(labelled) // 4)
    assert same(Linkx().split(ring(labels), seed), Linkx().split(ring(labels), seed % 5))


def test_linkx_splits_are_five_different_ones():
    data = ring([0, 1] * 20)
    found = [Linkx().split(data, seed) for seed in range(5)]
    assert not any(same(found[a], found[b]) for a in range(5) for b in range(a))
    assert len(data.y) == 40
    assert found[0].sizes == (20, 10, 10)


def test_ogb_reads_the_masks_of_several_tasks():
    data = masked([1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1])
    assert sets(Ogb().split(data, 3)) == [{0}, {2}, {1, 3}]
    data.y = torch.tensor([[0, 1], [1, 0], [1, 1], [-1, -1]])
    assert sets(Ogb().split(data, 0)) == [{0}, {2}, {1}]
    with pytest.raises(InputError, match="ogb: the graph has 2 splits, not one: use the protocol 'fixed'"):
        Ogb().split(masked(*[[[0, 0]] * 4] * 3), 0)


def learnable(classes=2, n=120, tasks=False):
    """A graph whose classes can be guessed from an embedding, with masks for every protocol."""
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(classes, (n,), generator=generator)
    embedding = torch.randn(n, 5, generator=generator) + 0.7 * torch.eye(classes, 5)[y]
    data = ring(y)
    third = torch.randperm(n, generator=generator) % 3
    data.train_mask, data.val_mask, data.test_mask = third == 0, third == 1, third == 2
    if tasks:
        data.y = torch.stack([y, 1 - y], dim=1)
    return embedding, data


def permuted(data, test):
    """The same graph, the labels of the test nodes dealt out anew among them."""
    other = data.clone()
    other.y[test] = data.y[test][torch.randperm(len(test), generator=torch.Generator().manual_seed(1))]
    assert not torch.equal(other.y, data.y)
    return other


CASES = [(Public(), False), (Random(), False), (Development(size=60, per_class=5), False),
         (Redrawn(size=60, per_class=5), False), (Fixed(), False), (Grace(), False), (Ogb(), False), (Ogb(), True),
         (Linkx(), False)]


def probe_of(protocol, kind):
    if kind == "knn":
        return lambda embedding, y, split, seed: knn_probe(embedding, y, split)
    return protocol.published_probe if kind == "published" else protocol.probe


@pytest.mark.parametrize(("protocol", "tasks", "kind"), [
    (protocol, tasks, kind) for protocol, tasks in CASES for kind in ("converged", "published", "knn")
    if kind != "knn" or not (tasks or protocol.name == "grace")])  # k is chosen on validation nodes, of one class each
def test_no_protocol_looks_at_the_labels_of_test_nodes(protocol, tasks, kind, monkeypatch):
    monkeypatch.setattr(Random, "steps", 40)
    monkeypatch.setattr(Development, "steps", 40)
    monkeypatch.setattr(Fixed, "steps", 40)
    monkeypatch.setattr(Linkx, "steps", 40)
    embedding, data = learnable(tasks=tasks)
    if protocol.name == "fixed":
        for name in ("train_mask", "val_mask", "test_mask"):
            data[name] = data[name][:, None]
    split = protocol.split(data, 3)
    other = permuted(data, split.test)
    assert same(split, protocol.split(other, 3))
    strange = data.y.clone()
    strange[split.test] = 1 - data.y[split.test] if tasks else 7           # a class that no other node has
    probe = probe_of(protocol, kind)
    before = probe(embedding, data.y, split, seed=2)
    assert before.choice
    for labels in (other.y, strange):
        after = probe(embedding, labels, split, seed=2)
        assert after.choice == before.choice
        assert torch.equal(after.predictions, before.predictions)
        assert torch.equal(after.scores, before.scores)
        assert (after.train, after.val) == pytest.approx((before.train, before.val), abs=0, nan_ok=True)
    assert after.test != before.test


def test_the_probes_of_the_protocols():
    embedding, data = learnable()
    split = Random().split(data, 0)
    assert Random().probe(embedding, data.y, split) == linear_probe(embedding, data.y, split)
    assert Linkx().probe(embedding, data.y, split, metric="roc-auc").metric == "roc-auc"
    assert Grace().probe(embedding, data.y, split).metric == "micro-f1"
    assert Ogb().probe(embedding, torch.stack([data.y, data.y], dim=1), split).metric == "roc-auc"
    decays = [2.0**power for power in (-10, -8, -6, -4, -2, 0, 2, 4, 6, 8)]
    expected = published_probe(embedding, data.y, split, steps=100, every=None, seed=1, normalise=True, decays=decays)
    assert Ogb().published_probe(embedding, data.y, split, seed=1) == expected


@pytest.mark.parametrize("protocol", [Public(), Random(), Development(), Redrawn(), Fixed(), Grace(), Ogb(), Linkx()])
@pytest.mark.parametrize(("data", "message"), [
    (HeteroData(), r"heterogeneous graphs \(HeteroData\) are not supported; use data.to_homogeneous\(\)"),
    (TemporalData(), r"temporal graphs \(TemporalData\) are not supported; drop the times"),
    (None, "expected a torch_geometric.data.Data, got NoneType")])
def test_other_kinds_of_graphs(protocol, data, message):
    with pytest.raises(InputError, match=f"{protocol.name}: {message}"):
        protocol.split(data, 0)


def test_the_largest_component_of_weighted_graphs():
    data = ring([0, 1] * 30)
    data.edge_weight = torch.full((60,), -1.0)
    with pytest.raises(InputError, match=r"data\.edge_weight holds negative, NaN or infinite values: weights must be"):
        Development().restrict(data)
    with pytest.raises(InputError, match=r"development: heterogeneous graphs \(HeteroData\) are not supported"):
        Development().restrict(HeteroData())


SIZES = [("cora", "public", (140, 500, 1000)), ("citeseer", "public", (120, 500, 1000)),
         ("pubmed", "public", (60, 500, 1000)), ("cora", "random", (270, 272, 2166)),
         ("cora", "development", (140, 1360, 985)), ("citeseer", "development", (120, 1380, 620)),
         ("pubmed", "development", (60, 1440, 18217)), ("photo", "development", (160, 1340, 5987)),
         ("computers", "development", (200, 1300, 11881)), ("coauthor-cs", "development", (300, 4700, 13333)),
         ("chameleon", "fixed", (1092, 729, 456)), ("actor", "fixed", (3648, 2432, 1520)),
         ("cornell", "fixed", (87, 59, 37)), ("texas", "fixed", (87, 59, 37)), ("wisconsin", "fixed", (120, 80, 51)),
         ("cora", "grace", (270, 0, 2438)), ("homophily-0.5", "public", (1666, 1666, 1668)),
         ("cora", "linkx", (1354, 677, 677))]


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SGCL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.parametrize(("name", "protocol", "sizes"), [
    pytest.param(*case, marks=pytest.mark.skipif(not ROOT or not datasets.available(case[0], ROOT),
                                                 reason=f"needs SGCL_DATA: {case[0]}")) for case in SIZES])
def test_published_sizes(name, protocol, sizes, shared_cache):
    chosen = PROTOCOLS[protocol]
    data = chosen.restrict(datasets.load(name, ROOT))
    for seed in range(data.train_mask.size(1) if protocol == "fixed" else 3):
        split = chosen.split(data, seed)                                   # disjoint, else it could not be made
        assert split.sizes == sizes
        assert max(int(nodes.max()) for nodes in split.sets.values() if len(nodes)) < data.num_nodes
    if protocol != "public" or name.startswith("homophily"):               # Planetoid's leaves most nodes out
        assert sum(sizes) == int((data.y >= 0).sum()) == data.num_nodes
    if protocol in ("public", "development") and not name.startswith("homophily"):
        assert torch.bincount(data.y[split.train]).tolist() == [20] * datasets.DATASETS[name].classes


@pytest.mark.parametrize("kind", ["converged", "published", "knn"])
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.skipif(not ROOT or not datasets.available(name, ROOT),
                                                reason=f"needs SGCL_DATA: {name}"))
    for name in ("cora", "citeseer", "pubmed")])
def test_the_public_splits_keep_their_test_labels_to_themselves(name, kind, shared_cache):
    data = datasets.load(name, ROOT)
    embedding = data.x.to_dense() @ torch.randn(data.num_features, 16, generator=torch.Generator().manual_seed(0))
    split = Public().split(data, 0)
    assert same(split, Public().split(permuted(data, split.test), 0))
    before, after = (probe_of(Public(), kind)(embedding, labels, split, seed=0)
                     for labels in (data.y, permuted(data, split.test).y))
    assert before.choice == after.choice
    assert before.val == after.val
    assert torch.equal(before.predictions, after.predictions)
    assert before.test > after.test
