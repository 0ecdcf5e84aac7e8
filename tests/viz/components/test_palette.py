import numpy as np
import pytest

from viz.components.palette import COLOR, ENDS, colorscale, oklab, table

EVERY = [(kind, theme) for kind in COLOR for theme in ENDS]


@pytest.mark.parametrize(("kind", "theme"), EVERY)
def test_lightness_runs_evenly_from_end_to_end(kind, theme):
    colors = table(kind, theme)
    assert colors.shape == (256, 3)
    lightness = oklab(colors / 255)[:, 0]
    # even to half a step of the eight bits that a screen has
    assert np.abs(lightness - np.linspace(*ENDS[theme], 256)).max() < 0.004
    eighths = np.diff(lightness[::32])
    assert (eighths < 0).all() if theme == "light" else (eighths > 0).all()


@pytest.mark.parametrize(("kind", "theme"), EVERY)
def test_the_scale_goes_through_the_color_of_its_kind(kind, theme):
    own = np.frombuffer(bytes.fromhex(COLOR[kind][1:]), dtype=np.uint8).astype(int)
    assert np.abs(table(kind, theme).astype(int) - own).max(axis=1).min() <= 3


@pytest.mark.parametrize(("kind", "theme"), EVERY)
def test_the_hue_stays_that_of_the_kind(kind, theme):
    _, a, b = oklab(np.frombuffer(bytes.fromhex(COLOR[kind][1:]), dtype=np.uint8) / 255)
    _, green, yellow = oklab(table(kind, theme) / 255).T
    strong = np.hypot(green, yellow) > 0.04  # below, eight bits cannot hold a hue
    turned = np.angle((green + 1j * yellow)[strong] / (a + 1j * b), deg=True)
    assert strong.sum() > 150
    assert np.abs(turned).max() < 4


def test_colorscale_is_the_same_scale_for_plotly():
    scale = colorscale("cross", "light")
    assert scale[0] == (0.0, "#" + bytes(table("cross", "light")[0]).hex())
    assert scale[-1] == (1.0, "#" + bytes(table("cross", "light")[255]).hex())
    assert [at for at, _ in scale] == sorted(at for at, _ in scale)
