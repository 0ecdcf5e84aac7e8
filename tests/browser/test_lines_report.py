"""The page of many sentences in a real Chromium, from a file and without a network."""

from dataclasses import replace

import numpy as np
import pytest

from tests.browser.spy import level_of, map_on, plain
from tests.viz.planted_trace import EVIL, HEADS, LAYERS, UNLIKE, many
from transformer import KINDS
from transformer.analysis.axes import by_pieces
from transformer.analysis.corpus.head_summary import REACH, CorpusSummary, measure_heads
from transformer.text.languages import Languages
from viz.draw.heads_view import ExplorerOptions
from viz.draw.labels import display_tokens
from viz.draw.palette import table
from viz.lines import lines_report

pytestmark = pytest.mark.browser
ROW, FIRST_ROW = 18, 42  # of plan.js


class Opened:
    """A page on disk in a browser, and all that it asks of the network."""

    def __init__(self, browser, path, text, address="", **options):
        path.write_text(text, encoding="utf-8")
        self.page = browser.new_page(viewport={"width": 1440, "height": 1000}, **options)
        self.asked: list[str] = []
        self.faults: list[object] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda fault: self.faults.append(fault))
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.address = path.as_uri()
        self.page.goto(f"{self.address}{address}")
        self.page.locator("[role=gridcell]").first.wait_for()
        self.options = self.page.locator("[role=option]")
        self.chosen = self.page.locator("[role=option][aria-selected=true]")
        self.search = self.page.get_by_label("Search")
        self.summary = self.page.locator("#summary .hl-scroll")

    def source(self):
        return self.page.locator("#sentence dd").first.inner_text()

    def wait_for(self, trace):
        """Until the sentence of this trace is shown."""
        self.page.locator("#sentence dd").first.get_by_text(trace.source, exact=True).wait_for()

    def numbers(self):
        return [int(one[1:]) for one in self.options.locator(".number").all_inner_texts()]

    def map(self):
        return map_on(self.page.locator(".hl-explorer-open .hl-scroll canvas").first)

    def told(self, query, key):
        """What the note says of a square of the large map."""
        origin = self.map()["origin"]
        at = {
            "x": origin["x"] + (key + 0.5) * origin["square"],
            "y": origin["y"] + (query + 0.5) * origin["square"],
        }
        self.page.locator(".hl-explorer-open .hl-scroll canvas").first.hover(position=at)
        return plain(self.page.locator(".hl-explorer-open .hl-tip").first.inner_text())

    def pictures(self):
        """The strips of the summary: place and colours of each panel's raster."""
        return self.summary.locator("canvas").evaluate(
            """(canvas) => canvas.painted.pictures.map(({ raster, wide, high, from, to }) => ({
                wide, high, from, to,
                colors: [...raster.getContext("2d").getImageData(0, 0, wide, high).data],
            }))"""
        )

    def colors(self):
        """Of each panel, `[head, column, 3]`."""
        return [
            np.reshape(one["colors"], (one["high"], one["wide"], 4))[..., :3]
            for one in self.pictures()
        ]


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "report.html"
    page = Opened(browser, path, lines_report(many(), ExplorerOptions("cross"), theme="light"))
    yield page
    page.page.close()


@pytest.fixture(autouse=True)
def _without_faults(opened):
    yield
    assert opened.faults == []
    assert {url.split("#")[0] for url in opened.asked} <= {opened.address}


def hottest(trace, kind, layer, head):
    weights = trace.weights(kind)[layer, head]
    return map(int, np.unravel_index(weights.argmax(), weights.shape))


@pytest.mark.parametrize("number", [1, 2, 5])
def test_each_sentence_lights_up_the_cell_that_was_planted_in_it(opened, number):
    trace = many()[number - 1]
    opened.options.nth(number - 1).click()
    opened.wait_for(trace)
    assert opened.page.url == f"{opened.address}#{number}"
    kind, layer, head = "cross", 1, 2
    name = f"cross, layer {layer + 1}, head {head + 1}"
    opened.page.get_by_role("gridcell", name=name, exact=True).click()
    labels = [display_tokens(axis) for axis in trace.labels(kind)]
    painted = opened.map()
    assert [painted["queries"], painted["keys"]] == labels
    assert (painted["levels"] == level_of(trace.weights(kind)[layer, head])).all()
    query, key = hottest(trace, kind, layer, head)
    weight = trace.weights(kind)[layer, head, query, key]
    said = f"“{labels[0][query]}” → “{labels[1][key]}”{weight:.3f}"
    assert opened.told(query, key).startswith(said)


def test_a_head_that_lies_apart_is_that_of_the_sentence(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("viz.draw.explorer.INSIDE_BYTES", 0)
    page = Opened(browser, tmp_path / "apart.html", lines_report(many()), "#3")
    for number in (3, 4):
        trace = many()[number - 1]
        page.options.nth(number - 1).click()
        page.wait_for(trace)
        page.page.get_by_role("gridcell", name="encoder, layer 1, head 2", exact=True).click()
        page.page.get_by_role("heading", name="L1 H2 · encoder").wait_for()
        page.page.locator(".hl-explorer-open:not([aria-busy])").wait_for()
        levels = level_of(trace.encoder_self[0, 1])
        assert (page.map()["levels"] == levels).all()
    assert page.faults == []
    page.page.close()


def test_arrow_keys_walk_over_the_list_and_the_open_head_stays_open(opened):
    opened.options.first.click()
    opened.page.locator("[role=gridcell]").nth(4).click()
    title = opened.page.locator(".hl-explorer-open h3").inner_text()
    opened.options.first.focus()
    for key, number in [
        ("ArrowDown", 2), ("ArrowDown", 3), ("End", 5), ("ArrowDown", 5), ("PageUp", 1),
        ("End", 5), ("ArrowUp", 4), ("Home", 1),
    ]:  # fmt: skip
        opened.page.keyboard.press(key)
        opened.wait_for(many()[number - 1])
        assert opened.page.evaluate("document.activeElement.hash") == f"#{number}"
        assert opened.chosen.get_attribute("href") == f"#{number}"
    assert opened.page.locator(".hl-explorer-open h3").inner_text() == title
    assert opened.page.locator("[role=option][tabindex='0']").count() == 1


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [("kafer", [2]), ("RUN3", [4]), ("two run", [1, 2, 3, 4, 5]), ("#3", [3]), ("zzz", []),
     ("schwarze cats", [4])],
)  # fmt: skip
def test_typing_finds_sentences_in_both_languages(opened, typed, numbers):
    opened.search.fill(typed)
    assert opened.numbers() == numbers
    count = opened.page.locator(".count").inner_text()
    assert count == ("5 sentences" if len(numbers) == 5 else f"{len(numbers)} of 5 sentences")
    if numbers:
        opened.search.press("Enter")
        opened.wait_for(many()[numbers[0] - 1])
    opened.search.fill("")


def test_the_list_is_sorted_as_is_chosen(opened):
    order = opened.page.get_by_label("Order")
    order.select_option("log p")
    assert opened.numbers() == [2, 4, 5, 1, 3]
    order.select_option("unlike")
    assert opened.numbers() == sorted(range(1, 6), key=lambda number: -UNLIKE[number - 1])
    order.select_option("line")
    assert opened.numbers() == [1, 2, 3, 4, 5]


def test_a_link_opens_what_it_names_and_reloading_keeps_it(opened):
    opened.page.goto(f"{opened.address}#4")
    opened.wait_for(many()[3])
    opened.page.reload()
    opened.page.locator("[role=gridcell]").first.wait_for()
    opened.wait_for(many()[3])
    assert opened.chosen.get_attribute("href") == "#4"
    for wrong in ("#99", "#x"):
        opened.page.goto(f"{opened.address}{wrong}")
        opened.wait_for(many()[0])


def heads_of(kind):
    of = CorpusSummary(kind)
    for number, trace in enumerate(many(), start=1):
        of.add(number, measure_heads(by_pieces(trace, kind), kind))
    return of.heads()


def colors_of(heads, kind):
    """Of the strips of heads, `[head, column, 3]`."""
    profile = np.stack([one.profile for one in heads])
    levels = np.floor(255 * np.sqrt(np.clip(profile, 0, 1)) + 0.5).astype(int)
    return table(kind, "light")[levels]


def test_the_summary_paints_and_tells_the_mean_at_each_relative_position(opened):
    pictures = opened.pictures()
    assert len(pictures) == len(KINDS)
    for kind, picture, colors in zip(KINDS, pictures, opened.colors(), strict=True):
        heads = heads_of(kind)
        assert (colors == colors_of(heads, kind)[:, : picture["wide"]]).all()
        row = 4  # L2 H2
        column = int(heads[row].profile.argmax())
        cell = (picture["to"][0] - picture["from"][0]) / picture["wide"]
        at = {"x": picture["from"][0] + (column + 0.5) * cell, "y": FIRST_ROW + (row + 0.5) * ROW}
        opened.summary.hover(position=at)
        said = plain(opened.summary.locator("xpath=..").locator(".hl-tip").inner_text())
        distance = column - REACH - 1
        where = f"{abs(distance)} {'before' if distance < 0 else 'after'}"
        assert said.startswith("L2 H2 · ")
        assert (where if distance else "at the same position") in said
        assert f"{heads[row].profile[column]:.3f}" in said


def test_the_summary_answers_keys_and_opens_a_head(opened):
    opened.options.first.click()
    opened.wait_for(many()[0])
    opened.summary.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        opened.page.keyboard.press(key)
    opened.page.get_by_role("heading", name="L1 H3 · encoder").wait_for()
    read_out = opened.page.locator("#summary [aria-live]").last.inner_text()
    assert "L1 H3 of encoder self-attention is open" in read_out


def test_heads_are_sorted_by_a_measure_and_the_table_names_all(opened):
    opened.page.get_by_label("Measure").select_option("unlike others")
    opened.page.get_by_label("sort by it").check()
    heads = heads_of("encoder_self")
    value = {
        f"L{one.place.layer + 1} H{one.place.head + 1}": one.values["unlike others"].mean
        for one in heads
    }
    words = opened.summary.locator("canvas").evaluate("(canvas) => canvas.painted.words")
    left = min(word["x"] for word in words if word["text"] in value)
    names = [word["text"] for word in words if word["text"] in value and word["x"] == left]
    assert names == sorted(value, key=lambda name: -value[name])
    order = sorted(heads, key=lambda one: -one.values["unlike others"].mean)
    assert (opened.colors()[0] == colors_of(order, "encoder_self")).all()
    opened.page.get_by_label("sort by it").uncheck()
    rows = opened.page.locator("#summary tbody tr")
    assert rows.count() == len(KINDS) * LAYERS * HEADS
    assert "encoder self-attention" in rows.first.inner_text()


def test_where_heads_differ_most_can_be_followed(opened):
    most = max(
        (one for kind in KINDS for one in heads_of(kind)),
        key=lambda one: one.values["unlike others"].mean,
    )
    button = opened.page.locator(".hl-foremost button").first
    name = f"L{most.place.layer + 1} H{most.place.head + 1}"
    assert button.inner_text().startswith(f"{name} · ")
    button.click()
    opened.page.locator(".hl-explorer-open h3").get_by_text(name).wait_for()
    link = opened.page.locator(".hl-foremost a").first
    number = int(link.get_attribute("href")[1:])
    link.click()
    opened.wait_for(many()[number - 1])


def test_a_word_that_would_close_a_script_is_a_word(browser, tmp_path):
    page = Opened(browser, tmp_path / "evil.html", lines_report(many(2, evil=True), title=EVIL))
    assert page.page.title() == EVIL
    assert page.page.locator("img").count() == 0
    assert EVIL in page.options.first.inner_text()
    assert page.faults == []
    page.page.close()


def test_a_sentence_that_cannot_be_read_is_not_shown_as_another(browser, tmp_path):
    traces = many(3)
    traces[2] = replace(traces[2], languages=Languages("English", "French"))
    text = lines_report(traces, ExplorerOptions("cross", lens="norm"))
    page = Opened(browser, tmp_path / "cut.html", text.replace('id="line-2">', 'id="line-2">cut'))
    page.page.get_by_role("heading", name="Each head over all sentences").wait_for()
    foot = page.page.locator("#summary .hl-foot").inner_text()
    assert ("the mean share at each" in foot, "share 0" in foot) == (True, True)
    problem = page.page.get_by_role("alert")
    shown = page.page.locator("#sentence dd, #heads canvas")
    page.options.nth(1).click()
    problem.get_by_text("Sentence #2 cannot be read: the page is cut or damaged").wait_for()
    assert [one for one in shown.all() if one.is_visible()] == []
    page.page.locator(".hl-foremost button").first.click()  # one of its heads
    page.options.nth(2).click()
    page.wait_for(many()[2])
    page.page.locator("#heads canvas").first.wait_for()
    assert page.page.locator("#sentence dt").all_inner_texts() == ["English", "French"]
    assert page.page.locator("#sentence dd").last.get_attribute("lang") == "fr"
    assert not problem.is_visible()
    assert page.faults == []
    path = tmp_path / "list.html"
    path.write_text(text.replace('id="lines-packed">', 'id="lines-packed">cut'), "utf-8")
    page.page.goto(path.as_uri())
    problem.get_by_text("The list of sentences cannot be read").wait_for()
    page.page.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_is_as_wide_as_the_screen(opened, width):
    opened.page.set_viewport_size({"width": width, "height": 800})
    opened.page.wait_for_timeout(100)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.summary.locator("canvas").bounding_box()["width"] <= width
    opened.page.set_viewport_size({"width": 1440, "height": 1000})
