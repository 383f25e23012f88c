import io
import pickle
import sys

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from sgcl import Graph, InputError, embeddings
from sgcl.estimator import estimator_for
from sgcl.methods import METHODS, SGCL

EMBEDDING = torch.arange(6.0).view(3, 2)
IDS = np.array([7, 2, 30])


def test_what_is_saved_comes_back_with_its_ids(tmp_path):
    embeddings.save(tmp_path, EMBEDDING, IDS)
    embedding, ids = embeddings.load(tmp_path)
    assert torch.equal(embedding, EMBEDDING)
    assert embedding.dtype == torch.float32
    assert np.array_equal(ids, IDS)


def test_parquet_has_a_row_for_each_id(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    embeddings.save(tmp_path, EMBEDDING, IDS)
    table = pq.read_table(tmp_path / "embeddings.parquet")
    assert table.column_names == ["id", "embedding"]
    by_id = dict(zip(table["id"].to_pylist(), table["embedding"].to_pylist(), strict=True))
    assert by_id == {7: [0.0, 1.0], 2: [2.0, 3.0], 30: [4.0, 5.0]}
    column = table.schema.field("embedding").type
    assert (column.list_size, str(column.value_type)) == (2, "float")


def test_without_pyarrow_there_is_no_parquet_file(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    embeddings.save(tmp_path, EMBEDDING, IDS)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["embeddings.npy", "ids.npy"]
    assert torch.equal(embeddings.load(tmp_path)[0], EMBEDDING)


def test_compute_drops_nothing_out_and_keeps_no_gradient(ring: Data):
    graph = Graph.from_data(ring)
    method = SGCL(6, hidden_channels=4, dropout=0.9).train()
    embedding = embeddings.compute(method, graph)
    assert embedding.shape == (40, 4)
    assert not embedding.requires_grad
    assert torch.equal(embedding, embeddings.compute(method, graph))


@pytest.mark.parametrize(("given", "size"), [
    (None, None), (7, 7), ("500MB", 500 * 2**20), ("2 gb", 2**31), ("1.5GiB", 3 * 2**29), ("64k", 2**16),
    ("1T", 2**40)])
def test_sizes_of_memory(given, size):
    assert embeddings.memory_bytes(given) == size


@pytest.mark.parametrize("given", [0, -5, 2.5, "2", "GB", "1e3MB", "2PB", ""])
def test_sizes_that_are_none_are_told(given):
    with pytest.raises(InputError, match=r"memory is .*, expected a size such as 500MB or 2GB"):
        embeddings.memory_bytes(given)


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if kind.level == "node"])
def test_every_method_with_our_encoder_embeds_in_blocks_and_others_say_so(name, ring: Data):
    model = estimator_for(name)()
    graph, method = model.graph(ring), model.untrained(6)
    if name in ("graphmae2", "greet", "grlc"):
        with pytest.raises(InputError, match="has an encoder of its own, which does not work in blocks: leave"):
            embeddings.compute(method, graph, memory="1MB")
        return
    whole, blocks = embeddings.compute(method, graph), embeddings.compute(method, graph, memory="60KB")
    assert torch.allclose(whole, blocks, rtol=0, atol=1e-6 * max(1.0, float(whole.abs().max())))


def test_graphs_of_a_collection_are_embedded_some_at_a_time_with_the_same_result(ring: Data, monkeypatch):
    pair = Data(x=ring.x[:2], edge_index=torch.tensor([[0], [1]]))
    model = estimator_for("sgcl-graphs")()
    graph, method = model.graph([ring, pair, pair, ring, pair]), model.untrained(6)
    whole, taken = embeddings.compute(method, graph), []
    monkeypatch.setattr(embeddings, "NODES_AT_A_TIME", 41)
    monkeypatch.setattr(method, "embed", lambda some, embed=method.embed: taken.append(some.num_graphs) or embed(some))
    assert torch.allclose(embeddings.compute(method, graph), whole, rtol=1e-5)
    assert taken == [2, 2, 1]


def test_an_embedding_in_a_temporary_file_is_written_like_any_other(tmp_path, ring: Data, monkeypatch):
    monkeypatch.setattr(embeddings, "_BLOCK", 12)                          # three rows at a time
    graph, method = Graph.from_data(ring), SGCL(6, hidden_channels=4)
    embedding = embeddings.compute(method, graph, memory=3000, folder=tmp_path)
    assert torch.allclose(embedding, embeddings.compute(method, graph), rtol=0, atol=1e-6)
    embeddings.save(tmp_path, embedding, np.arange(40))
    assert torch.equal(embeddings.load(tmp_path)[0], embedding)
    assert (tmp_path / "embeddings.npy").read_bytes() == _npy(embedding)
    pq = pytest.importorskip("pyarrow.parquet")
    assert pq.read_table(tmp_path / "embeddings.parquet")["embedding"].to_pylist() == embedding.tolist()


def _npy(embedding) -> bytes:
    with io.BytesIO() as stream:
        np.save(stream, embedding.numpy())
        return stream.getvalue()


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('a pickle was run')",)


def _truncate(file):
    file.write_bytes(file.read_bytes()[:-3])


@pytest.mark.parametrize(("damage", "message"), [
    (lambda folder: (folder / "ids.npy").unlink(), "holds no ids.npy: train the run to its end first"),
    (lambda folder: (folder / "embeddings.npy").unlink(), "holds no embeddings.npy: train the run to its end first"),
    (lambda folder: _truncate(folder / "embeddings.npy"), "embeddings.npy is damaged"),
    (lambda folder: (folder / "embeddings.npy").write_bytes(b""), "embeddings.npy is damaged"),
    (lambda folder: (folder / "embeddings.npy").write_bytes(b"no array"), "embeddings.npy is damaged"),
    (lambda folder: (folder / "embeddings.npy").write_bytes(pickle.dumps(Bomb())), "embeddings.npy is damaged"),
    (lambda folder: np.save(folder / "embeddings.npy", np.array([Bomb()]), allow_pickle=True), "is damaged"),
    (lambda folder: np.save(folder / "embeddings.npy", np.zeros(3)), "it holds no array of 2 dimensions"),
    (lambda folder: np.save(folder / "ids.npy", np.zeros(2)), "3 embeddings for 2 ids; train the run again"),
])
def test_damaged_files_are_told_in_one_line_and_never_run(tmp_path, damage, message):
    embeddings.save(tmp_path, EMBEDDING, IDS)
    damage(tmp_path)
    with pytest.raises(InputError, match=message) as error:
        embeddings.load(tmp_path)
    assert "\n" not in str(error.value)
