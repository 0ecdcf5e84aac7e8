"""The pictures show what the counted paths are, for any sentence."""

import re
from urllib.parse import unquote

import numpy as np
import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import html, tables
from transformer.paper import costs, paths
from viz.figures.paths import path_picture


def pictures(app) -> list[str]:
    return [unquote(body) for body in html(app) if "headlight-path" in body]


def images(picture: str) -> list[str]:
    """The moving image and the still one."""
    return picture.split("<img")[1:]


def points(picture: str) -> list[tuple[float, float]]:
    way, still = re.findall(r'pathLength="1" d="M([^"]+)"', picture)
    assert way == still
    return [tuple(map(float, point.split())) for point in way.split("L")]  # type: ignore[misc]


@pytest.mark.parametrize("url", [{}, {"path_from": "5", "path_to": "2 x", "arch_k": "2"}])
def test_each_picture_is_the_path_between_its_two_words(opened, translator, url) -> None:
    app = opened(**url)
    tokens = translator.trace("The dog sleeps in the garden.").source_tokens
    n, start, end = len(tokens), app.selectbox(key="path_from").value, app.selectbox(key="path_to")
    start, end = sorted((start, end.value))
    assert not url or (start, end) == (1, 4)
    sizes = costs.Sizes(d=512, k=int(url.get("arch_k", 3)), r=64, h=8)
    drawn = pictures(app)
    assert len(drawn) == 3
    headings = [text.value for text in app.markdown if text.value.startswith("**")][:3]
    for picture, heading, layer in zip(drawn, headings, costs.LAYERS[:3], strict=True):
        path = paths.shortest_path(layer, n, start, end, sizes)
        assert path is not None
        across = np.linspace(20, 380, n)
        assert [x for x, _ in points(picture)] == pytest.approx(across[list(path)], abs=0.06)
        assert f": {len(path) - 1} " in heading
        assert ["animation:" in image for image in images(picture)] == [True, False]
    spans = [re.findall(r"<span[^>]*>([^<]*)</span>", picture) for picture in drawn]
    assert spans[0] == spans[1] == spans[2]
    assert len(spans[0]) in (1, 2, n)


def test_all_pictures_have_one_clock(opened) -> None:
    """Each step ends at the same share of the turn, whatever the picture."""
    ends = []
    for picture in pictures(opened()):
        (clock,) = re.findall(r"linear\(0, (.*?), 1 100%\)", picture)
        ends.append([float(stop.split()[1].rstrip("%")) for stop in clock.split(", ")])
    longest = max(map(len, ends))
    for stops in ends:
        assert stops == pytest.approx([70 * (n + 1) / longest for n in range(len(stops))], abs=0.01)


def test_what_leads_to_the_end_of_a_path_is_drawn() -> None:
    """A stack of dilated kernels of 2 over four words is a tree; a longer text has no dots."""
    sizes = costs.Sizes(d=1, k=2, r=1, h=1)

    def draw(n: int) -> str:
        def connections(step: int, position: int) -> range:
            return paths.connections("convolutional", step, position, n, sizes)

        path = paths.shortest_path("convolutional", n, 0, n - 1, sizes)
        assert path is not None
        return unquote(
            path_picture(
                ["▁<b>"] * n, path, connections,
                longest=9, color="#123456", alt='"<', rows=len(path) - 1,
            )
        )  # fmt: skip

    picture, _ = images(draw(4))
    (faint,) = re.findall(r'<path d="([^"]*)" stroke', picture)
    assert faint.count("M") == 2 + 4
    assert picture.count("<circle") == 3 * 4 + 2
    assert "<b>" not in picture
    assert 'alt="&quot;&lt;"' in picture
    assert images(draw(65))[0].count("<circle") == 2


def test_without_a_path_the_page_says_so_and_counts_on(opened) -> None:
    app = opened(arch_k="1")
    assert len(pictures(app)) == 2
    assert any("no stack connects" in text for text in texts(app))
    assert [row[5] for row in tables(app)[0][2:]][2] == "∞"


def test_without_a_sentence_the_table_and_the_curves_stay(opened) -> None:
    app = opened(text=" ")
    assert "Without a translation there is nothing to draw." in texts(app)
    assert not pictures(app)
    assert len(tables(app)[0][0]) == 4
    assert len(app.get("vega_lite_chart")) == 2
