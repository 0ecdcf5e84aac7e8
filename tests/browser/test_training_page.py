"""The Training page in a real browser: walking through the steps in which heads form."""

from __future__ import annotations

import pytest

from tests.browser.app_page import expect_grid, expect_map, outlined, until, url
from transformer import AttentionTrace
from transformer.files.installed import BUNDLED
from viz.pages.training.runs import Probes, find

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def kept() -> Probes:
    """The first sentence of the bundled run."""
    return find(BUNDLED)[0]


def test_the_page_opens_at_the_first_step_and_the_pictures_follow_the_slider(
    visit, kept: Probes
) -> None:
    page = visit("training", kind="encoder", forming_layer="1")
    last, first = (AttentionTrace.load(kept[step]) for step in (max(kept), min(kept)))
    expect_map(page, "forming-map", first.encoder_self[0, 0], first.labels("encoder_self"))
    expect_grid(page, first, "forming-grid")
    page.get_by_role("slider").press("End")
    expect_map(page, "forming-map", last.encoder_self[0, 0], last.labels("encoder_self"))
    expect_grid(page, last, "forming-grid")
    until(page, lambda: url(page).get("trained"), f"{max(kept):,}")


def test_a_head_of_the_grid_opens_and_stays_open_at_another_step(visit, kept: Probes) -> None:
    page = visit("training", training_view="Heads forming", trained="1")
    page.get_by_role("gridcell", name="decoder, layer 2, head 4").click()
    steps = list(kept)
    first, second = (AttentionTrace.load(kept[step]) for step in steps[:2])
    expect_map(page, "forming-map", first.decoder_self[1, 3], first.labels("decoder_self"))
    until(page, lambda: outlined(page, "forming-grid"), ["decoder, layer 2, head 4"])
    page.get_by_role("slider").press("ArrowRight")
    expect_map(page, "forming-map", second.decoder_self[1, 3], second.labels("decoder_self"))
    assert {name: url(page)[name] for name in ("kind", "forming_layer", "forming_head")} == {
        "kind": "decoder",
        "forming_layer": "2",
        "forming_head": "4",
    }
