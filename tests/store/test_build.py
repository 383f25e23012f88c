"""A store holds the graph that the reader makes of the same files."""

import gzip

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.readers import read_graph
from sgcl.sparse import SparseFeatures
from sgcl.store import import_graph, open_store, read_store

pa = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def assert_same(store, edges, **given):
    """The graph, the ids, labels and notes of a store are those of the reader."""
    data, expected = read_store(store), read_graph(edges, **given)
    graph, whole = data.graph, Graph.from_data(expected)
    assert torch.equal(graph.adj.ptr, whole.adj.ptr)
    assert torch.equal(graph.adj.idx.long(), whole.adj.idx)
    assert graph.adj.idx.dtype == torch.int32
    assert (graph.adj.value is None) == (whole.adj.value is None)
    if graph.adj.value is not None:
        assert torch.equal(graph.adj.value, whole.adj.value)
    ours, theirs = (x.to_dense() if isinstance(x, SparseFeatures) else x for x in (graph.x[:], whole.x))
    assert torch.equal(ours, theirs)
    assert np.array_equal(data.ids, expected.ids)
    assert data.ids.dtype == expected.ids.dtype
    for name in ("y", "classes"):
        assert (data.get(name) is None) == (expected.get(name) is None)
        if data.get(name) is not None:
            assert np.array_equal(data[name], expected[name])
    assert data.get("feature_names") == expected.get("feature_names")


@st.composite
def sources(draw):
    """Rows of edges with loops, repeats and weights of 0, ids of any kind, features in any order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes = draw(st.integers(2, 12))
    kind = draw(st.sampled_from(["dense", "wide", "text"]))
    ids = {"dense": np.arange(nodes), "wide": np.sort(rng.choice(10**12, nodes, replace=False) - 5 * 10**11),
           "text": np.array([f"n{number}" for number in range(nodes)])}[kind]
    ends = np.concatenate([rng.integers(nodes, size=(2, draw(st.integers(1, 40)))), [[0], [1]]], axis=1)
    weight = [*rng.choice([0.0, 0.25, 1.0, 1.5], ends.shape[1] - 1).tolist(), 1.0] if draw(st.booleans()) else None
    return ids, ends, weight, rng.permutation(nodes), rng.standard_normal((nodes, 3)).astype(np.float32)


def write_edges(path, ids, ends, weight):
    columns = {"source": ids[ends[0]], "target": ids[ends[1]]} | ({} if weight is None else {"weight": weight})
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: pa.array(column) for name, column in columns.items()}), path)
    else:
        rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        path.write_text("\n".join(rows) + "\n")


def write_features(path, ids, order, x):
    rows = [f"{ids[node]},{','.join(repr(float(value)) for value in x[node])}" for node in order]
    path.write_text("\n".join(["id,a,b,c", *rows]) + "\n")


@settings(max_examples=25)
@given(sources(), st.sampled_from([".csv", ".parquet"]), st.booleans())
def test_the_same_graph_as_the_reader_makes(tmp_path_factory, source, form, labelled):
    folder = tmp_path_factory.mktemp("graph")
    ids, ends, weight, order, x = source
    edges, features = folder / f"edges{form}", folder / "x.csv"
    write_edges(edges, ids, ends, weight)
    write_features(features, ids, order, x)
    given = {"features": features}
    if labelled:
        given["labels"] = folder / "y.csv"
        given["labels"].write_text("id,label\n" + "".join(f"{ids[node]},c{node % 3}\n" for node in order[1:]))
    manifest = import_graph(edges, folder / "g.store", memory="70MB", **given)
    assert_same(folder / "g.store", edges, **given)
    notes = read_graph(edges, **given).notes
    assert manifest["notes"] == notes
    assert (manifest["nodes"], manifest["features"]) == (len(ids), 3)


def test_several_files_are_parts_of_one(tmp_path):
    ids, x = np.arange(4), np.eye(4, dtype=np.float32)
    ends = np.array([[0, 1, 2, 3, 3], [1, 2, 3, 0, 2]])
    for name, part in (("all", slice(None)), ("one", slice(2)), ("two", slice(2, None))):
        write_edges(tmp_path / f"{name}.csv", ids, ends[:, part], None)
    np.save(tmp_path / "x.npy", x)
    import_graph([tmp_path / "one.csv", tmp_path / "two.csv"], tmp_path / "g.store", features=tmp_path / "x.npy")
    assert_same(tmp_path / "g.store", tmp_path / "all.csv", features=tmp_path / "x.npy")


def test_a_file_without_weights_weighs_one_beside_one_that_has(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,weight\n0,1,2.5\n")
    (tmp_path / "b.csv").write_text("source,target\n1,2\n")
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    import_graph([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "g.store", features=tmp_path / "x.npy")
    assert open_store(tmp_path / "g.store").adj.value.tolist() == [2.5, 2.5, 1, 1]


@pytest.mark.parametrize("features", ["degree", "ones"])
def test_features_made_from_the_graph(tmp_path, features):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,a\nc,d\n")
    import_graph(tmp_path / "e.csv", tmp_path / "g.store", features=features)
    assert_same(tmp_path / "g.store", tmp_path / "e.csv", features=features)


def test_sparse_features_and_ids_of_their_rows(tmp_path):
    import scipy.sparse

    (tmp_path / "e.csv").write_text("source,target\n10,30\n30,20\n")
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(np.diag([1.0, 2, 3])[[2, 0, 1]]))
    np.save(tmp_path / "ids.npy", np.array([30, 10, 20]))
    given = {"features": tmp_path / "x.npz", "ids": tmp_path / "ids.npy"}
    import_graph(tmp_path / "e.csv", tmp_path / "g.store", **given)
    assert_same(tmp_path / "g.store", tmp_path / "e.csv", **given)
    graph = open_store(tmp_path / "g.store")
    assert isinstance(graph.subgraph(torch.tensor([0, 2])).x, SparseFeatures)


def test_half_as_wide_features_become_float32_in_a_batch(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n")
    x = np.array([[0.1, 2], [3, 4], [5, 6]], np.float32)
    np.save(tmp_path / "x.npy", x)
    import_graph(tmp_path / "e.csv", tmp_path / "g.store", features=tmp_path / "x.npy", feature_dtype="float16")
    batch = open_store(tmp_path / "g.store").subgraph(torch.tensor([0, 1]))
    assert batch.x.dtype == torch.float32
    assert torch.equal(batch.x, torch.from_numpy(x[:2].astype(np.float16)).float())


@pytest.fixture
def path(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n")
    np.save(tmp_path / "x.npy", np.ones((3, 2), np.float32))
    return tmp_path


@pytest.mark.parametrize(("change", "message"), [
    ({"features": None}, "the graph has no node features: give --features FILE, or one of degree, ones"),
    ({"features": "spectral"}, "spectral features need the whole graph in memory"),
    ({"features": "degre"}, "no file or features named 'degre'; did you mean 'degree'"),
    ({"memory": "10MB"}, "memory is 10 MB, but to import 3 nodes takes at least 65 MB"),
    ({"memory": "much"}, "memory is 'much', expected a size such as"),
    ({"feature_dtype": "float8"}, "no feature dtype named 'float8'"),
    ({"edges": "loop.csv"}, "holds no edges besides self-loops and edges of weight 0"),
    ({"edges": "away.csv"}, r"away.csv, line 2: node 7 is not in .*x.npy \(rows for the ids 0 to 2\)"),
    ({"features": "nan.npy"}, "nan.npy, row 2: holds a NaN, infinite or too large number; replace it"),
    ({"features": "big.npy", "feature_dtype": "float16"}, "row 3: 70000 is too large for float16; import with"),
    ({"features": "flat.npy"}, r"features of shape \(3,\); expected \(N, F\)"),
    ({"edges": []}, "which edges"),
])
def test_bad_input_is_told_in_a_line_and_leaves_nothing(path, change, message):
    (path / "loop.csv").write_text("source,target\n1,1\n")
    (path / "away.csv").write_text("source,target\n0,7\n")
    np.save(path / "nan.npy", np.array([[1.0], [np.nan], [2]]))
    np.save(path / "big.npy", np.array([[1.0], [2], [70000]]))
    np.save(path / "flat.npy", np.ones(3))
    given = {"edges": "e.csv", "features": "x.npy", **change}
    named = {name: path / file if isinstance(file, str) and "." in file else file for name, file in given.items()}
    edges, before = named.pop("edges"), sorted(path.iterdir())
    with pytest.raises(InputError, match=message) as error:
        import_graph(edges, path / "g.store", **named)
    assert "\n" not in str(error.value)
    assert sorted(path.iterdir()) == before


def test_a_place_that_is_taken_is_left_alone(path):
    (path / "g.store").mkdir()
    with pytest.raises(InputError, match="is there already: give another --out"):
        import_graph(path / "e.csv", path / "g.store", features=path / "x.npy")
    with pytest.raises(InputError, match="there is no folder"):
        import_graph(path / "e.csv", path / "not" / "g.store", features=path / "x.npy")


def test_an_interruption_leaves_nothing_and_a_leftover_is_no_hindrance(path):
    def stop(what, share):
        if what == "sorting the edges":
            raise KeyboardInterrupt

    before = sorted(path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        import_graph(path / "e.csv", path / "g.store", features=path / "x.npy", tell=stop)
    assert sorted(path.iterdir()) == before
    (path / ".g.store.part").mkdir()
    (path / ".g.store.part" / "idx.npy").write_text("of a process that was killed")
    import_graph(path / "e.csv", path / "g.store", features=path / "x.npy")
    assert sorted(file.name for file in path.iterdir()) == ["e.csv", "g.store", "x.npy"]


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write(text)


def test_the_tables_of_an_ogb_folder(tmp_path):
    tables = {"edge": "0,1\n1,2\n", "node-feat": "1,2\n3,4\n5,6\n7,8\n", "node-label": "0\n1\nnan\n1\n",
              "num-node-list": "4\n", "num-edge-list": "2\n"}
    for name, text in tables.items():
        write_gz(tmp_path / "raw" / f"{name}.csv.gz", text)
    for name, text in {"train": "0\n", "valid": "1\n", "test": "3\n"}.items():
        write_gz(tmp_path / "split" / "time" / f"{name}.csv.gz", text)
    import_graph(tmp_path, tmp_path / "g.store")
    data = read_store(tmp_path / "g.store")
    assert data.y.tolist() == [0, 1, -1, 1]
    assert data.graph.adj.idx.tolist() == [1, 0, 2, 1]
    assert data.graph.x[:].tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert [data[name].nonzero().view(-1).tolist() for name in ("train_mask", "val_mask", "test_mask")] == [[0], [1],
                                                                                                            [3]]
    with pytest.raises(InputError, match="which has its features and labels: give nothing besides"):
        import_graph(tmp_path, tmp_path / "h.store", features="ones")
    (tmp_path / "raw" / "node-feat.csv.gz").unlink()
    with pytest.raises(InputError, match=r"has no node-feat.csv.gz: give the features"):
        import_graph(tmp_path, tmp_path / "h.store")


def test_the_arrays_of_an_ogb_folder(tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    np.savez(raw / "data.npz", edge_index=np.array([[0, 1], [1, 2]]), node_feat=np.ones((3, 2), np.float16))
    np.savez(raw / "node-label.npz", node_label=np.array([[0.0], [np.nan], [1]]))
    import_graph(raw, tmp_path / "g.store")
    data = read_store(tmp_path / "g.store")
    assert (data.y.tolist(), data.graph.adj.idx.tolist(), data.num_nodes) == ([0, -1, 1], [1, 0, 2, 1], 3)
    np.savez(raw / "data.npz", edge_index=np.array([[0, 1], [1, 2]]))
    with pytest.raises(InputError, match="cannot read its array node_feat"):
        import_graph(raw, tmp_path / "h.store")
