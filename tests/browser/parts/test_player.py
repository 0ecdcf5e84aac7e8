"""Watch it translate: what moves, who stops it, and what a newcomer sees in the first seconds."""

import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.browser.app_page import PATIENCE, at_rest, enter, expect, no_traceback, until
from transformer import Translator
from viz.app.sentence.source_box import EXAMPLES
from viz.draw.labels import display_tokens

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TEXT = "Two black dogs are running through the snow."
STEP_MS = 450

# keeps every sentence that the player shows, each with its time, however slowly the test reads
LISTEN = """
window.sentences = [];
const sentence = (root) => root.querySelector(".hl-player-says") ?? [...root.querySelectorAll("*")]
    .flatMap((element) => element.shadowRoot ? [sentence(element.shadowRoot)] : []).find(Boolean);
let element;
setInterval(() => {
    if (!element?.isConnected) element = sentence(document);
    const text = (element?.textContent ?? "").replace(/[\u2068\u2069]/g, "");
    if (text && window.sentences.at(-1)?.[0] !== text)
        window.sentences.push([text, performance.now()]);
}, 30);
"""


@pytest.fixture(scope="module")
def page(browser) -> Iterator:
    page = browser.new_page()
    page.emulate_media(reduced_motion="no-preference")
    page.set_default_timeout(PATIENCE)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    page.close()
    assert not page.errors


def says(page) -> str:
    text = page.locator(".hl-player-says").text_content() or ""
    return re.sub("[\u2068\u2069]", "", text)


def is_said(page, wanted: str) -> bool:
    return wanted in says(page)


def address(page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def open_at(page, app: str, **choices: str) -> None:
    enter(page, f"{app}/?{urlencode({'text': TEXT, **choices})}")
    page.locator(".hl-player-says").wait_for()


def test_a_newcomer_sees_a_head_look_at_a_word_within_seconds(
    page, bundled_address: str, bundled: Translator
) -> None:
    """Nobody clicks: what a head is, a head that looks at a word, and that word."""
    trace = bundled.trace(EXAMPLES["English"][0])
    sources = display_tokens(trace.source_tokens)
    page.add_init_script(LISTEN)
    page.goto(bundled_address)
    until(page, lambda: "All words" in says(page), True)
    assert "head" in (page.locator(".hl-player-about").text_content() or "")
    *seen, (_, ended) = page.evaluate("window.sentences")
    assert ended - seen[0][1] < 2.5 * STEP_MS * len(trace.target_tokens) + 2000
    steps = []
    for text, _ in seen:
        match = re.fullmatch(
            r"To write “(.+)”, cross-attention L(\d) H(\d) looks at “(.+)” \((\d+) %\)\.", text
        )
        assert match, text
        word, layer, head, looked, percent = match.groups()
        steps.append(word)
        row = trace.cross[
            int(layer) - 1, int(head) - 1, display_tokens(trace.target_tokens).index(word)
        ]
        assert sources[int(row.argmax())] == looked
        assert abs(100 * row.max() - int(percent)) <= 0.51
    written = display_tokens(trace.target_tokens)
    assert len(steps) >= len(written) // 2  # a slow machine misses some
    assert [word for word in written if word in steps] == steps
    box = page.locator(".hl-player").bounding_box()
    assert box
    assert box["y"] + box["height"] * 0.9 < 720  # all tiles are on the first screen


def test_a_step_is_taken_by_keys_stands_in_the_link_and_is_never_played_over(
    page, bundled_address: str
) -> None:
    open_at(page, bundled_address, step="3", watched="cross-4-3")
    assert "“Hunde”, cross-attention L4 H3 looks at “dogs”" in says(page)
    page.wait_for_timeout(2 * STEP_MS)
    assert "Hunde" in says(page)  # a link is not played
    page.get_by_role("button", name="One step on").focus()
    for key, word in (("ArrowRight", "rennen"), ("ArrowLeft", "Hunde"), ("Home", "Zwei")):
        page.keyboard.press(key)
        assert f"To write “{word}”" in says(page)
    assert address(page)["step"] == "1"
    page.get_by_role("radio", name="decoder").check()
    page.keyboard.press("End")
    expect(page.locator(".hl-player-count")).to_have_text("all")
    page.locator(".hl-player-tiles").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert address(page)["watched"].startswith("decoder_self-")
    page.get_by_role("button", name="Play").press("Space")
    until(page, lambda: "To write" in says(page), True)
    page.get_by_role("textbox").first.click()  # it does not play under a reader who types
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    paused = says(page)
    page.wait_for_timeout(2 * STEP_MS)
    assert says(page) == paused
    page.emulate_media(reduced_motion="reduce")
    open_at(page, bundled_address)  # it stands finished
    expect(page.locator(".hl-player-count")).to_have_text("all")
    page.wait_for_timeout(2 * STEP_MS)
    assert "All words" in says(page)
    no_traceback(page)


def test_a_click_goes_down_to_the_numbers_and_break_it_changes_the_translation(
    page, bundled_address: str, bundled: Translator
) -> None:
    open_at(page, bundled_address, step="3", watched="cross-4-3")
    at_rest(page)
    # a tile that is pointed at lends its ribbons
    box = page.locator(".hl-player-tiles canvas").bounding_box()
    wide = (box["width"] - 24 + 6) / 8
    for layer, head in ((0, 0), (5, 7)):
        page.mouse.move(box["x"] + 24 + (head + 0.4) * wide, box["y"] + 16 + layer * 20 + 7)
        until(page, partial(is_said, page, f"L{layer + 1} H{head + 1} looks at “"), True)
    page.locator(".hl-player-stage canvas").first.click(position={"x": 245, "y": 14})
    page.locator(".st-key-numbers canvas").first.wait_for()
    assert address(page)["numbers"] == "cross-4-3-3-3"
    trace = bundled.trace(TEXT)
    text = page.locator(".st-key-numbers").text_content() or ""
    assert f"{100 * trace.cross[3, 2, 2, 2]:.0f}" in text
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".st-key-numbers")).to_have_count(0)
    assert "Hunde" in says(page)  # the same step as before
    at_rest(page)
    page.get_by_role("button", name="Break it").click()
    slider = page.locator(".st-key-break").get_by_role("slider")
    slider.press("End")
    candidates = page.locator(".st-key-break-it .headlight-candidate")
    until(
        page,
        lambda: candidates.count() and "random" in (candidates.last.text_content() or ""),
        True,
    )
    at_rest(page)
    expect(candidates).to_have_count(2)
    assert candidates.first.locator("del").count() >= 1  # 24 heads: nothing is as it was
    page.get_by_role("button", name="Restore").click()
    expect(candidates).to_have_count(0)
    no_traceback(page)
