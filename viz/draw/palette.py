"""One scale of colour for each kind of attention: its hue, even in lightness, for both themes.

Lightness is that of OKLab (Ottosson 2020), whose equal steps look equally large: a weight of 0.4
looks twice as far from 0 as one of 0.2. The scale passes through the kind's own colour; towards the
ends chroma falls, as far as sRGB requires.
"""

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from transformer.kinds import Kind

Theme = Literal["light", "dark"]
Floats = NDArray[np.float64]

# Okabe and Ito's: they stay apart in the common kinds of colour blindness
COLOR: dict[Kind, str] = {
    "encoder_self": "#009E73",
    "decoder_self": "#0072B2",
    "cross": "#D55E00",
}
# lightness of weight 0 and of weight 1: weight 0 is just seen on the page, weight 1 farthest off it
ENDS: dict[Theme, tuple[float, float]] = {"light": (0.963, 0.36), "dark": (0.255, 0.9)}

END = 0.99
"""Share of absolute values that the colours of differences distinguish; larger ones look alike."""

_TO_LMS, _TO_LAB = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
).reshape(2, 3, 3)


@cache
def table(kind: Kind, theme: Theme) -> NDArray[np.uint8]:
    """Return the colours of weights 0/255 to 255/255: `[256, 3]`, sRGB, read-only."""
    own = np.frombuffer(bytes.fromhex(COLOR[kind][1:]), dtype=np.uint8) / 255
    own_lightness, a, b = oklab(own)
    own_chroma, hue = np.hypot(a, b), np.arctan2(b, a)
    first, last = ENDS[theme]
    lightness = np.linspace(first, last, 256)
    # at the ends a tenth and two thirds of the chroma: a tinted page, and a deep or bright weight 1
    chroma = own_chroma * np.interp(
        np.linspace(0, 1, 256), [0, (own_lightness - first) / (last - first), 1], [0.1, 1, 0.67]
    )
    srgb = _srgb(lightness, _into_gamut(lightness, chroma, hue), hue)
    colors = np.rint(255 * np.clip(srgb, 0, 1)).astype(np.uint8)
    colors.flags.writeable = False
    return colors


def largest_colour(values: NDArray[np.float32]) -> float:
    """Return the value from which on all have the last colour: the `END` quantile of the sizes."""
    sizes = np.abs(values)
    return float(np.quantile(sizes, END)) or float(sizes.max()) or 1.0


def difference_levels(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Convert to places among the colours of differences.

    128 is 0; 1 and 255 are ±`largest_colour` or more.
    """
    amount = np.clip(values / largest_colour(values), -1, 1)
    return (128 + np.rint(127 * amount)).astype(np.uint8)


def colorscale(kind: Kind, theme: Theme) -> list[tuple[float, str]]:
    """Return the scale as Plotly and CSS write it: `[(0.0, "#f3f7f5"), …, (1.0, …)]`."""
    at = np.rint(np.linspace(0, 255, 16)).astype(int)
    return [(float(i / 255), "#" + table(kind, theme)[i].tobytes().hex()) for i in at]


def oklab(srgb: NDArray) -> Floats:
    """Convert sRGB, `[..., 3]` in 0..1, to Oklab: lightness, a and b."""
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ _TO_LMS.T) @ _TO_LAB.T


def _srgb(lightness: Floats, chroma: Floats, hue: float) -> Floats:
    """Convert OKLCh, `[n]` each, to sRGB, `[n, 3]`; outside of 0..1 where sRGB has none."""
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    curved = 1.055 * np.clip(linear, 0, None) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, curved)


def _into_gamut(lightness: Floats, chroma: Floats, hue: float) -> Floats:
    """Reduce chroma, never lightness or hue, of colours that no screen can show."""
    low, high = np.zeros_like(chroma), chroma
    for _ in range(20):  # bisection
        middle = (low + high) / 2
        color = _srgb(lightness, middle, hue)
        fits = ((color > -1e-4) & (color < 1 + 1e-4)).all(axis=-1)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low
