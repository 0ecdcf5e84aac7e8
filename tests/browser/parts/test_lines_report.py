"""The page of many sentences in a real Chromium, from a file and without a network."""

from dataclasses import replace

import numpy as np
import pytest

from tests.browser import offline, spy
from tests.viz.planted_trace import many
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
        self.list = self.page.get_by_label("Sentence", exact=True)
        self.texts = self.page.locator("header dd:visible")

    def wait_for(self, number):
        """Until a sentence is shown."""
        self.texts.first.get_by_text(many()[number - 1].source, exact=True).wait_for()
        assert self.list.input_value() == str(number)


def test_sentences_are_chosen_and_linked_and_the_open_head_stays(browser, tmp_path):
    text = lines.lines_report(many(), heads_view.ExplorerOptions("cross"), theme="light")
    opened = Lines(browser, tmp_path / "report.html", text)
    kind: Kind = "cross"
    layer, head = 1, 2
    for number in (1, 2, 5):
        trace = many()[number - 1]
        opened.list.select_option(str(number))
        opened.wait_for(number)
        if number == 1:
            opened.select(kind, layer, head)
        else:
            assert opened.page.url == f"{opened.address}#{number}"
        labels = [display_tokens(axis) for axis in trace.labels(kind)]
        weights = trace.weights(kind)[layer, head]
        query, key = map(int, np.unravel_index(weights.argmax(), weights.shape))
        note = f"“{labels[0][query]}” → “{labels[1][key]}”{weights[query, key]:.3f}"
        assert opened.readout(query, key).startswith(note)
        painted = opened.painted()
        assert [painted["queries"], painted["keys"]] == labels
        assert (painted["levels"] == spy.level_of(weights)).all()
    for address, number in (("#4", 4), ("#99", 1), ("#3", 3), ("#x", 1)):
        opened.page.goto(f"{opened.address}{address}")
        opened.wait_for(number)
    for width in (390, 1440):
        opened.page.set_viewport_size({"width": width, "height": 800})
        opened.page.wait_for_timeout(100)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.close()


def test_a_damaged_sentence_is_not_shown_as_another(browser, tmp_path):
    traces = many(3)
    traces[2] = replace(traces[2], languages=languages.Languages("English", "French"))
    text = lines.lines_report(traces, heads_view.ExplorerOptions("cross", lens="norm"))
    page = Lines(browser, tmp_path / "cut.html", text.replace('id="line-2">', 'id="line-2">cut'))
    problem = page.page.get_by_role("alert")
    page.list.select_option("2")
    problem.get_by_text("cannot be read: the page is cut or damaged").wait_for()
    assert not page.page.locator("#heads").is_visible()
    page.list.select_option("3")
    page.page.locator("#heads canvas").first.wait_for()
    assert page.texts.last.get_attribute("lang") == "fr"
    assert not problem.is_visible()
    page.close()
