import dataclasses
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from sgcl.datasets import DATASETS, available, describe, load
from sgcl.errors import InputError


def listing(folder):
    return {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


def test_every_promised_dataset_is_there():
    assert set(DATASETS) == {"cora", "citeseer", "pubmed", "computers", "photo", "coauthor-cs", "chameleon", "actor",
                             "cornell", "texas", "wisconsin", "digits", "grid"}
    assert all(name == entry.name for name, entry in DATASETS.items())


def test_a_misspelt_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"no dataset named 'corra'; did you mean 'cora'\? known: actor, "):
        load("corra")
    with pytest.raises(InputError, match="no dataset named 'zzz'; known: "):
        available("zzz")


def test_files_are_parsed_once_and_then_cached(tiny, own_cache):
    tiny.put_files()
    first, second = load("tiny", tiny.root), load("tiny", str(tiny.root))
    assert tiny.calls == 1
    assert first.name == second.name == "tiny"
    for key in ("x", "edge_index", "y"):
        assert torch.equal(first[key], second[key])
        assert first[key].dtype == second[key].dtype
    assert second.edge_index.tolist() == [[0, 1, 1], [1, 2, 0]]
    assert second.x[0].tolist() == [0, 2.5, 0, 0]
    assert [path.suffix for path in own_cache.iterdir()] == [".safetensors"]


def test_the_root_is_left_as_it_was(tiny):
    tiny.put_files()
    before = listing(tiny.root)
    load("tiny", tiny.root)
    assert listing(tiny.root) == before


def test_the_root_comes_from_the_environment_unless_given(tiny, tmp_path, monkeypatch):
    tiny.put_files()
    monkeypatch.setenv("SGCL_DATA", str(tiny.root))
    assert available("tiny")
    assert load("tiny").num_nodes == 3
    with pytest.raises(InputError, match=r"no edges\.txt, labels\.txt in"):
        load("tiny", tmp_path / "elsewhere")


def test_a_changed_file_is_named_and_never_parsed(tiny):
    tiny.put_files()
    (tiny.folder / "labels.txt").write_bytes(b"0 1 0\n")
    with pytest.raises(InputError, match=r"tiny: .*labels\.txt is not the published file: its SHA256 is [0-9a-f]{64}, "
                                         r"expected [0-9a-f]{64}; get the file again"):
        load("tiny", tiny.root)
    assert tiny.calls == 0


def test_a_changed_file_is_noticed_although_the_cache_is_warm(tiny):
    tiny.put_files()
    load("tiny", tiny.root)
    (tiny.folder / "edges.txt").write_bytes(b"0 2\n")
    with pytest.raises(InputError, match=r"edges\.txt is not the published file"):
        load("tiny", tiny.root)


def test_without_a_root_the_cache_is_enough(tiny):
    assert not available("tiny")
    with pytest.raises(InputError, match=r"tiny: no raw files: put edges\.txt, labels\.txt into Tiny/raw below a "
                                         r"folder of your choice, and set SGCL_DATA or pass --data-root"):
        load("tiny")
    tiny.put_files()
    load("tiny", tiny.root)
    assert available("tiny")
    assert load("tiny").num_nodes == 3
    assert tiny.calls == 1


def test_missing_files_are_named(tiny):
    tiny.put_files()
    assert available("tiny", tiny.root)
    (tiny.folder / "labels.txt").unlink()
    assert not available("tiny", tiny.root)
    with pytest.raises(InputError, match=r"tiny: no labels\.txt in .*Tiny/raw: put the raw files there, or set SGCL"):
        load("tiny", tiny.root)


def test_a_spoilt_cache_file_is_made_again(tiny, own_cache):
    tiny.put_files()
    load("tiny", tiny.root)
    (file,) = own_cache.iterdir()
    file.write_bytes(file.read_bytes()[:40])
    assert load("tiny", tiny.root).y.tolist() == [0, 1, 1]
    assert tiny.calls == 2
    load("tiny", tiny.root)
    assert tiny.calls == 2


def test_a_cache_that_cannot_be_written_is_said_so(tiny, tmp_path, monkeypatch):
    tiny.put_files()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SGCL_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"tiny: cannot write .*; set SGCL_CACHE to a folder that can be written"):
        load("tiny", tiny.root)


def test_a_reading_with_other_numbers_is_refused(tiny, monkeypatch, own_cache):
    tiny.put_files()
    monkeypatch.setitem(DATASETS, "tiny", dataclasses.replace(tiny.entry, edges=3))
    with pytest.raises(InputError, match=r"tiny: .* reads \(3, 2, 4, 2\) nodes, edges, features and classes from the "
                                         r"raw files, expected \(3, 3, 4, 2\)"):
        load("tiny", tiny.root)
    assert not own_cache.exists()


def test_two_readers_at_once_do_not_disturb_each_other(tiny, own_cache, monkeypatch):
    tiny.put_files()
    both_inside = threading.Barrier(2, timeout=30)

    def parse(root):
        both_inside.wait()
        return tiny.parse(root)

    monkeypatch.setitem(DATASETS, "tiny", dataclasses.replace(tiny.entry, loader=parse))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: load("tiny", tiny.root), range(2)))
    assert tiny.calls == 2
    assert [data.y.tolist() for data in found] == [[0, 1, 1]] * 2
    assert [path.suffix for path in own_cache.iterdir()] == [".safetensors"]


def test_generated_datasets_need_no_files():
    assert available("grid")
    assert available("digits")
    assert load("grid").name == "grid"


@pytest.mark.parametrize("name", ["digits", "grid"])
def test_generated_datasets_have_the_listed_numbers(name):
    data, entry = load(name), DATASETS[name]
    assert (data.num_nodes, data.num_edges, data.num_features) == (entry.nodes, 2 * entry.edges, entry.features)
    assert (0 if data.y is None else int(data.y.max()) + 1) == entry.classes


def test_a_description_is_json():
    for name in DATASETS:
        assert json.loads(json.dumps(describe(name)))["name"] == name
    assert describe("cora")["nodes"] == 2708
    assert "ind.cora.graph" in describe("cora")["files"]
    assert describe("grid")["files"] == []
