"""The positions page in a real browser: its choices, its links, and the picture that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser.app_page import SENTENCE, german, no_traceback, until, url
from transformer import Translator
from transformer.analysis.paper import positions
from transformer.analysis.paper.positions import Edit
from transformer.embedding import sinusoidal_positions

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

DRAWN = """maps => maps.flatMap(map => (map._fullData ?? []).map(one =>
    [one.z.length, one.z[0].length, ...Array.from(one.z[1])]))"""


def drawn(page: Page) -> list[Any]:
    """Of each map on the screen its shape and the values of its second row."""
    found = page.locator(".js-plotly-plot").evaluate_all(DRAWN)
    return [[round(float(number), 4) for number in one] for one in found]


def expected(*maps: np.ndarray) -> list[Any]:
    return [
        [round(float(number), 4) for number in (*one.shape, *one[1].astype(np.float32))]
        for one in maps
    ]


# of each candidate its title, its words without those that it lost, and its figures
CANDIDATES = """all => all.map((one) => {
    const [title, figures] = [...one.querySelectorAll("small")].map((e) => e.textContent);
    const words = one.cloneNode(true);
    for (const e of words.querySelectorAll("small, del, .headlight-unseen")) e.remove();
    return [title, words.textContent.trim().replace(/ +/g, " "), figures];
})"""


def candidates(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.locator(".headlight-candidate").evaluate_all(CANDIDATES)
    return found


def choose(page: Page, label: str, value: int) -> None:
    page.get_by_label(label).fill(str(value))
    page.get_by_label(label).press("Enter")


def test_a_link_opens_the_view_and_a_control_redraws_it(visit) -> None:
    page = visit("positions", pe_length="9", pe_width="6")
    until(page, lambda: drawn(page), expected(sinusoidal_positions(9, 6).numpy().T))
    choose(page, "Length, in positions", 12)
    for reloaded in (False, True):
        if reloaded:
            page.reload()
        until(page, lambda: drawn(page), expected(sinusoidal_positions(12, 6).numpy().T))
        wanted = {"pe_length": "12", "pe_width": "6"}
        until(page, lambda: url(page), wanted)
    page.get_by_role("radio", name="Rotation").click()
    choose(page, "Distance k", 3)
    before, after = positions.exact_encoding(np.array([10, 13]), 6)[..., None]
    parts = (positions.rotation(3, 6), before, after, after)
    until(page, lambda: drawn(page), expected(*parts))
    until(page, lambda: url(page).get("pe_k"), "3")
    page.goto(page.evaluate("location.href"))  # as the person who is sent the link
    until(page, lambda: drawn(page), expected(*parts))
    no_traceback(page)


def test_the_sentence_of_the_bar_stands_on_the_page(visit, translator: Translator) -> None:
    page = visit("positions", text=SENTENCE, pe_view="Your sentence")
    until(page, lambda: drawn(page), expected(*foot(translator, SENTENCE, "encoder")))
    page.get_by_role("radio", name="decoder").click()
    until(page, lambda: drawn(page), expected(*foot(translator, SENTENCE, "decoder")))
    page.get_by_label("English").fill("The dog <b>sings</b>.")
    until(
        page, lambda: drawn(page), expected(*foot(translator, "The dog <b>sings</b>.", "decoder"))
    )
    page.get_by_role("link", name="Translate").click()
    page.locator(".st-key-translate-map canvas").first.wait_for()
    assert page.get_by_label("English").input_value() == "The dog <b>sings</b>."


def foot(translator: Translator, text: str, stack: positions.Stack) -> positions.EmbeddingParts:
    return positions.embedding_parts(translator.model, translator.trace(text), stack)


def test_what_is_written_without_positions_stands_beside_the_curves(
    visit, translator: Translator
) -> None:
    page = visit("positions", text=SENTENCE, pe_view="Without")
    trace = translator.trace(SENTENCE)

    def wanted(seed: int) -> str:
        edit = Edit("shuffled", ("encoder",), seed)
        with translator.model.hooks(edit.hooks()):
            text = translator.translate(SENTENCE).text
        of_old = positions.log_probs(translator.model, trace, edit).sum()
        return f"encoder shuffled {text} … {of_old:.2f}".replace("-", "−")

    def shuffled() -> str:
        found = candidates(page)
        if len(found) != 4:  # a page that is half drawn
            return ""
        name, text, numbers = found[1]
        return f"{name} {text} … {numbers.split()[-1]}"

    until(page, shuffled, wanted(0))
    assert german(page).inner_text() == trace.target
    choose(page, "Seed of the shuffle", 5)
    until(page, shuffled, wanted(5))
    page.reload()
    until(page, shuffled, wanted(5))


def test_the_sentence_moves_with_the_slider(visit, translator: Translator) -> None:
    page = visit("positions", text=SENTENCE, pe_view="Beyond", pe_moved="64")
    page.get_by_text("both stacks moved by 64").wait_for()
    page.get_by_role("slider").press("ArrowRight")
    page.get_by_text("both stacks moved by 128").wait_for()
    edit = Edit("moved", ("encoder", "decoder"), 128)
    with translator.model.hooks(edit.hooks()):
        text = translator.translate(SENTENCE).text
    assert text
    until(page, lambda: candidates(page)[0][1], text)
    until(page, lambda: url(page).get("pe_moved"), "128")
