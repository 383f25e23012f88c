import sys
import warnings

import pytest
import torch

from sgcl import InputError
from sgcl.callbacks import CollapseWatch, TensorBoard
from sgcl.trainer import Epoch

SPREAD = torch.eye(8)
COLLAPSED = torch.ones(50, 8) + 1e-4 * torch.randn(50, 8, generator=torch.Generator().manual_seed(0))


def epoch(number: int, epochs: int = 20) -> Epoch:
    return Epoch(epoch=number, epochs=epochs, loss=1 / number, seconds=2.0 * number, peak_memory=300)


def told(watch: CollapseWatch, *numbers: int) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for number in numbers:
            watch(epoch(number))
    return [str(warning.message) for warning in seen]


def test_collapse_is_warned_of_once_in_one_line():
    watch = CollapseWatch(lambda: COLLAPSED)
    (line,) = told(watch, *range(1, 21))
    assert line.startswith("after epoch 2 the embedding has collapsed: its effective rank is 1.0")
    assert "of 8, so all rows point nearly the same way" in line
    assert "\n" not in line


def test_a_spread_embedding_is_not_warned_of_and_seldom_looked_at():
    looks = []
    watch = CollapseWatch(lambda: looks.append(1) or SPREAD)
    assert told(watch, *range(1, 21)) == []
    assert len(looks) == 2                                                 # after a tenth and half of the epochs


def test_the_final_embedding_is_looked_at_where_it_is():
    watch = CollapseWatch(lambda: SPREAD)
    with pytest.warns(UserWarning, match="at the end of the training the embedding has collapsed"):
        watch.look(COLLAPSED, "at the end of the training")
    watch.look(COLLAPSED, "again")                                         # warnings are errors here: there is none


@pytest.mark.parametrize("embedding", [torch.ones(5, 2), torch.full((5, 8), torch.nan), torch.eye(4)])
def test_what_says_nothing_of_collapse(embedding):
    CollapseWatch(lambda: embedding).look(embedding, "now")


def test_of_many_rows_some_are_enough(monkeypatch):
    seen = []
    monkeypatch.setattr("sgcl.callbacks.effective_rank", lambda rows: seen.append(rows) or 8.0)
    CollapseWatch(lambda: SPREAD).look(torch.arange(8 * 10_000.0).view(10_000, 8), "now")
    assert 2048 <= len(seen[0]) < 4096
    assert seen[0][-1, 0] > 8 * 9_990                                      # from all over


def test_tensorboard_can_read_what_is_written(tmp_path):
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with TensorBoard(tmp_path / "board") as board:
        assert not (tmp_path / "board").exists()
        for number in (1, 2, 3):
            board(epoch(number))
    with TensorBoard(tmp_path / "board") as board:                         # resumed after epoch 2
        for number in (3, 4):
            board(epoch(number))
    events = reading.EventAccumulator(str(tmp_path / "board"))
    events.Reload()
    assert sorted(events.Tags()["scalars"]) == ["loss", "peak_memory", "seconds"]
    assert [(event.step, event.value) for event in events.Scalars("loss")] == [
        (number, pytest.approx(1 / number)) for number in (1, 2, 3, 4)]
    assert [event.value for event in events.Scalars("seconds")] == [2.0, 4.0, 6.0, 8.0]


def test_without_tensorboard_one_line_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=r"TensorBoard is not installed: pip install 'sgcl\[tensorboard\]'"):
        TensorBoard(tmp_path)
