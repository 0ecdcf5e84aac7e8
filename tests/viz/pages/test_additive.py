"""Both functions without measured costs, and the scale that a link names."""

import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE
from viz.app import measurements

SCALES = ("÷ √d_k", "none", "× √d_k")


def test_without_measured_costs_the_page_says_how_to_make_them(
    opened, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(measurements, "FOLDER", tmp_path)
    assert any("python -m benchmarks additive" in text for text in texts(opened()))


def test_the_unit_of_a_measurement_is_that_of_its_factor() -> None:
    units = {"ms": 1e3, "MiB": 2**-20}
    for title, factor in measurements.FIELDS.values():
        assert units[title.split()[0]] == factor


@pytest.mark.parametrize(("page", "shown"), [("additive", True), ("inside", False)])
@pytest.mark.parametrize("scale", SCALES)
def test_a_link_names_a_scale_as_the_code_or_as_the_screen(serve, page, shown, scale) -> None:
    named = scale.replace("d_k", "dₖ") if shown else scale
    app = serve(page, text=SENTENCE, additive_view="Scale", scale_of=named)
    assert not app.exception
    assert app.selectbox(key="scale_of").value == scale
