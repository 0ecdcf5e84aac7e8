from typing import Any

import numpy as np
import pytest

from tests.browser_colors import browser_table, head_colors
from viz.draw import palette

EVERY = [(kind, theme) for kind in palette.COLOR for theme in palette.ENDS]


@pytest.mark.parametrize(("kind", "theme"), EVERY)
def test_a_scale_is_even_in_lightness_and_goes_through_the_color_of_its_kind_in_its_hue(
    kind, theme
):
    colors = palette.table(kind, theme)
    assert (browser_table(kind, theme) == colors).all()
    assert colors.shape == (256, 3)
    lightness, green, yellow = palette.oklab(colors / 255).T
    # even to half a step of the eight bits that a screen has
    assert np.abs(lightness - np.linspace(*palette.ENDS[theme], 256)).max() < 0.004
    eighths = np.diff(lightness[::32])
    assert (eighths < 0).all() if theme == "light" else (eighths > 0).all()
    own = np.frombuffer(bytes.fromhex(palette.COLOR[kind][1:]), dtype=np.uint8)
    assert np.abs(colors.astype(int) - own).max(axis=1).min() <= 3
    _, a, b = palette.oklab(own / 255)
    strong = np.hypot(green, yellow) > 0.04  # below, eight bits cannot hold a hue
    turned = np.angle((green + 1j * yellow)[strong] / (a + 1j * b), deg=True)
    assert strong.sum() > 150
    assert np.abs(turned).max() < 4


# what the eye still tells apart where one kind of cone is missing (Machado et al. 2009)
NO_CONE: dict[str, Any] = {
    "none": np.eye(3),
    "red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def seen(colors, missing):
    """Colours `[n, 3]` as OKLab, as an eye without one kind of cone has them."""
    srgb = np.asarray(colors) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.transpose(NO_CONE[missing]), 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return palette.oklab(curved)


def apart(colors, others):
    """The least distance between two of them, whichever cone is missing."""
    return min(
        np.linalg.norm(seen(colors, cone)[:, None] - seen(others, cone)[None], axis=-1).min()
        for cone in NO_CONE
    )


@pytest.mark.parametrize(("kind", "theme"), EVERY)
def test_eight_heads_can_be_told_apart_without_any_one_cone(kind, theme):
    colors = head_colors(kind, theme)
    assert len(colors) == 8
    assert colors[0] == palette.COLOR[kind]
    numbers = [list(bytes.fromhex(color[1:])) for color in colors]
    for index in range(8):
        assert apart([numbers[index]], numbers[:index] + numbers[index + 1 :]) > 0.08, colors[index]
    # faint ribbons of two heads differ in more than lightness
    paper = {"light": 0xFC, "dark": 0x13}[theme]
    faint = seen(0.4 * np.array(numbers) + 0.6 * paper, "none")
    far = np.linalg.norm(faint[:, None] - faint[None], axis=-1) + np.eye(8)
    assert far.min() > 0.06


@pytest.mark.parametrize("theme", palette.ENDS)
def test_a_difference_is_as_light_on_both_sides_and_grey_in_the_middle(theme):
    colors = browser_table("difference", theme)
    lightness = palette.oklab(colors / 255)[:, 0]
    first, last = palette.ENDS[theme]
    expected = first + (last - first) * np.minimum(np.abs(np.arange(256) - 128) / 127, 1)
    assert np.abs(lightness - expected).max() < 0.004
    assert np.ptp(colors[128].astype(int)) <= 1
    # its sides hold for every eye and are of no kind
    colors = colors.astype(int)
    for step in (40, 80, 127):
        assert apart(colors[[128 - step]], colors[[128 + step]]) > 0.05
    strong = np.r_[colors[40:70], colors[187:217]]
    for kind in palette.COLOR:
        off = (
            palette.oklab(strong / 255)[:, None]
            - palette.oklab(palette.table(kind, theme) / 255)[None]
        )
        assert np.linalg.norm(off, axis=-1).min() > 0.09
