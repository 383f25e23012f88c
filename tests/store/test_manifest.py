"""A store that is not whole, or not what its manifest says, is refused in one line."""

import json

import numpy as np
import pytest

from sgcl.errors import InputError
from sgcl.store import import_graph, is_store, open_store, verify


@pytest.fixture
def store(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n")
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    import_graph(tmp_path / "e.csv", tmp_path / "g.store", features=tmp_path / "x.npy")
    return tmp_path / "g.store"


def change(store, **fields):
    manifest = json.loads((store / "manifest.json").read_text())
    (store / "manifest.json").write_text(json.dumps({**manifest, **fields}))


def test_a_store_that_is_whole_is_verified(store):
    assert verify(store)["nodes"] == 3
    assert is_store(store)
    assert is_store(str(store))
    assert not is_store(store.parent)
    assert not is_store(None)
    assert {file.name for file in store.iterdir()} == {"manifest.json", "ptr.npy", "idx.npy", "ids.npy", "x.npy"}


def test_files_are_plain_arrays(store):
    assert np.load(store / "ptr.npy").tolist() == [0, 1, 3, 4]
    assert np.load(store / "idx.npy").tolist() == [1, 0, 2, 1]
    assert np.load(store / "x.npy").tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(("damage", "message"), [
    (lambda store: (store / "manifest.json").unlink(), "is no graph store: it has no manifest.json"),
    (lambda store: (store / "manifest.json").write_text("{"), "is damaged: it is not JSON"),
    (lambda store: (store / "manifest.json").write_text("[]"), "it does not describe a store"),
    (lambda store: change(store, format=2), r"newer sgcl \(format 2, this one reads up to 1\): upgrade sgcl"),
    (lambda store: change(store, arrays={}), "does not list its arrays"),
    (lambda store: change(store, digest="0"), "its checksums do not agree"),
    (lambda store: change(store, nodes=4), "its arrays are not those of 4 nodes"),
    (lambda store: (store / "x.npy").unlink(), "is not whole: x.npy is missing"),
    (lambda store: (store / "idx.npy").write_bytes((store / "idx.npy").read_bytes()[:-1]), "143 bytes, not 144"),
    (lambda store: np.save(store / "idx.npy", np.array([1.0, 0, 2, 1], np.float32)), "it holds <f4"),
    (lambda store: (store / "idx.npy").write_bytes(b"\0" * 144), "is damaged"),
])
def test_what_is_wrong_is_told_when_it_is_opened(store, damage, message):
    damage(store)
    with pytest.raises(InputError, match=message) as error:
        open_store(store)
    assert "\n" not in str(error.value)


def test_a_changed_number_is_found_by_verify(store):
    np.save(store / "idx.npy", np.array([1, 0, 2, 0], np.int32))
    assert open_store(store).num_edges == 2  # nothing is read to open it
    with pytest.raises(InputError, match=r"idx.npy is damaged: its checksum is not that of the manifest"):
        verify(store)


def test_a_manifest_cannot_name_files_elsewhere(store):
    manifest = json.loads((store / "manifest.json").read_text())
    manifest["arrays"]["x"]["file"] = "../x.npy"
    change(store, arrays=manifest["arrays"])
    with pytest.raises(InputError, match="does not list its arrays"):
        open_store(store)
