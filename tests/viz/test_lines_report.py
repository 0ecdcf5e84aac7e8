"""The page holds every sentence exactly as a report of it alone, and a list of all of them."""

import re
import weakref
from dataclasses import replace

import numpy as np
import pytest

from tests.viz.planted_trace import many, planted
from transformer import AttentionTrace, InputError
from transformer.text.languages import Languages
from viz.draw import caption, explorer, heads_view
from viz.lines import MAX_LISTED, LinesPage, lines_report, pack_sentence


def test_each_sentence_is_in_the_page_as_it_is_in_a_report_of_it_alone():
    traces, options = many(), heads_view.ExplorerOptions("decoder_self", 1, 2)
    origin = caption.Origin("", "", "demo", "")
    page = lines_report(iter(traces), options, origin=origin)
    blocks = dict(re.findall(r'id="line-(\d+)">([^<]*)<', page))
    assert [*blocks] == ["1", "2", "3", "4", "5"]
    for number, trace in enumerate(traces, start=1):
        line_origin = replace(origin, source=trace.source, target=trace.target)
        assert blocks[str(number)] == explorer.encode_page(trace, options, line_origin).message
    assert "<p>5 sentences. Made by Headlight" in page
    assert "model demo" in page


def test_the_list_has_the_texts_of_each_with_their_languages():
    traces = many()
    traces[1] = replace(traces[1], languages=Languages("English", "French"))  # >>fra<<, say
    page = lines_report(traces)
    listed = re.findall(r'<option value="(\d+)">#\1 (.*)</option>', page)
    assert listed[1] == ("2", f"Two black Käfer run1 → {planted().target}")
    assert [int(number) for number, _ in listed] == [1, 2, 3, 4, 5]
    texts = re.findall(r'<div id="text-\d" hidden>(.*?)</div>', page, re.DOTALL)
    assert [re.findall(r'lang="(..)"', text) for text in texts[:2]] == [["en", "de"], ["en", "fr"]]


def from_arrays(tokens):
    """An encoder alone, of layers with three heads and one."""
    rng = np.random.default_rng(len(tokens))
    rows = [rng.dirichlet(np.ones(len(tokens)), (heads, len(tokens))) for heads in (3, 1)]
    return AttentionTrace.from_arrays(encoder_self=rows, source_tokens=tokens)


def test_traces_of_any_model_are_listed_by_what_they_have():
    page = lines_report([from_arrays(["[CLS]", "a", "b"]), from_arrays(["[CLS]", "c"])])
    assert re.findall(r"<option.*?>(.*)</option>", page) == ["#1 a b", "#2 c"]


def test_notes_of_traces_and_lines_that_are_left_out_are_said_with_their_numbers():
    traces = [replace(trace, notes=("Rows sum to <2>.",)) for trace in many(3)]
    page = LinesPage()
    for number, trace in enumerate([*traces, *many(1)], start=11):
        page.add(pack_sentence(number, trace))
    text = page.html(left_out=[f"Line {n} is blank." for n in range(20)])
    assert "<li>#11, #12, #13: Rows sum to &lt;2&gt;.</li>" in text
    assert text.count("is blank.") == MAX_LISTED
    assert "and 12 more." in text


def test_no_trace_is_kept():
    alive: list[weakref.ref] = []
    most = []

    def traces():
        for number in range(6):
            trace = many(number + 1)[-1]
            alive.append(weakref.ref(trace))
            most.append(sum(reference() is not None for reference in alive))
            yield trace

    lines_report(traces())
    assert max(most) <= 3  # this one, and the one that was packed last


@pytest.mark.parametrize(
    ("traces", "options", "message"),
    [
        ([], {}, "no sentence"),
        ([planted(), None], {}, "Sentence 2 has other heads than sentence 1"),
        ([planted()], {"layers": ()}, "no layer to show"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(traces, options, message, translator):
    traces = [trace or translator.trace("The dog.") for trace in traces]
    with pytest.raises(InputError, match=message):
        lines_report(traces, heads_view.ExplorerOptions(**options))
    with pytest.raises(InputError, match="no theme 'blue'"):  # before any trace is read
        lines_report((), theme="blue")  # type: ignore[arg-type]


def test_a_page_too_large_for_a_browser_is_refused_at_the_sentence_that_makes_it_so(monkeypatch):
    sentences = [pack_sentence(number, trace) for number, trace in enumerate(many(3), start=1)]
    size = sum(len(text) for sentence in sentences for text in sentence.blocks.values())
    monkeypatch.setattr("viz.lines.MAX_BYTES", size - 1)
    page = LinesPage()
    page.add(sentences[0])
    page.add(sentences[1])
    with pytest.raises(InputError, match="With sentence 3 the report has more than"):
        page.add(sentences[2])
