"""A small site in a real Chromium, as files and from a server: pages, the model, a lesson."""

import re
import runpy
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.browser.app_page import until
from tests.viz.planted_trace import EVIL
from transformer import Translator
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import removal_order
from viz.__main__ import main as report
from viz.draw.labels import SCREEN_NAMES
from viz.notebook import explore
from viz.site import __main__
from viz.site.live_page import LESSON_PAGE
from viz.site.serve import server_of

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
SENTENCE = "A man rides a horse."


def drawn(page) -> None:
    """Wait until a page or a frame has drawn, without the eval that it forbids."""
    entries = "performance.getEntriesByName('drawn').length"
    until(getattr(page, "page", page), lambda: page.evaluate(entries) > 0, True)


@pytest.fixture(scope="module")
def site(trained_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    lines = folder / "lines.txt"
    long = "a dog " * 110
    lines.write_text(f"{SENTENCE}\tNote {EVIL}\n\nEin Hund {EVIL}\n{long}\n", "utf-8")
    command = ["--out", str(folder / "out"), "--stored", str(lines), "--int8"]
    assert __main__.main([*command, "--checkpoint", str(trained_folder)]) == 2  # line 4 is too long
    return folder / "out"


@pytest.fixture(scope="module")
def served(site: Path):
    with server_of(site, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


def watched(page):
    """Collect what a page says in its console, and what it asks for."""
    page.messages, page.asked = [], []
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    page.on("dialog", lambda dialog: page.messages.append(dialog.message))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


@pytest.fixture(scope="module")
def tab(browser):
    page = watched(browser.new_page(offline=True, viewport={"width": 390, "height": 844}))
    yield page
    page.close()


@pytest.fixture
def visit(browser):
    """A visitor whose browser may have kept the model."""
    page = watched(browser.new_page())
    yield page
    page.close()


@pytest.fixture
def fresh(browser):
    """A visitor whose browser has kept nothing yet."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    yield watched(context.new_page())
    context.close()


def live(page, address: str = "") -> None:
    """Wait until the model of a page is there, and its pictures are drawn."""
    if address:
        page.goto(address)
    begun = "performance.getEntriesByName('live').length"
    until(page, lambda: page.evaluate(begun) > 0, True)


def translation(page) -> str:
    """Return the translation as it is read out."""
    return page.locator("#translation [aria-live]").text_content()


def says(page, element: str, words: str) -> None:
    """Wait until an element has these words."""
    until(page, lambda: words in page.locator(element).inner_text(), True)


# as soon as the translation of the whole sentence is there, another act
PRESSED_AT_ONCE = """([sentence, text, cell]) => {
    const translation = document.querySelector("#translation [aria-live]");
    const field = document.querySelector("#text");
    const watch = new MutationObserver(() => {
        // a beginning of the sentence may have the same translation, which then stays as it is
        const isStale = document.body.classList.contains("stale");
        if (isStale || field.value !== sentence || translation.textContent !== text) return;
        watch.disconnect();
        const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true });
        setTimeout(() => { cell.focus(); cell.dispatchEvent(enter); }, 50);
    });
    watch.observe(document.body, { attributes: true });
}"""


def words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text)}


def test_every_page_is_drawn_from_a_file_alone_and_every_link_leads_to_one(site, tab):
    todo, seen = ["index.html"], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        tab.goto((site / name).as_uri())
        drawn(tab)
        assert tab.title()
        assert tab.locator("meta[name=description]").get_attribute("content")
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        assert tab.locator("canvas:visible").count() > 0
        links = tab.eval_on_selector_all("a[href]", "links => links.map((a) => a.href)")
        assert all(link.startswith(f"{site.as_uri()}/") for link in links)
        todo += [Path(link).name for link in links]
    pages = {path.name for path in site.glob("*.html")}
    assert seen == pages == {"index.html", LESSON_PAGE}
    text = (site / "index.html").read_text("utf-8")
    assert EVIL not in text
    tab.goto((site / "index.html").as_uri())
    drawn(tab)
    assert "headlight site --serve" in tab.locator("#state").inner_text()
    tab.locator("#examples").select_option(index=2)  # the other stored sentence
    until(tab, lambda: "text=Ein+Hund" in tab.url, True)
    assert tab.locator("#text").input_value() == f"Ein Hund {EVIL}"
    assert tab.messages == []
    assert all(address.startswith(f"{site.as_uri()}/") for address in tab.asked)


def test_a_page_in_the_documentation_shows_the_part_of_its_address_alone(site, tab):
    frames = runpy.run_path(str(ROOT / "docs" / "live.py"))["FRAMES"]
    html = [f'<iframe src="{page}#{part}"></iframe>' for page, part, _ in frames.values()]
    (site / "frames.htm").write_text(f"<!doctype html>{''.join(html)}")
    tab.goto((site / "frames.htm").as_uri())
    for frame, (_, part, _) in zip(tab.frames[1:], frames.values(), strict=True):
        drawn(frame)
        parts = frame.locator("header, main > section, #lesson, footer").filter(visible=True)
        assert parts.evaluate_all("parts => parts.map(({ id }) => id)") == [part]
    assert tab.messages == []


def test_a_typed_sentence_is_translated_removed_broken_and_continued(served, visit, trained_folder):
    translator = Translator.load(trained_folder)
    visit.goto(served)
    live(visit)
    text = "My brother sings in the garden."
    whole = translator.translate(text)
    # a head that is removed by a click on its map is crossed out, and the words follow; however
    # soon that is, Back leads to what was there
    visit.get_by_label("Click a small map").check()
    map_ = visit.get_by_role("gridcell", name="cross-attention, layer 2, head 1")
    visit.evaluate(PRESSED_AT_ONCE, [text, whole.text, map_.element_handle()])
    visit.locator("#text").fill(text[:-4])
    visit.locator("#text").press_sequentially(text[-4:])
    without = effect(translator, translator.trace_of(whole), [Removal("cross", 1, 0)])
    until(visit, lambda: translation(visit), without.translation.text)
    bold = {*visit.locator("#translation b").all_inner_texts()}
    assert bold >= words(without.translation.text) - words(whole.text)
    until(visit, lambda: "switched off" in map_.get_attribute("aria-label"), True)
    # its small map and its large one say so
    map_.focus()
    until(visit, lambda: "switched off" in visit.locator(".hl-grid-box .hl-tip").inner_text(), True)
    visit.get_by_label("Click a small map").uncheck()
    map_.press("Enter")
    opened = visit.locator(".hl-explorer-open > div").first
    until(visit, lambda: "is removed" in opened.locator(".hl-foot").inner_text(), True)
    # the address keeps sentence and removal
    until(visit, lambda: "removed=cross-2-1" in visit.url, True)
    visit.reload()
    live(visit)
    until(visit, lambda: translation(visit), without.translation.text)
    assert visit.locator("#text").input_value() == text
    visit.go_back()  # before the removal
    until(visit, lambda: translation(visit), whole.text)
    visit.go_forward()
    until(visit, lambda: translation(visit), without.translation.text)
    visit.get_by_role("button", name="Restore the model").press("Enter")
    until(visit, lambda: translation(visit), whole.text)
    # Break it takes the heads as a click does: all pictures follow, and log P is Python's
    visit.get_by_role("button", name="Break it").press("Enter")
    trace = translator.trace_of(whole)
    (first,) = removal_order(translator.model, trace, length=1)
    until(visit, lambda: "1 of 12" in visit.locator("#breaking").inner_text(), True)
    lost = effect(translator, trace, [Removal(*first)])
    before, after = (
        f"{some.log_probs.sum():.2f}".replace("-", "−") for some in (lost.before, lost.after)
    )
    says(visit, "#figures", f"log P {before} → {after}")
    until(visit, lambda: translation(visit), lost.translation.text)
    visit.get_by_label("Click a small map").check()
    name = f"layer {first.layer + 1}, head {first.head + 1}"
    broken = visit.get_by_role("gridcell", name=f"{SCREEN_NAMES[first.kind]}, {name}")
    until(visit, lambda: "switched off" in broken.get_attribute("aria-label"), True)
    broken.press("Enter")  # a click gives it back
    until(visit, lambda: translation(visit), whole.text)
    assert "0 of 12" in visit.locator("#breaking").inner_text()
    # a word is replaced by its first alternative: opened by the mouse, chosen by keys
    word = visit.locator("#translation button").nth(1)
    word.click()
    card = visit.locator(".hl-card [role=option]").first
    label = card.locator(".hl-card-name").inner_text().strip("\u2068\u2069·")
    word.press("ArrowDown")
    word.press("Enter")
    until(visit, lambda: translation(visit) != whole.text, True)
    assert label in translation(visit)
    # squares that are painted down a column count in each row, and are named in the address
    visit.locator("#text").fill(f"{text} ")
    until(visit, lambda: translation(visit), whole.text)
    visit.get_by_label("Edit the attention").check()
    square = visit.locator(".hl-explorer-open .hl-scroll canvas").first
    square.scroll_into_view_if_needed()
    size = square.bounding_box()
    x, y = size["x"] + size["width"] / 2, size["y"] + size["height"] * 0.6
    visit.mouse.move(x, y)
    visit.mouse.down()
    visit.mouse.move(x, y + size["height"] * 0.3, steps=3)
    visit.mouse.up()
    until(visit, lambda: visit.locator("#editing .done button").count() > 2, True)
    until(visit, lambda: "rows=" in visit.url, True)
    assert square.bounding_box()["y"] == pytest.approx(size["y"], abs=1)  # nothing moved it
    # a tile of the player opens its head below, too
    title = visit.locator(".hl-explorer-open .hl-title").first
    before = title.inner_text()
    visit.locator(".hl-player-tiles canvas").click(position={"x": 60, "y": 25})
    until(visit, lambda: title.inner_text() != before, True)
    head = title.inner_text().partition(" ·")[0]
    assert head in visit.locator(".hl-player-says").inner_text()
    assert visit.messages == []
    assert all(address.startswith(served) for address in visit.asked)


COUNTS_MAPS = """
    window.maps = 0;
    const put = CanvasRenderingContext2D.prototype.putImageData;
    CanvasRenderingContext2D.prototype.putImageData = function (...given) {
        window.maps += this.canvas.width > 400; // a small canvas has one picture alone
        return put.apply(this, given);
    };
"""
PICTURE = "canvas => canvas.toDataURL()"


def test_small_maps_are_drawn_once_and_nothing_moves(served, visit, trained_folder):
    heads = Translator.load(trained_folder).model.config
    visit.add_init_script(COUNTS_MAPS)
    visit.add_init_script("""
        window.moved = 0;
        new PerformanceObserver((list) => {
            for (const shift of list.getEntries()) window.moved += shift.value;
        }).observe({ type: "layout-shift", buffered: true });
    """)
    live(visit, served)
    drawn(visit)
    visit.wait_for_timeout(300)
    # those of the stored sentence, and again when the model is there
    assert visit.evaluate("window.maps") <= 2 * 3 * heads.N * heads.h
    assert visit.evaluate("window.moved") < 0.02
    # a page around it, or the system, may change the theme
    grid = visit.locator("#explorer .hl-grid-scroll canvas")
    light = grid.evaluate(PICTURE)
    visit.emulate_media(color_scheme="dark")
    until(visit, lambda: grid.evaluate(PICTURE) != light, True)
    # a long sentence wraps
    field = visit.locator("#text")
    before = field.bounding_box()["height"]
    field.fill("a dog and " * 30)
    assert field.evaluate("field => field.scrollHeight - field.clientHeight") <= 1
    assert field.bounding_box()["height"] > 2 * before
    field.fill("A dog")
    assert field.bounding_box()["height"] == before


def test_what_cannot_be_translated_gets_a_sentence_and_the_pictures_stay(served, visit):
    live(visit, f"{served}?head=cross-9-9&removed=cross-1-77")
    says(visit, "#warning", "cross-9-9")
    # a beginning and a row that this sentence has not: what is left of the link counts
    rows = "rows=cross-1-1-99-1,cross-8-8-1-1"
    live(visit, f"{served}?text=A+dog&begins=%F0%9F%90%B4&{rows}&removed=cross-1-1")
    for words in ("cross-8-8", "chosen beginning are left out"):
        says(visit, "#warning", words)
    until(visit, lambda: "removed=cross-1-1" in visit.url and "rows" not in visit.url, True)
    assert translation(visit)
    canvases = visit.locator(":is(#watch, #explorer) canvas:visible")
    pictures = canvases.count()
    for text, words in {
        "x" * 2001: "2,001",
        "": "empty",
        "\ud800": "broken",
    }.items():
        visit.locator("#text").evaluate(
            "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')); }",
            text,
        )
        says(visit, "#warning", words)
        says(visit, "#warning", "pictures still show “A dog”")
        assert visit.locator("body.stale").count() == 1
        assert translation(visit) == ""
    visit.locator("#text").fill("Der Hund ist nicht hier")
    says(visit, "#warning", "German")
    until(visit, lambda: visit.locator("body.stale").count(), 0)
    assert canvases.count() == pictures > 3
    assert visit.messages == []


def test_a_browser_without_workers_or_a_cache_says_so(served, visit):
    for missing, words in (("caches", "at each visit"), ("Worker", "no Web Workers")):
        visit.add_init_script(f"delete window.{missing};")
        visit.goto(served)
        says(visit, "#state", words)
        until(visit, lambda: visit.locator("#watch canvas").count() > 0, True)
    assert visit.locator("#text").get_attribute("readonly") is not None


def test_a_visit_goes_on_without_a_network_with_a_cut_one_and_with_a_damaged_part(served, fresh):
    # a link to another sentence shows none before it is translated
    waiting: list[Any] = []
    is_cut: list[bool] = []
    fresh.route("**/*.bin", lambda route: route.abort() if is_cut else waiting.append(route))
    fresh.goto(f"{served}?text=A+dog")
    says(fresh, "#translation", "as soon as")
    assert fresh.locator("#watch canvas").count() == 0
    # the connection is cut, and then it is there again
    is_cut.append(True)
    for route in waiting:
        route.abort()
    again = fresh.get_by_role("button", name="Try again")
    until(fresh, again.is_visible, True)
    until(fresh, lambda: fresh.locator("#watch canvas").count() > 0, True)
    fresh.unroute("**/*.bin")
    again.click()
    live(fresh)
    # a damaged part of the cache is fetched once more
    damage = """async () => {
        const [name] = (await caches.keys()).filter((name) => name.includes("en-de"));
        const cache = await caches.open(name);
        const [first] = await cache.keys();
        await cache.put(first, new Response("damaged"));
    }"""
    fresh.evaluate(damage)
    fresh.asked.clear()
    fresh.reload()
    live(fresh)
    assert sum(address.endswith(".bin") for address in fresh.asked) == 1
    # without a network the visitor finds all again
    fresh.context.set_offline(True)
    fresh.reload()
    live(fresh)
    fresh.locator("#text").fill("The baker waits.")
    until(
        fresh,
        lambda: "source" not in translation(fresh) and bool(translation(fresh)),
        True,
    )
    fresh.context.set_offline(False)


def test_a_report_has_the_same_parts_and_its_pictures_are_named_after_their_heads(
    trained_folder, tab, tmp_path
):
    path = tmp_path / "report.html"
    assert report([SENTENCE, "-o", str(path), "--checkpoint", str(trained_folder)]) == 0
    tab.messages.clear()
    tab.goto(path.as_uri())
    drawn(tab)
    assert tab.locator("[data-picture] > *").count() == 3
    opened = tab.locator(".hl-explorer-open h3").first
    for button in (
        tab.locator("header .findings button").last,
        tab.locator("#without button").nth(2),
    ):
        kind, layer, head = button.get_attribute("data-head").split(".")
        button.press("Enter")
        name = f"l{int(layer) + 1}-h{int(head) + 1}"
        assert opened.inner_text().lower().replace(" ", "-").startswith(f"{name}-")
        assert opened.get_attribute("data-kind") == kind
        for part in range(2):  # the map, and its ribbons
            place = tab.locator(".hl-explorer-open .hl-save").nth(part)
            place.locator("summary").click()
            with tab.expect_download() as download:
                place.get_by_role("button", name="Save as SVG").click()
            assert download.value.suggested_filename.startswith(f"headlight-{name}-")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert tab.messages == []


def test_a_lesson_is_taken_by_keyboard_and_checked_on_the_page(site, tab):
    tab.goto((site / LESSON_PAGE).as_uri())
    drawn(tab)
    card = tab.locator(".card:visible")

    def answer(text: str) -> tuple[bool, str]:
        """Return whether an answer is taken as right, and the score."""
        field = card.locator("input").first
        if field.get_attribute("type") == "radio":
            card.get_by_role("radio", name=text, exact=True).press("Space")
        else:
            field.fill(text)
        field.press("Enter")
        assert card.locator(".hint").is_visible() != card.locator(".reveal").is_visible()
        return card.locator(".reveal").is_visible(), card.locator(".score").inner_text()

    def go_on() -> str:
        card.locator("[data-go='1']").press("Enter")
        return card.locator(".hl-explorer-open h3").first.inner_text()[:5]

    def score(right: int) -> str:
        return f"You have {right} of 6 right."

    assert answer("6") == (False, score(0))
    assert answer(" 7,0") == (True, score(1))
    assert card.locator("[data-answer]").inner_text() == "7"
    assert go_on() == "L4 H5"
    canvas = card.locator(".hl-explorer-open .hl-scroll canvas").first
    words = canvas.evaluate("canvas => canvas.painted.words.map(({ text }) => text)")
    assert {"horse", "Pferd"} <= {*words}
    assert answer("rides") == (False, score(1))
    assert answer("horse") == (True, score(2))
    assert go_on() == "L4 H5"
    assert answer("0.2") == answer("zero") == (False, score(2))
    assert answer("5 %") == answer("0,03") == (True, score(3))
    assert go_on() == "L4 H4"
    assert answer("rides") == (True, score(4))
    assert go_on() == "L1 H1"
    assert answer("English both") == (True, score(5))
    card.locator("[data-go='1']").press("Enter")
    assert answer("no") == (True, score(6))
    card.locator("summary").press("Enter")
    assert card.locator(".without:visible").count() == 1
    # none of the answers stands in the page as text
    text = (site / LESSON_PAGE).read_text("utf-8")
    assert {*re.findall(r"data-answer>(.*?)<", text)} == {""}
    assert "English both" not in re.sub(r"<label>.*?</label>", "", text)
    assert tab.messages == []


def test_a_notebook_has_the_model_in_its_output(browser, trained_folder: Path, tmp_path: Path):
    translator = Translator.load(trained_folder)
    path = tmp_path / "notebook.html"
    frame = explore(translator.trace("A dog."), live=True, translator=translator)
    path.write_text(f"<!doctype html><h1>Notebook</h1>{frame._repr_html_()}", "utf-8")
    page = watched(browser.new_page(offline=True))
    page.goto(path.as_uri())
    page = page.frames[1]
    field = page.locator("#text")
    until(page.page, lambda: field.input_value() == "A dog." and field.is_editable(), True)
    field.fill(SENTENCE)
    expected = translator.translate(SENTENCE).text
    until(page.page, lambda: page.locator("#translation .headlight-unseen").inner_text(), expected)
    page.get_by_role("button", name=re.compile("Break it")).wait_for()
    assert page.page.messages == []
    assert {url.partition(":")[0] for url in page.page.asked} <= {"file", "about", "blob"}
    page.page.close()
