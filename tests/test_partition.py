import importlib.util
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError, partition
from sgcl.datasets import sbm
from sgcl.graph import Graph
from sgcl.partition import partition as cut_up
from sgcl.sparse import CSR

WAYS = ["streaming", pytest.param("metis", marks=pytest.mark.skipif(
    importlib.util.find_spec("pymetis") is None, reason="needs pymetis"))]


def graph(nodes: int, pairs: list[tuple[int, int]]) -> CSR:
    row, col = torch.tensor(pairs or np.zeros((0, 2), int), dtype=torch.long).reshape(-1, 2).T
    return CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), shape=(nodes, nodes), symmetric=True)


@pytest.mark.parametrize("how", WAYS)
def test_two_cliques_with_a_bridge_come_apart_at_the_bridge(how):
    clique = [(i, j) for i in range(6) for j in range(i)]
    found = cut_up(graph(12, [*clique, *((i + 6, j + 6) for i, j in clique), (0, 6)]), 2, how=how)
    assert len(set(found.part[:6])) == len(set(found.part[6:])) == 1
    assert found.part[0] != found.part[6]
    assert found.cut == pytest.approx(1 / 31)
    assert (found.balance, found.how) == (1.0, how)


@pytest.mark.parametrize("how", WAYS)
def test_planted_blocks_are_cut_less_than_at_random(how):
    adj = Graph.from_data(sbm(2000, edges=10_000, classes=4, homophily=0.9, seed=0)).adj
    found = cut_up(adj, 4, how=how)
    assert found.cut < 0.5  # 0.75 at random
    assert found.balance <= 1.06


def twin(adj: CSR, parts: int) -> list[int]:
    """The streaming partitioner as its formula says."""
    nodes = adj.shape[0]
    neighbours = [adj.idx[adj.ptr[node]:adj.ptr[node + 1]].tolist() for node in range(nodes)]
    room, part = max(int(1.05 * nodes / parts), -(-nodes // parts)), [-1] * nodes
    for _ in range(5):
        size = [0] * parts
        for node in range(nodes):
            near = [sum(part[other] == p for other in neighbours[node]) for p in range(parts)]
            free = [p for p in range(parts) if size[p] < room]
            part[node] = max(free, key=lambda p: (near[p] * (1 - size[p] / room), -size[p], -p))
            size[part[node]] += 1
    return part


@given(st.integers(1, 12).flatmap(lambda nodes: st.tuples(
    st.just(nodes), st.integers(1, nodes), st.lists(st.tuples(*[st.integers(0, nodes - 1)] * 2).filter(
        lambda pair: pair[0] != pair[1]), max_size=25))))
def test_streaming_is_its_slow_twin_and_counts_right(drawn):
    nodes, parts, pairs = drawn
    adj = graph(nodes, pairs)
    found = cut_up(adj, parts, how="streaming")
    assert found.part.tolist() == (twin(adj, parts) if parts > 1 else [0] * nodes)
    crossing = [bool(found.part[i] != found.part[j]) for i, j in zip(adj.row.tolist(), adj.idx.tolist(), strict=True)]
    assert found.cut == pytest.approx(sum(crossing) / max(len(crossing), 1))
    assert found.balance == pytest.approx(np.bincount(found.part).max() * parts / nodes)


def test_rows_may_be_memory_mapped(tmp_path):
    adj = graph(4, [(0, 1), (2, 3)])
    for name in ("ptr", "idx"):
        np.save(tmp_path / name, getattr(adj, name).numpy())
    with warnings.catch_warnings(action="ignore"):  # that the map is not writable, said once a process
        mapped = CSR(*(torch.from_numpy(np.load(tmp_path / f"{name}.npy", mmap_mode="r")) for name in ("ptr", "idx")))
    assert cut_up(mapped, 2, how="streaming").cut == 0


def test_metis_is_taken_where_it_is_installed(monkeypatch):
    adj = graph(2, [(0, 1)])
    for there, how in ((True, "metis"), (None, "streaming")):
        monkeypatch.setattr(partition, "find_spec", lambda name, there=there: there)
        monkeypatch.setattr(partition, "_metis", lambda ptr, idx, parts: np.array([0, 1]))
        assert cut_up(adj, 2).how == how


@pytest.mark.parametrize(("parts", "how", "why"), [
    (0, "auto", "cannot cut 2 nodes into 0 parts: expected 1 to 2"), (3, "auto", "cannot cut 2 nodes into 3 parts"),
    (2, "meti", "no way to partition named 'meti'; did you mean 'metis'")])
def test_bad_requests_are_told(parts, how, why):
    with pytest.raises(InputError, match=why):
        cut_up(graph(2, [(0, 1)]), parts, how=how)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pymetis", None)
    with pytest.raises(InputError, match="METIS is not installed: pip install"):
        cut_up(graph(2, [(0, 1)]), 2, how="metis")
