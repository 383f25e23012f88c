import sys

import numpy as np
import pytest

from sgcl import InputError
from sgcl.report import draw_curve, draw_map, draw_smoothing

PNG = b"\x89PNG\r\n\x1a\n"


def pixels(file) -> np.ndarray:
    return pytest.importorskip("matplotlib.image").imread(file)[..., :3]


@pytest.fixture(autouse=True)
def matplotlib():
    return pytest.importorskip("matplotlib")


def test_a_curve_is_a_png_with_something_in_it(tmp_path):
    draw_curve(tmp_path / "one.png", {"SGCL-T": [3.0, 2.0, 1.0]})
    draw_curve(tmp_path / "two.png", {"SGCL-T": [3.0, 2.0, 1.0], "Identity": [4.0, 1.0]})
    for name in ("one.png", "two.png"):
        assert (tmp_path / name).read_bytes().startswith(PNG)
    assert pixels(tmp_path / "one.png").std() > 0.01
    assert not np.array_equal(pixels(tmp_path / "one.png"), pixels(tmp_path / "two.png"))


@pytest.mark.parametrize("curves", [{"none": []}, {"one": [2.0]}, {"zero": [1.0, 0.0]}])
def test_short_curves_are_drawn_too(tmp_path, curves):
    draw_curve(tmp_path / "curve.png", curves)
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(("shape", "classes"), [((12, 3), 2), ((12, 3), 15), ((4, 3), None), ((12, 1), 2), ((3, 1), 2)])
def test_a_map_is_drawn_of_any_embedding(tmp_path, shape, classes):
    random = np.random.default_rng(0)
    labels = None if classes is None else random.integers(classes, size=shape[0])
    draw_map(tmp_path / "map.png", random.standard_normal(shape).astype(np.float32), labels, title="a map")
    assert (tmp_path / "map.png").read_bytes().startswith(PNG)
    assert pixels(tmp_path / "map.png").std() > 0.01


def test_a_row_of_zeros_has_its_place_on_the_map(tmp_path):
    draw_map(tmp_path / "map.png", np.concatenate([np.zeros((1, 3)), np.ones((3, 3))]))
    assert (tmp_path / "map.png").exists()


def test_panels_share_one_scale(tmp_path):
    delta = np.zeros((5, 5))
    delta[2, 2] = 1
    draw_smoothing(tmp_path / "one.png", {"delta": delta})
    draw_smoothing(tmp_path / "two.png", {"delta": delta, "taubin": 0.5 * delta})
    assert pixels(tmp_path / "two.png").shape[1] == 2 * pixels(tmp_path / "one.png").shape[1]
    yellow = lambda image: ((image[..., 0] > 0.9) & (image[..., 1] > 0.8) & (image[..., 2] < 0.3)).sum()  # noqa: E731
    left, right = np.array_split(pixels(tmp_path / "two.png")[:, :560], 2, axis=1)
    assert yellow(left) > 0                                                # 1 is the top of the scale
    assert yellow(right) == 0                                              # half of it is not


def test_without_matplotlib_it_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(InputError, match=r"pictures need matplotlib: pip install 'sgcl\[plots\]'"):
        draw_curve(tmp_path / "curve.png", {"SGCL-T": [1.0]})
    assert not list(tmp_path.iterdir())
