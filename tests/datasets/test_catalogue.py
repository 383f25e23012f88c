import dataclasses
import json
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch_geometric.data import Data

from sgcl.datasets import DATASETS, available, describe, load, load_collection
from sgcl.errors import InputError

FILES = {"edges.txt": b"0 1\n1 2\n1 0\n", "labels.txt": b"0 1 1\n"}


def listing(folder):
    return {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


def test_every_promised_dataset_is_there():
    assert set(DATASETS) == {"cora", "citeseer", "pubmed", "computers", "photo", "coauthor-cs", "coauthor-physics",
                             "ogbn-arxiv", "ogbn-products", "ogbn-proteins", "chameleon", "actor", "cornell", "texas",
                             "wisconsin", "genius", "twitch-gamers", *(f"homophily-0.{tenth}" for tenth in range(10)),
                             "mutag", "ptc-mr", "imdb-binary", "proteins", "enzymes", "digits", "grid", "sbm",
                             "karimi", "mixhop"}
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


@pytest.mark.parametrize("name", ["digits", "grid", "sbm", "karimi", "mixhop"])
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
    assert describe("cora")["published"]["diameter"] == 19
    assert describe("ogbn-proteins")["metric"] == "roc-auc"
    assert "raw/edge.csv.gz" in describe("ogbn-products")["files"]


def test_a_collection_is_not_a_graph():
    with pytest.raises(InputError, match=r"mutag is a collection of 188 graphs, not one graph: read it with "
                                         r"sgcl.datasets.load_collection\('mutag'\)"):
        load("mutag")
    with pytest.raises(InputError, match=r"cora is one graph, not a collection: read it with sgcl.datasets.load"):
        load_collection("cora")


@pytest.fixture
def plain(tiny, monkeypatch):
    """The tiny dataset with files that have no checksum. Its loader writes nothing."""
    def parse(root):
        tiny.calls += 1
        numbers = [int(word) for word in (root / "Tiny/raw/edges.txt").read_text().split()]
        labels = [int(word) for word in (root / "Tiny/raw/labels.txt").read_text().split()]
        return Data(x=torch.ones(3, 4), edge_index=torch.tensor(numbers).view(-1, 2).T, y=torch.tensor(labels))

    entry = dataclasses.replace(tiny.entry, plain=("edges.txt", "labels.txt"), loader=parse)
    monkeypatch.setitem(DATASETS, "tiny", entry)
    tiny.entry = entry
    return tiny


def test_plain_files_are_read_in_place_and_cached(plain):
    assert plain.entry.checksums == {}
    plain.put_files()
    before = listing(plain.root)
    first, second = load("tiny", plain.root), load("tiny", plain.root)
    assert plain.calls == 1
    assert torch.equal(first.edge_index, second.edge_index)
    assert listing(plain.root) == before
    assert load("tiny").num_nodes == 3
    assert plain.calls == 1


def test_changed_plain_files_are_read_again(plain):
    plain.put_files()
    load("tiny", plain.root)
    (plain.folder / "labels.txt").write_bytes(b"0 1 0 \n")
    assert load("tiny", plain.root).y.tolist() == [0, 1, 0]
    assert plain.calls == 2


def test_missing_plain_files_are_named(plain):
    assert not available("tiny", plain.root)
    with pytest.raises(InputError, match=r"tiny: no edges\.txt, labels\.txt in .*Tiny/raw: put the raw files there"):
        load("tiny", plain.root)
    with pytest.raises(InputError, match=r"tiny: no raw files: put edges\.txt, labels\.txt into Tiny/raw below"):
        load("tiny")


def test_plain_files_with_other_numbers_are_refused(plain, own_cache):
    plain.put_files()
    (plain.folder / "edges.txt").write_bytes(b"0 1\n")
    with pytest.raises(InputError, match=r"tiny: the raw files hold \(3, 1, 4, 2\) nodes, edges, features and classes, "
                                         r"the published ones \(3, 2, 4, 2\): results would not be comparable"):
        load("tiny", plain.root)
    assert not own_cache.exists()


def test_plain_files_are_downloaded_one_by_one_or_in_an_archive(plain, tmp_path, monkeypatch):
    source = tmp_path / "published"
    source.mkdir()
    with zipfile.ZipFile(source / "all.zip", "w") as archive:
        for name, content in FILES.items():
            (source / name).write_bytes(content)
            archive.writestr(f"inside/{name}", content)
        archive.writestr("../outside.txt", "no")
    for change in ({"address": lambda name: (source / name).as_uri()},
                   {"archive": ((source / "all.zip").as_uri(), "inside")}):
        monkeypatch.setenv("SGCL_CACHE", str(tmp_path / next(iter(change))))
        monkeypatch.setitem(DATASETS, "tiny", dataclasses.replace(plain.entry, **change))
        assert load("tiny", download=True).y.tolist() == [0, 1, 1]
    monkeypatch.setenv("SGCL_CACHE", str(tmp_path / "third"))
    monkeypatch.setitem(DATASETS, "tiny", plain.entry)
    with pytest.raises(InputError, match="tiny: no raw files"):
        load("tiny", download=True)


@pytest.mark.parametrize(("archive", "message"), [
    (("gone.zip", "inside"), r"tiny: cannot download file:.*gone.zip: "),
    (("all.zip", "elsewhere"), r"tiny: file:.*all.zip is not the archive expected: .*elsewhere/edges.txt"),
    (("text.zip", "inside"), r"tiny: file:.*text.zip is not the archive expected: File is not a zip file")])
def test_an_archive_that_is_another_is_told(plain, tmp_path, monkeypatch, archive, message):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as made:
        made.writestr("inside/edges.txt", "0 1")
    (tmp_path / "text.zip").write_text("no archive")
    entry = dataclasses.replace(plain.entry, archive=((tmp_path / archive[0]).as_uri(), archive[1]))
    monkeypatch.setitem(DATASETS, "tiny", entry)
    with pytest.raises(InputError, match=message):
        load("tiny", download=True)
    assert plain.calls == 0
