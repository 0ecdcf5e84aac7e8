"""Watch it translate: what moves, who stops it, and what a newcomer sees in the first seconds."""

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest

from tests.browser.app_page import PATIENCE, at_rest, enter, expect, no_traceback, until
from transformer import Translator
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal import removed as removals
from transformer.analysis.heads.removal_order import removal_order
from viz.app.sentence.source_box import EXAMPLES
from viz.draw.labels import browser_tokens, display_tokens

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TOKENS = {
    "start, the mark before the first word": "<s>",
    "end, the mark after the last word": "</s>",
    "“end”": "</s>",  # where it looks at itself
}
TEXT = "Two black dogs are running through the snow."
SHORT = "The cat sleeps."  # four heads are removed before its translation changes
STEP_MS = 900  # at most

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


SPEED = 6
# the clock of a picture that plays runs `SPEED` times as fast; `window.pace` sets another speed;
# 15 frames a second, because a processor paints each
FASTER = f"""
{{
    const now = performance.now.bind(performance);
    let [speed, since, then] = [{SPEED}, now(), now()];
    performance.now = () => then + speed * (now() - since);
    window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 66);
    window.cancelAnimationFrame = clearTimeout;
    window.pace = (wanted) => {{ [then, since, speed] = [performance.now(), now(), wanted]; }};
}}
"""


@pytest.fixture(scope="module")
def page(browser) -> Iterator:
    page = browser.new_page()
    page.add_init_script(FASTER)
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


def open_at(page, app: str, text: str = TEXT, **choices: str) -> None:
    enter(page, f"{app}/?{urlencode({'text': text, **choices})}")
    page.locator(".hl-player-says").wait_for()


def test_a_newcomer_sees_a_head_look_at_a_word_within_seconds(
    page, bundled_address: str, bundled: Translator
) -> None:
    """Nobody clicks: what a head is, a head that looks at a word, and that word."""
    trace = bundled.trace(EXAMPLES["English"][0])
    sources = browser_tokens(trace.source_tokens)
    page.add_init_script(LISTEN)
    page.goto(bundled_address)
    until(page, lambda: "All words" in says(page), True)
    assert "head" in (page.locator(".hl-player-about").text_content() or "")
    *seen, (_, ended) = page.evaluate("window.sentences")
    assert 0.6 * STEP_MS * len(trace.target_tokens) < ended - seen[0][1] < 14_000
    steps = []
    for text, _ in seen:
        match = re.fullmatch(
            r"To write (.+), cross-attention L(\d) H(\d) looks at (.+) \((\d+) %\)\.", text
        )
        assert match, text
        word, layer, head, looked, percent = match.groups()
        word, looked = (TOKENS.get(text, text.strip("“”")) for text in (word, looked))
        steps.append(word)
        row = trace.cross[
            int(layer) - 1, int(head) - 1, browser_tokens(trace.target_tokens).index(word)
        ]
        assert sources[int(row.argmax())] == looked
        assert abs(100 * row.max() - int(percent)) <= 0.51
    written = browser_tokens(trace.target_tokens)
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
    page.wait_for_timeout(2 * STEP_MS / SPEED)
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
    page.get_by_role("textbox").first.click()  # it does not play under a reader who acts
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert "All words" in says(page)
    assert "step" not in address(page)
    page.emulate_media(reduced_motion="reduce")
    open_at(page, bundled_address)  # it stands finished
    expect(page.locator(".hl-player-count")).to_have_text("all")
    page.wait_for_timeout(2 * STEP_MS / SPEED)
    assert "All words" in says(page)
    no_traceback(page)


def test_typing_at_any_pace_ends_with_the_whole_sentence(
    page, bundled_address: str, bundled: Translator
) -> None:
    page.emulate_media(reduced_motion="no-preference")
    open_at(page, bundled_address, step="3", numbers="cross-4-3-3-3")
    text = "A cat sleeps."
    page.evaluate("pace(1)")  # letters come while it plays
    page.locator(".st-key-text textarea").click()
    page.keyboard.press("Control+A")
    page.keyboard.type(text[:9], delay=60)
    page.wait_for_timeout(700)  # long enough for what is there to be translated and played
    page.keyboard.type(text[9:], delay=320)  # an answer may come between two letters
    page.evaluate(f"pace({SPEED})")
    wanted = display_tokens(bundled.trace(text).target_tokens)
    seen = page.locator(".hl-player .hl-unseen td:nth-child(2)")
    until(page, lambda: seen.all_text_contents() == wanted, True)
    until(page, lambda: "All words" in says(page), True)
    at_rest(page)
    assert not {"step", "numbers"} & {*address(page)}  # they were of another sentence
    # a later text is played, too
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem").nth(3).click()
    until(page, lambda: "To write" in says(page), True)
    until(page, lambda: "All words" in says(page), True)
    assert "step" not in address(page)


def tile(page, layer: int, head: int) -> tuple[float, float]:
    """Return the middle of a head's tile, counted from 0."""
    box = page.locator(".hl-player-tiles canvas").bounding_box()
    wide = (box["width"] - 24 + 6) / 8
    return box["x"] + 24 + (head + 0.4) * wide, box["y"] + 16 + layer * 20 + 7


def saved_svg(page) -> tuple[str, str]:
    """Save the picture; return the name of its file and its text."""
    player = page.locator(".hl-player")
    player.locator("summary").click()
    with page.expect_download() as download:
        player.get_by_role("button", name="Save as SVG").click()
    return download.value.suggested_filename, download.value.path().read_text("utf-8")


def test_at_rest_a_tile_draws_its_own_head_and_the_file_is_named_after_it(
    page, bundled_address: str
) -> None:
    page.emulate_media(reduced_motion="reduce")
    open_at(page, bundled_address)
    at_rest(page)
    ribbons = {}
    for layer, head in ((1, 2), (3, 5)):
        name = f"L{layer + 1} H{head + 1}"
        page.mouse.move(*tile(page, layer, head))
        until(page, partial(is_said, page, f"where cross-attention {name} looks"), True)
        assert name in (page.locator(".hl-player-about").text_content() or "")
        page.mouse.click(*tile(page, layer, head))
        file, svg = saved_svg(page)
        assert f"l{layer + 1}-h{head + 1}" in file
        assert f"{name} · all words" in svg
        ribbons[name] = re.findall(r'<path d="([^"]+)"', svg)
        assert address(page)["watched"] == f"cross-{layer + 1}-{head + 1}"
    assert len({*map(tuple, ribbons.values())}) == 2  # each head's own
    page.get_by_role("radio", name="word links").check()
    assert "cross-attention L2 H5 links the words" in says(page)
    file, svg = saved_svg(page)
    assert "word-links" in file
    assert "l2-h5" in file
    assert re.findall(r'<path d="([^"]+)"', svg) not in ribbons.values()
    assert address(page)["ribbons"] == "links"
    page.mouse.click(*tile(page, 0, 0))  # a tile shows its own head again
    assert "L1 H1" in says(page)
    assert "ribbons" not in address(page)
    page.get_by_role("radio", name="encoder").check()  # all of its rows, though there are more
    expect(page.locator(".hl-player-count")).to_have_text("all")
    page.emulate_media(reduced_motion="no-preference")
    no_traceback(page)


def test_a_ribbon_opens_its_numbers_in_the_picture(
    page, bundled_address: str, bundled: Translator
) -> None:
    open_at(page, bundled_address, step="3", watched="cross-4-3")
    at_rest(page)
    stage = page.locator(".hl-player-stage canvas").first
    # the word that the head looks at; a ribbon is hit likewise
    stage.hover(position={"x": 245, "y": 14})
    assert "computes" in (page.locator(".hl-player-about").text_content() or "")
    stage.click(position={"x": 245, "y": 14})
    panel = page.locator(".hl-player-numbers")
    expect(panel).to_be_visible()
    assert address(page)["numbers"] == "cross-4-3-3-3"
    box = panel.bounding_box()
    assert box["y"] + box["height"] < 720
    trace = bundled.trace(TEXT)
    weights = trace.cross[3, 2, 2]
    rows = panel.locator("tbody tr").all()
    here = panel.locator("tr.hl-here td").all_text_contents()
    assert here[0] == display_tokens(trace.source_tokens)[2]
    assert float(here[3]) == pytest.approx(weights[2], abs=1e-3)
    shown = [float(row.locator("td").nth(3).text_content()) for row in rows]
    assert shown == pytest.approx(sorted(weights, reverse=True)[: len(rows)], abs=1e-3)
    for row in rows:  # q · k over √d_k
        dot, score = (float(row.locator("td").nth(n).text_content().replace("−", "-"))
                      for n in (1, 2))  # fmt: skip
        assert dot / bundled.model.config.d_k**0.5 == pytest.approx(score, abs=0.01)
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    until(page, lambda: "numbers" in address(page), False)
    assert "Hunde" in says(page)  # the same step as before
    # by keys: the word of the largest weight, then the one after it
    page.get_by_role("group", name="Words and ribbons").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(panel).to_be_visible()
    until(page, lambda: address(page).get("numbers"), f"cross-4-3-3-{weights.argmax() + 2}")
    no_traceback(page)


def test_break_it_removes_heads_in_the_picture(
    page, bundled_address: str, bundled: Translator
) -> None:
    """The row, the crossed tiles and the control come by themselves, in the first view."""
    page.emulate_media(reduced_motion="reduce")
    open_at(page, bundled_address, SHORT)
    at_rest(page)
    page.get_by_role("button", name="Break it").click()
    count = page.locator(".hl-break-count")
    until(page, lambda: "break" in address(page) and address(page)["break"] != "0", True)
    removed = int(address(page)["break"])
    expect(count).to_contain_text(f"{removed} of 24")
    controlled = partial(page.locator(".hl-break-control").text_content)
    until(page, lambda: "5 draws" in (controlled() or ""), True)
    control = controlled() or ""
    box = page.locator(".hl-break").bounding_box()
    assert box["y"] + box["height"] < 720
    trace = bundled.trace(SHORT)
    order = removal_order(bundled.model, trace, length=removed)
    with removals(bundled, [Removal(*head) for head in order]):
        text = bundled.translate(SHORT).text
        after = bundled.trace(SHORT, target=trace.target).log_probs.sum()
    # it stops at the first number of heads that changes the text plainly
    words = [word.strip(".,") for word in trace.target.split()]
    left = [word.strip(".,") for word in text.split()]
    assert len([word for word in words if word not in left]) >= 0.2 * len(words)
    assert f"→ {after:.2f}".replace("-", "−") in control
    times = np.exp(trace.log_probs.sum() - after)
    assert f"{float(f'{times:.2g}'):,g} times less probable" in control
    assert text in says(page)
    file, svg = saved_svg(page)
    assert f"without-{removed}-head" in file
    shown = [unescape(word) for word in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    shown = [re.sub("[\u2066-\u2069]", "", word) for word in shown]
    new = [word for word in text.split() if word.strip(".") not in trace.target.split()]
    assert any(word.strip(".") in shown for word in new)
    # the slider goes back, and the end of it takes all of it away
    slider = page.get_by_role("slider", name="Heads removed")
    for fewer in range(removed - 1, 0, -1):  # through rows of other lengths
        slider.press("ArrowLeft")
        expect(count).to_contain_text(f"{fewer} of 24")
    slider.press("Home")
    expect(count).to_contain_text("0 of 24")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Break it")).to_be_visible()
    until(page, lambda: "break" in address(page), False)
    # a link opens it, and another sentence begins whole
    open_at(page, bundled_address, SHORT, **{"break": "3"})
    expect(count).to_contain_text("3 of 24")
    until(page, lambda: "5 draws" in (controlled() or ""), True)
    # the way on and back keeps the head that is chosen here
    page.mouse.click(*tile(page, 3, 5))
    onward = page.get_by_role("link", name="How one head computes")
    until(page, lambda: "layer=4&head=6" in (onward.get_attribute("href") or ""), True)
    onward.click()
    page.get_by_role("link", name="← Back").click()
    until(page, lambda: address(page).get("watched"), "cross-4-6")
    expect(count).to_contain_text("3 of 24")
    # a step is one of the whole model
    page.get_by_role("button", name="One step back").click()
    expect(page.get_by_role("button", name="Break it")).to_be_visible()
    until(page, lambda: [name in address(page) for name in ("break", "step")], [False, True])
    at_rest(page)
    assert "step" in address(page)  # the host, which answers later, keeps it
    page.emulate_media(reduced_motion="no-preference")
    open_at(page, bundled_address, SHORT, **{"break": "1"})
    page.get_by_role("link", name="← Back").click()
    until(page, lambda: "To write" in says(page), True)
    page.go_back()  # while it plays
    expect(count).to_contain_text("1 of 24")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.locator(".st-key-text textarea").fill("A dog barks.")
    expect(page.get_by_role("button", name="Break it")).to_be_visible()
    until(page, lambda: "break" in address(page), False)
    no_traceback(page)
