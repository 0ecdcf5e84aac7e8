"""Inside a head in a real browser: its numbers are the model's, and a link opens its step."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.browser.app_page import SENTENCE, german, until, url
from tests.browser.spy import levels, plain
from transformer import Kind, Translator
from transformer.analysis.paper.arithmetic import Arithmetic, arithmetic, sublayer_values
from transformer.analysis.paper.scaling import factor, rescale
from viz.draw.labels import display_tokens

pytestmark = pytest.mark.browser

TRAINED = factor("÷ √d_k", 8)


def numbers(
    translator: Translator, kind: Kind, layer: int, head: int, word: int, text: str = SENTENCE
) -> Arithmetic:
    trace = translator.trace(text)
    return arithmetic(sublayer_values(translator.model, trace, kind, layer), head, word, TRAINED)


# the strips of colours in the order in which they are painted, with the step that makes each
STRIPS = (
    ("x", 1), ("q", 2), ("k", 2), ("products", 3), ("v", 2), ("weighted", 7), ("z", 7),
    ("concat", 8), ("result", 8), ("others", 9), ("x", 9), ("added", 9), ("normalised", 9),
)  # fmt: skip
# and those that share one scale
SCALES = (
    ("q",), ("k",), ("products",), ("v", "weighted", "z", "concat"),
    ("x", "result", "others", "added", "normalised"),
)  # fmt: skip
PAINTED = """(root) => {
    const canvas = root.querySelector(".hl-scroll canvas");
    const pressed = [...root.querySelectorAll(".hl-steps button")]
        .findIndex((one) => one.getAttribute("aria-pressed") === "true");
    const rows = [...root.querySelectorAll(".hl-unseen tbody tr")]
        .map((row) => [...row.cells].map((cell) => cell.textContent));
    const strips = (canvas.painted?.pictures ?? []).map(({ raster, wide, high }) =>
        [high, wide, [...raster.getContext("2d").getImageData(0, 0, wide, high).data]]);
    const words = canvas.painted?.words.map(({ text }) => text) ?? [];
    return { step: pressed, title: root.querySelector("h3").textContent, rows, strips, words };
}"""


def painted(page) -> dict[str, Any]:
    """What stands on the canvas of the page, and in the table and the title beside it."""
    found: dict[str, Any] = page.locator(".st-key-inside .hl").evaluate(PAINTED)
    return found


def levels_of(wanted: Arithmetic, name: str) -> np.ndarray:
    """Places in the table of colours, where two neighbours may have the same."""
    (scale,) = (scale for scale in SCALES if name in scale)
    end = max(np.quantile(np.abs(getattr(wanted, one)), 0.99) for one in scale)
    return 128 + 127 * np.clip(getattr(wanted, name) / end, -1, 1).ravel()


def says(text: str) -> float:
    return float(text.replace("−", "-"))


def is_painted(found: dict[str, Any], wanted: Arithmetic) -> bool:
    """Whether all numbers that the step has made are on the canvas and in the table."""
    made = [name for name, step in STRIPS if not found["step"] or step <= found["step"]]
    if [high * wide for high, wide, _ in found["strips"]] != [
        np.size(getattr(wanted, name)) for name in made
    ]:
        return False
    for name, (_, _, colors) in zip(made, found["strips"], strict=True):
        places, table = levels(np.reshape(colors, (-1, 4)))
        if table[0] != "difference" or np.abs(places - levels_of(wanted, name)).max() >= 2:
            return False
    for name, column in (("dots", 1), ("scaled", 2), ("weights", 4)):
        told = [says(row[column]) for row in found["rows"]]
        if not np.allclose(told, getattr(wanted, name), rtol=1e-3, atol=1e-5):
            return False
    if [row[3] == "seen" for row in found["rows"]] != wanted.seen.tolist():
        return False
    norms = [float(word.split()[1]) for word in found["words"] if re.match(r"H\d+ ", word)]
    drawn: list[float] = wanted.norms.tolist() if "concat" in made else []
    return len(norms) == len(drawn) and np.allclose(norms, drawn, atol=0.006)


def expect(page, wanted: Arithmetic) -> None:
    """The picture comes to show these numbers, all of them."""
    until(page, lambda: is_painted(painted(page), wanted), True)


def choose(page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_every_number_is_the_models_and_follows_the_choices(visit, translator: Translator) -> None:
    page = visit("inside", text=SENTENCE, kind="encoder", layer="1", head="2")
    expect(page, numbers(translator, "encoder_self", 0, 1, 2))
    page.get_by_role("radio", name="cross").click()
    expect(page, numbers(translator, "cross", 0, 1, 2))
    choose(page, "Head", "4")
    expect(page, numbers(translator, "cross", 0, 3, 2))
    choose(page, "Layer", "2")
    expect(page, numbers(translator, "cross", 1, 3, 2))
    read, written = display_tokens(translator.trace(SENTENCE).target_tokens)[1:3]
    name = f"the row that reads “{read}” and writes “{written}” looks"
    assert plain(painted(page)["title"]).endswith(name)
    choose(page, "Layer", "1")
    choose(page, "Scale", "none")
    trace = translator.trace(SENTENCE)
    edits = {"decoder.layers.0.cross_attention.hook_attn_scores": rescale(8**0.5, 3)}
    edited = sublayer_values(translator.model, trace, "cross", 0, edits)
    expect(page, arithmetic(edited, 3, 2, 1.0))
    page.locator(".st-key-inside-translation", has_text="translated with no scale").wait_for()


def test_a_temperature_counts_in_all_that_follows(visit, translator: Translator) -> None:
    page = visit("inside", text=SENTENCE, layer="2", head="3", temperature="0.5", every="true")
    points = translator.model.hook_points()
    edits = {name: rescale(2.0) for name in points if name.endswith("hook_attn_scores")}
    edited = sublayer_values(translator.model, translator.trace(SENTENCE), "cross", 1, edits)
    expect(page, arithmetic(edited, 2, 2, 2 * TRAINED))


def test_the_step_is_in_the_link_and_survives_back_and_a_reload(
    visit, translator: Translator
) -> None:
    page = visit("inside", text=SENTENCE, kind="decoder")
    expect(page, numbers(translator, "decoder_self", 1, 0, 2))
    page.get_by_role("button", name="softmax", exact=True).click()
    until(page, lambda: url(page).get("at"), "6")
    assert url(page)["text"] == SENTENCE
    assert url(page)["kind"] == "decoder"
    page.get_by_role("button", name="Next", exact=True).click()
    until(page, lambda: url(page).get("at"), "7")
    for go, step in ((page.go_back, 6), (page.go_forward, 7)):
        go(wait_until="commit")
        until(page, lambda: (url(page).get("at"), painted(page)["step"]), (str(step), step))
    page.reload()
    expect(page, numbers(translator, "decoder_self", 1, 0, 2))
    assert painted(page)["step"] == 7
    # the address does not hear of a walk that plays, and another head is no other step
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Pause", exact=True).click()
    choose(page, "Head", "2")
    expect(page, numbers(translator, "decoder_self", 1, 1, 2))
    assert (url(page)["at"], painted(page)["step"]) == ("7", 8)


def test_what_is_typed_here_is_there_on_the_next_page(visit, translator: Translator) -> None:
    page = visit("inside", text=SENTENCE)
    other = "My brother sings."
    page.get_by_role("textbox", name="English").fill(other)
    expect(page, numbers(translator, "cross", 1, 0, 2, other))
    page.get_by_role("link", name="Heads", exact=True).click()
    until(page, lambda: german(page).inner_text(), translator.translate(other).text)
    assert page.get_by_role("textbox", name="English").input_value() == other


def test_a_mean_that_was_chosen_on_the_heads_page_is_a_head_here(
    visit, translator: Translator
) -> None:
    page = visit("heads", text=SENTENCE, layer="mean", head="mean")
    page.locator(".st-key-heads-map .hl").wait_for()
    page.get_by_role("link", name="Inside a head", exact=True).click()
    expect(page, numbers(translator, "cross", 1, 0, 2))
