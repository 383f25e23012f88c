"""A store cut into parts keeps all of each node, and of the edges exactly those inside a part."""

import json
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from parted import made_store, ring

from sgcl.errors import InputError
from sgcl.store import cut, cut_store, manifest, read_store, verify


def dense(path: Path) -> np.ndarray:
    """(N, N) the adjacency of a store."""
    return read_store(path).graph.adj.to_dense().numpy()


@st.composite
def stores(draw):
    nodes = draw(st.integers(4, 12))
    pairs = draw(st.lists(st.tuples(*[st.integers(0, nodes - 1)] * 2).filter(lambda pair: pair[0] != pair[1]),
                          min_size=1, max_size=25))
    return nodes, pairs, draw(st.integers(1, nodes // 2)), draw(st.booleans()), draw(st.booleans())


@settings(max_examples=25)
@given(stores(), st.sampled_from([1, 3, 1000]))
def test_parts_hold_the_graph_but_for_the_edges_between_them(drawn, entries):
    nodes, pairs, parts, weighted, sparse = drawn
    y = np.arange(nodes) % 3 - 1
    with tempfile.TemporaryDirectory() as room, mock.patch("os.fsync"), mock.patch.multiple(
            cut, _AN_ENTRY=manifest._LEAST // entries, _OPEN=2):
        store = made_store(Path(room, "g.store"), nodes, pairs, weighted=weighted, sparse=sparse, y=y,
                           classes=np.array(["one", "two"]), train_mask=y > 0)
        whole, features = dense(store), read_store(store).graph.x[:]
        try:
            found = cut_store(store, Path(room, "parts"), parts, how="streaming", memory=manifest._LEAST + 32 * nodes)
        except InputError:  # a part of fewer than two nodes
            assume(False)
        part_of, kept = np.full(nodes, -1), 0
        for number in range(parts):
            path = Path(room, "parts", f"part-{number}.store")
            stated, data = verify(path), read_store(path)
            own = data.ids // 10
            assert (np.diff(own) > 0).all()
            assert (part_of[own] == -1).all()
            part_of[own] = number
            np.testing.assert_array_equal(dense(path), whole[np.ix_(own, own)])
            assert (data.graph.adj.value is None) == (not weighted)
            taken = data.graph.x[:], features[torch.from_numpy(own)]
            assert torch.equal(*(x.matrix.to_dense() if sparse else x for x in taken))
            assert data.y.tolist() == y[own].tolist()
            assert data.train_mask.tolist() == (y > 0)[own].tolist()
            assert data.classes.tolist() == ["one", "two"]
            assert data.feature_names == ["a", "b", "c"]
            listed = found["parts"][number]
            assert listed == {"nodes": len(own), "edges": stated["edges"], "digest": stated["digest"]}
            kept += stated["edges"]
        assert (part_of >= 0).all()
        row, col = whole.nonzero()
        assert found["cut"] == pytest.approx(np.mean(part_of[row] != part_of[col]))
        assert found["edges"] == kept == np.sum(part_of[row] == part_of[col]) // 2
        assert found["nodes"] == nodes
        assert found["balance"] == pytest.approx(np.bincount(part_of).max() * parts / nodes)
        assert json.loads(Path(room, "parts", "manifest.json").read_text()) == found


def test_what_is_kept_has_its_type(tmp_path):
    store = made_store(tmp_path / "g.store", 6, ring(6), dtype="float16", ids=np.array([f"node {i}" for i in range(6)]),
                       y=np.eye(6, 2, dtype=np.int8))
    cut_store(store, tmp_path / "parts", 2, how="streaming")
    before, after = verify(store)["arrays"], verify(tmp_path / "parts" / "part-1.store")["arrays"]
    assert before.keys() == after.keys()
    assert {name: record["dtype"] for name, record in before.items()} == {
        name: record["dtype"] for name, record in after.items()}
    assert after["y"]["shape"] == [3, 2]
    assert read_store(tmp_path / "parts" / "part-1.store").ids[0].startswith("node ")
    assert not list((tmp_path / "parts").glob(".*"))


def test_metis_is_left_out_where_it_does_not_fit(tmp_path, monkeypatch):
    asked = []

    def noted(adj, parts, *, how):
        asked.append(how)
        raise KeyboardInterrupt

    monkeypatch.setattr(cut, "partition", noted)
    store = made_store(tmp_path / "g.store", 8, ring(8))
    for share in (0, 1 << 40):
        monkeypatch.setattr(cut, "_OF_METIS", share)
        with pytest.raises(KeyboardInterrupt):
            cut_store(store, tmp_path / "parts", 2)
    assert asked == ["auto", "streaming"]


@pytest.mark.parametrize("at", ["finding the parts", "writing the edges", "writing x", "writing y"])
def test_cut_short_it_leaves_nothing_behind(tmp_path, at):
    store = made_store(tmp_path / "g.store", 8, ring(8), y=np.zeros(8, np.int64))

    def stop(what, share):
        if what == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_store(store, tmp_path / "parts", 2, how="streaming", tell=stop)
    assert [file.name for file in tmp_path.iterdir()] == ["g.store"]


@pytest.mark.parametrize(("parts", "memory", "why"), [
    (0, "2GB", "cannot cut 8 nodes into 0 parts of two or more: expected 1 to 4"),
    (5, "2GB", "cannot cut 8 nodes into 5 parts of two or more: expected 1 to 4"),
    (2, "1MB", r"memory is 1 MB, but to cut 8 nodes takes at least 65 MB \(--memory\)")])
def test_requests_out_of_range_are_told(tmp_path, parts, memory, why):
    store = made_store(tmp_path / "g.store", 8, ring(8))
    with pytest.raises(InputError, match=why):
        cut_store(store, tmp_path / "parts", parts, memory=memory)
    assert not (tmp_path / "parts").exists()


def test_a_part_of_a_single_node_is_refused(tmp_path, monkeypatch):
    store = made_store(tmp_path / "g.store", 4, ring(4))
    found = cut.partition(read_store(store).graph.adj, 1)
    monkeypatch.setattr(cut, "partition", lambda adj, parts, how: found._replace(part=np.array([0, 0, 0, 1])))
    with pytest.raises(InputError, match="part 1 of 2 would have 1 nodes: take fewer parts"):
        cut_store(store, tmp_path / "parts", 2)
    assert [file.name for file in tmp_path.iterdir()] == ["g.store"]
