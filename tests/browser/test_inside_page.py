"""Inside a head in a real browser: its numbers are the model's, and a link opens its step."""

from __future__ import annotations

import numpy as np
import pytest

from tests.browser.app_page import SENTENCE, address, german, shared, tab, translator, until, url
from tests.viz.trained_model import trained_folder
from transformer import Kind, Translator
from transformer.analysis.arithmetic import Arithmetic, arithmetic, sublayer_values
from transformer.analysis.scaling import factor, rescale
from viz.draw.labels import shown

__all__ = ["address", "shared", "tab", "trained_folder", "translator"]  # fixtures: used by name
pytestmark = pytest.mark.browser

TRAINED = factor("÷ √d_k", 8)


def numbers(
    translator: Translator, kind: Kind, layer: int, head: int, word: int, text: str = SENTENCE
) -> Arithmetic:
    trace = translator.trace(text)
    return arithmetic(sublayer_values(translator.model, trace, kind, layer), head, word, TRAINED)


def drawn(page):
    return page.locator(".st-key-inside .hl").evaluate("e => e.__headlight ?? null")


def expect(page, wanted: Arithmetic) -> None:
    """The picture comes to show these numbers, all of them."""

    def read() -> bool:
        found = drawn(page)
        return found is not None and all(
            len(found["arrays"][name]) == np.size(value)
            and np.allclose(found["arrays"][name], np.ravel(value), rtol=1e-4, atol=1e-5)
            for name, value in vars(wanted).items()
        )

    until(page, read, True)


def choose(page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_every_number_is_the_models_and_follows_the_choices(tab, translator: Translator) -> None:
    page = tab("inside", text=SENTENCE, kind="encoder", layer="1", head="2")
    expect(page, numbers(translator, "encoder_self", 0, 1, 2))
    page.get_by_role("radio", name="cross").click()
    expect(page, numbers(translator, "cross", 0, 1, 2))
    choose(page, "Head", "4")
    expect(page, numbers(translator, "cross", 0, 3, 2))
    choose(page, "Layer", "2")
    expect(page, numbers(translator, "cross", 1, 3, 2))
    assert drawn(page)["query"] == shown(translator.trace(SENTENCE).target_tokens)[2]
    choose(page, "Layer", "1")
    choose(page, "Scale of q · k", "none")
    trace = translator.trace(SENTENCE)
    edits = {"decoder.layers.0.cross_attention.hook_attn_scores": rescale(8**0.5, 3)}
    edited = sublayer_values(translator.model, trace, "cross", 0, edits)
    expect(page, arithmetic(edited, 3, 2, 1.0))
    page.locator(".st-key-inside-translation", has_text="translated with no scale").wait_for()


def test_a_temperature_counts_in_all_that_follows(tab, translator: Translator) -> None:
    page = tab("inside", text=SENTENCE, layer="2", head="3", temperature="0.5", every="true")
    points = translator.model.hook_points()
    edits = {name: rescale(2.0) for name in points if name.endswith("hook_attn_scores")}
    edited = sublayer_values(translator.model, translator.trace(SENTENCE), "cross", 1, edits)
    expect(page, arithmetic(edited, 2, 2, 2 * TRAINED))


def test_the_step_is_in_the_link_and_survives_a_reload(tab, translator: Translator) -> None:
    page = tab("inside", text=SENTENCE, kind="decoder")
    expect(page, numbers(translator, "decoder_self", 1, 0, 2))
    page.get_by_role("button", name="softmax", exact=True).click()
    until(page, lambda: url(page).get("at"), "6")
    assert url(page)["text"] == SENTENCE
    assert url(page)["kind"] == "decoder"
    page.get_by_role("button", name="Next", exact=True).click()
    until(page, lambda: url(page).get("at"), "7")
    page.reload()
    expect(page, numbers(translator, "decoder_self", 1, 0, 2))
    assert drawn(page)["step"] == 7


def test_what_is_typed_here_is_there_on_the_next_page(tab, translator: Translator) -> None:
    page = tab("inside", text=SENTENCE)
    other = "My brother sings."
    page.get_by_role("textbox", name="English").fill(other)
    expect(page, numbers(translator, "cross", 1, 0, 2, other))
    page.get_by_role("link", name="Heads", exact=True).click()
    until(page, lambda: german(page).inner_text(), translator.translate(other).text)
    assert page.get_by_role("textbox", name="English").input_value() == other


def test_a_mean_that_was_chosen_on_the_heads_page_is_a_head_here(
    tab, translator: Translator
) -> None:
    page = tab("heads", text=SENTENCE, layer="mean", head="mean")
    page.locator(".st-key-heads-map .hl").wait_for()
    page.get_by_role("link", name="Inside a head", exact=True).click()
    expect(page, numbers(translator, "cross", 1, 0, 2))
