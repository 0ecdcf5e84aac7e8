"""The page of many sentences in a real Chromium, from a file and without a network."""

from dataclasses import replace

import numpy as np
import pytest

from tests.browser import offline, spy
from tests.viz.planted_trace import UNLIKE, many
from transformer import Kind
from transformer.text import languages
from viz import lines
from viz.draw import heads_view
from viz.draw.labels import display_tokens

pytestmark = pytest.mark.browser


class Lines(offline.Saved):
    """The page of many sentences."""

    def __init__(self, browser, path, text, address=""):
        super().__init__(browser, path, text, address)
        self.options = self.page.locator("[role=option]")
        self.chosen = self.page.locator("[role=option][aria-selected=true]")
        self.summary = self.page.locator("#summary tbody button")

    def wait_for(self, trace):
        """Until the sentence of this trace is shown."""
        self.page.locator("#sentence dd").first.get_by_text(trace.source, exact=True).wait_for()

    def open(self, number):
        """Open a sentence by its place in the list."""
        self.options.nth(number - 1).click()
        self.wait_for(many()[number - 1])

    def numbers(self):
        return [int(text[1:]) for text in self.options.locator(".number").all_inner_texts()]


@pytest.fixture
def opened(browser, tmp_path):
    text = lines.lines_report(many(), heads_view.ExplorerOptions("cross"), theme="light")
    page = Lines(browser, tmp_path / "report.html", text)
    yield page
    page.close()


def test_sentences_are_opened_searched_sorted_and_linked(opened):
    kind: Kind = "cross"
    layer, head = 1, 2
    for number in (1, 2, 5):
        trace = many()[number - 1]
        opened.open(number)
        assert opened.page.url == f"{opened.address}#{number}"
        opened.select(kind, layer, head)
        labels = [display_tokens(axis) for axis in trace.labels(kind)]
        weights = trace.weights(kind)[layer, head]
        painted = opened.painted()
        assert [painted["queries"], painted["keys"]] == labels
        assert (painted["levels"] == spy.level_of(weights)).all()
        query, key = map(int, np.unravel_index(weights.argmax(), weights.shape))
        note = f"“{labels[0][query]}” → “{labels[1][key]}”{weights[query, key]:.3f}"
        assert opened.readout(query, key).startswith(note)
    # arrow keys walk over the list, and the open head stays open
    title = opened.title.inner_text()
    opened.open(1)
    opened.options.first.focus()
    for pressed, number in [
        ("ArrowDown", 2), ("End", 5), ("ArrowDown", 5), ("PageUp", 1), ("End", 5), ("ArrowUp", 4),
        ("Home", 1),
    ]:  # fmt: skip
        opened.page.keyboard.press(pressed)
        opened.wait_for(many()[number - 1])
        assert opened.page.evaluate("document.activeElement.hash") == f"#{number}"
        assert opened.chosen.get_attribute("href") == f"#{number}"
    assert opened.title.inner_text() == title
    assert opened.page.locator("[role=option][tabindex='0']").count() == 1
    # typing finds sentences in both languages
    search = opened.page.get_by_label("Search")
    for typed, numbers in (
        ("kafer", [2]), ("RUN3", [4]), ("two run", [1, 2, 3, 4, 5]), ("#3", [3]), ("zzz", []),
        ("schwarze cats", [4]),
    ):  # fmt: skip
        search.fill(typed)
        assert opened.numbers() == numbers
        count = opened.page.locator(".count").inner_text()
        assert count == ("5 sentences" if len(numbers) == 5 else f"{len(numbers)} of 5 sentences")
        if numbers:
            search.press("Enter")
            opened.wait_for(many()[numbers[0] - 1])
    search.fill("")
    unlike = sorted(range(1, 6), key=lambda number: -UNLIKE[number - 1])
    for order, numbers in (
        ("log p", [2, 4, 5, 1, 3]),
        ("unlike", unlike),
        ("line", [1, 2, 3, 4, 5]),
    ):
        opened.page.get_by_label("Order").select_option(order)
        assert opened.numbers() == numbers
    opened.page.goto(f"{opened.address}#4")
    opened.wait_for(many()[3])
    opened.page.reload()
    opened.cells.first.wait_for()
    opened.wait_for(many()[3])
    assert opened.chosen.get_attribute("href") == "#4"
    for wrong in ("#99", "#x"):
        opened.page.goto(f"{opened.address}{wrong}")
        opened.wait_for(many()[0])


def test_the_summary_is_sorted_and_opens_heads(opened):
    names = opened.summary.all_inner_texts()
    opened.summary.nth(2).click()
    title = opened.page.get_by_role("heading", name="L1 H3 · encoder")
    dot = title.evaluate("(h) => getComputedStyle(h, '::before').backgroundColor")
    assert dot == "rgb(0, 158, 115)"  # the kind's, which other kinds do not have
    pressed = opened.page.locator("#summary [aria-pressed=true]")
    assert pressed.all_inner_texts() == ["L1 H3"]
    opened.select("cross", 1, 0)  # in the sentence, which marks it in the summary
    assert pressed.all_inner_texts() == ["L2 H1"]
    opened.page.get_by_role("button", name="unlike others").click()
    column = opened.page.locator("#summary tbody tr").evaluate_all(
        "(rows) => rows.map((row) => Number(row.cells[8].dataset.value))"
    )
    assert len(column) == len(names)
    assert column == sorted(column, reverse=True) != column[::-1]
    opened.page.get_by_role("button", name="Head", exact=True).click()
    assert opened.summary.all_inner_texts() == names
    for width in (390, 1440):
        opened.page.set_viewport_size({"width": width, "height": 800})
        opened.page.wait_for_timeout(100)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_damaged_sentence_is_not_shown_as_another(browser, tmp_path):
    traces = many(3)
    traces[2] = replace(traces[2], languages=languages.Languages("English", "French"))
    text = lines.lines_report(traces, heads_view.ExplorerOptions("cross", lens="norm"))
    page = Lines(browser, tmp_path / "cut.html", text.replace('id="line-2">', 'id="line-2">cut'))
    problem = page.page.get_by_role("alert")
    shown = page.page.locator("#sentence dd, #heads canvas")
    page.options.nth(1).click()
    problem.get_by_text("Sentence #2 cannot be read: the page is cut or damaged").wait_for()
    assert [node for node in shown.all() if node.is_visible()] == []
    page.summary.first.click()  # one of its heads
    page.open(3)
    page.page.locator("#heads canvas").first.wait_for()
    assert page.page.locator("#sentence dt").all_inner_texts() == ["English", "French"]
    assert page.page.locator("#sentence dd").last.get_attribute("lang") == "fr"
    assert not problem.is_visible()
    path = tmp_path / "list.html"
    path.write_text(text.replace('id="lines-packed">', 'id="lines-packed">cut'), "utf-8")
    assert page.faults == []
    page.page.goto(path.as_uri())
    problem.get_by_text("The list of sentences cannot be read").wait_for()
    page.page.close()
