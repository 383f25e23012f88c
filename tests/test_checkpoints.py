import json
import math
import os
import random
import warnings
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from sgcl import InputError, checkpoints
from sgcl.checkpoints import Checkpoints


class Model(nn.Module):
    """Weights, and buffers of each kind: saved with the weights, beside them, of a size that is not known before."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.inner = nn.Linear(3, width)
        self.inner.register_buffer("mean", torch.zeros(width))
        self.register_buffer("bank", torch.zeros(5, dtype=torch.float64), persistent=False)
        self.register_buffer("found", None, persistent=False)


def trained(seed: int, width: int = 4) -> tuple[Model, torch.optim.Adam]:
    """A model after two steps, with gradients that wait for the next."""
    chance = torch.Generator().manual_seed(seed)
    model = Model(width)
    for parameter in model.parameters():
        nn.init.normal_(parameter, generator=chance)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        model.inner(torch.randn(2, 3, generator=chance)).square().sum().backward()
        if step < 2:
            optimizer.step()
    model.inner.mean.copy_(torch.randn(width, generator=chance))
    model.bank.copy_(torch.randn(5, generator=chance))
    model.found = torch.randint(9, (seed + 1, 2), generator=chance)
    return model, optimizer


def contents(model: Model, optimizer: torch.optim.Adam) -> dict[str, Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers()),
            **{f"{name}.grad": parameter.grad for name, parameter in model.named_parameters()},
            **{f"{number}.{key}": value for number, values in optimizer.state_dict()["state"].items()
               for key, value in values.items()}}


def same(first: tuple[Model, torch.optim.Adam], second: tuple[Model, torch.optim.Adam]) -> bool:
    a, b = contents(*first), contents(*second)
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) and a[key].dtype == b[key].dtype for key in a)


def write(folder: Path, *seeds: int) -> list[Path]:
    """A checkpoint for each seed, that of epoch 1, 2, ..."""
    kept = Checkpoints(folder)
    for epoch, seed in enumerate(seeds, start=1):
        kept.save(epoch, 0, *trained(seed), {"place": {"seed": seed}})
    return sorted(folder.iterdir())


def restored(folder: Path) -> tuple[dict, tuple[Model, torch.optim.Adam]]:
    model = Model()
    fresh = model, torch.optim.Adam(model.parameters(), lr=0.1)
    return Checkpoints(folder, resume=True).restore(*fresh), fresh


def test_everything_comes_back_bit_by_bit(tmp_path):
    write(tmp_path, 3)
    state, found = restored(tmp_path)
    assert state["place"] == {"seed": 3}
    assert same(found, trained(3))
    assert len(contents(*found)) == 2 + 3 + 2 + 2 * 3


def test_a_step_taken_after_it_came_back_is_the_step_taken_without(tmp_path):
    write(tmp_path, 3)
    _, found = restored(tmp_path)
    expected = trained(3)
    for _, optimizer in (found, expected):
        optimizer.step()
    assert same(found, expected)


def test_the_last_two_are_kept_and_nothing_of_what_a_killed_process_left(tmp_path):
    (tmp_path / ".epoch-000001-batch-000000.safetensors.part.safetensors").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    assert [file.name for file in write(tmp_path, 0, 1, 2, 3)] == [
        "epoch-000003-batch-000000.safetensors", "epoch-000004-batch-000000.safetensors", "notes.txt"]


def test_they_follow_each_other_by_number_not_by_letter(tmp_path):
    kept = Checkpoints(tmp_path)
    for epoch, batch in ((999_999, 7), (1_000_000, 2), (1_000_000, 10)):
        kept.save(epoch, batch, *trained(0), {"place": [epoch, batch]})
    assert Checkpoints(tmp_path, resume=True).load().state["place"] == [1_000_000, 10]
    assert len(list(tmp_path.iterdir())) == 2


def damaged(file: Path, contents: bytes) -> None:
    """The last of two checkpoints is not what was written: the one before is used, and that is said."""
    before = file.read_bytes()
    file.write_bytes(contents)
    with pytest.warns(UserWarning, match=r"epoch-000002-batch-000000.safetensors is damaged \(.*\): the one before is"):
        state, found = restored(file.parent)
    file.write_bytes(before)
    assert state["place"] == {"seed": 1}
    assert same(found, trained(1))


def test_one_cut_short_anywhere_is_not_used(tmp_path):
    _, last = write(tmp_path, 1, 2)
    raw = last.read_bytes()
    for offset in [0, 7, 8, len(raw) - 1, *random.Random(0).sample(range(len(raw)), 50)]:
        damaged(last, raw[:offset])


def test_one_with_a_single_byte_changed_is_not_used(tmp_path):
    _, last = write(tmp_path, 1, 2)
    raw, chance = bytearray(last.read_bytes()), random.Random(0)
    header = int.from_bytes(raw[:8], "little") + 8
    for place in [*range(0, header, 7), *chance.sample(range(header, len(raw)), 50)]:
        flipped = bytearray(raw)
        flipped[place] ^= chance.randrange(1, 256)
        damaged(last, bytes(flipped))


@pytest.mark.parametrize("contents", [
    b"", b"\0" * 8, b"\xff" * 64, b"{}", (2).to_bytes(8, "little") + b"{}", (4).to_bytes(8, "little") + b"null",
    (30).to_bytes(8, "little") + b'{"__metadata__":{"sha256":0}} ', (1 << 17).to_bytes(8, "little") + b"[" * (1 << 17)],
    ids=["nothing", "zeros", "ones", "short", "empty", "null", "number", "deep"])
def test_what_is_no_checkpoint_is_not_used(tmp_path, contents):
    damaged(write(tmp_path, 1, 2)[1], contents)


def test_one_put_in_the_place_of_another_of_the_same_training_is_a_checkpoint_all_the_same(tmp_path):
    first, last = write(tmp_path, 1, 2)
    last.write_bytes(first.read_bytes())
    state, found = restored(tmp_path)
    assert state["place"] == {"seed": 1}
    assert same(found, trained(1))


def test_where_the_last_is_missing_the_one_before_is_used(tmp_path):
    first, last = write(tmp_path, 1, 2)
    last.unlink()
    assert same(restored(tmp_path)[1], trained(1))
    first.unlink()
    assert restored(tmp_path)[0] is None


def test_one_that_cannot_be_read_is_not_used(tmp_path):
    _, last = write(tmp_path, 1, 2)
    last.unlink()
    last.mkdir()
    with pytest.warns(UserWarning, match=r"is damaged \(Is a directory\): the one before is used"):
        assert same(restored(tmp_path)[1], trained(1))


def test_where_none_can_be_read_that_is_told_and_nothing_begins_anew(tmp_path):
    for file in write(tmp_path, 1, 2):
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="is damaged"), \
            pytest.raises(InputError, match=r"no checkpoint in .* can be read: remove them to begin at epoch 1"):
        restored(tmp_path)


def test_a_damaged_one_does_not_push_out_a_good_one(tmp_path):
    first, last = write(tmp_path, 1, 2)
    last.write_bytes(b"torn")
    kept = Checkpoints(tmp_path, resume=True)
    with pytest.warns(UserWarning, match="is damaged"):
        kept.restore(*trained(0))
    kept.save(1, 5, *trained(7), {"place": {"seed": 7}})
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        first.name, "epoch-000001-batch-000005.safetensors"]
    assert kept.last.name == "epoch-000001-batch-000005.safetensors"


@pytest.mark.parametrize("stage", ["write_bytes", "fsync", "replace"])
def test_a_full_disk_leaves_the_last_one_as_it_was(tmp_path, monkeypatch, stage):
    def full(*args):
        raise OSError(28, "No space left on device")

    before = {file.name: file.read_bytes() for file in write(tmp_path, 1, 2)}
    kept = Checkpoints(tmp_path, resume=True)
    kept.load()
    with monkeypatch.context() as patch:
        patch.setattr(os if stage == "fsync" else Path, stage, full)
        with pytest.raises(OSError, match="No space left"):
            kept.save(3, 0, *trained(3), {"place": {"seed": 3}})
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert same(restored(tmp_path)[1], trained(2))


def test_time_says_when_the_next_is_due(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now[0])
    kept = Checkpoints(tmp_path, every=30)
    assert not kept.due
    now[0] = 130.0
    assert kept.due
    kept.save(1, 0, *trained(0), {})
    assert not kept.due
    assert Checkpoints(tmp_path, every=0).due
    assert not Checkpoints(tmp_path, every=math.inf).due


@pytest.mark.parametrize("every", [-1.0, math.nan])
def test_times_that_make_no_sense_are_told(tmp_path, every):
    with pytest.raises(InputError, match=f"checkpoints every {every} seconds: expected 0 or more"):
        Checkpoints(tmp_path, every=every)


def test_a_new_training_does_not_write_over_another(tmp_path):
    write(tmp_path, 1)
    with pytest.raises(InputError, match="holds checkpoints already: resume, or give another folder"):
        Checkpoints(tmp_path).restore(*trained(0))


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    kept = Checkpoints(tmp_path)
    kept.identity = {"graph": "abc", "lr": 0.1, "probability": (1, 2)}
    kept.save(1, 0, *trained(1), {})
    for changes, message in (({}, None), ({"lr": 0.2}, "another training: lr was 0.1, is 0.2"),
                             ({"graph": "abd"}, "another training: graph was abc, is abd"),
                             ({"tau": 1}, "another training: tau was None, is 1")):
        again = Checkpoints(tmp_path, resume=True)
        again.identity = {**kept.identity, **changes}
        if message is None:
            again.restore(*trained(0))
        else:
            with pytest.raises(InputError, match=message):
                again.restore(*trained(0))


def test_one_of_a_newer_version_is_told(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "FORMAT", 99)
        write(tmp_path, 1)
    with pytest.raises(InputError, match=rf"newer sgcl \(format 99, this one reads up to {checkpoints.FORMAT}\): up"):
        restored(tmp_path)


class Renamed(Model):
    def __init__(self) -> None:
        super().__init__()
        self.other = self.inner
        del self.inner


class Bare(Model):
    def __init__(self) -> None:
        super().__init__()
        del self.bank


@pytest.mark.parametrize(("model", "message"), [
    (Renamed(), "it has other parameters"), (Model(width=5), "inner.weight has another shape"), (Bare(), "bank")])
def test_one_that_does_not_fit_is_told(tmp_path, model, message):
    write(tmp_path, 1)
    with pytest.raises(InputError, match=rf"does not fit the method, of another version perhaps: .*{message}"):
        Checkpoints(tmp_path, resume=True).restore(model, torch.optim.Adam(model.parameters()))


def test_it_is_a_plain_safetensors_file_with_json_inside(tmp_path):
    (file,) = write(tmp_path, 1)
    tensors = checkpoints.safetensors.torch.load(file.read_bytes())
    state = json.loads(bytes(tensors["state"].numpy()))
    assert state == {"format": checkpoints.FORMAT, "identity": {}, "place": {"seed": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checkpoints.read(file).state == state
