"""The page holds every sentence exactly as a report of it alone, and a summary of all of them."""

import json
import re
import weakref
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from tests.viz.draw.message import unpacked_message
from tests.viz.planted_trace import HEADS, LAYERS, LOG_P, many, planted
from transformer import KINDS, AttentionTrace, InputError
from transformer.analysis import axes
from transformer.analysis.heads.head import Head
from transformer.corpus.head_summary import REACH, CorpusSummary, measure_heads
from transformer.kinds import KIND_TITLES
from transformer.text.languages import Languages
from viz.draw import caption, explorer, formatting, heads_view, labels
from viz.lines import MAX_LISTED, LinesPage, lines_report, pack_sentence, position_name


def message_of(page):
    (text,) = re.findall(r'id="lines-packed">([^<]*)<', page)
    return unpacked_message(text)


def rows_of(page):
    """The rows of the summary: the head, and the texts and values of its cells."""
    return [
        (
            Head(*json.loads(unescape(head))),
            re.findall(r"<button>([^<]*)</button>", row) + re.findall(r"([^<>]*)</td>", row),
            [float(value) for value in re.findall(r'data-value="([^"]*)"', row)],
        )
        for head, row in re.findall(r'<tr data-head="([^"]*)">(.*?)</tr>', page)
    ]


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


def test_the_summary_is_that_of_the_traces():
    traces = many()
    heads = []
    for kind in KINDS:
        corpus = CorpusSummary(kind)
        for trace in traces:
            corpus.add(measure_heads(axes.by_pieces(trace, kind), kind))
        heads += corpus.heads()
    rows = rows_of(lines_report(traces))
    assert [place for place, _, _ in rows] == [
        (kind, *at) for kind in KINDS for at in np.ndindex(LAYERS, HEADS)
    ]
    for head, (place, texts, values) in zip(heads, rows, strict=True):
        assert head.place == place
        assert texts[:3] == [labels.head_name(*place[1:]), f" {KIND_TITLES[place.kind]}", head.role]
        best = int(head.profile.argmax())
        assert texts[3] == f"{head.profile[best]:.2f} {position_name(best)}"
        means = [mean for mean, _ in head.values.values()]
        assert values == pytest.approx([head.profile[best], *means, head.varies], rel=1e-5)
        assert texts[4:-1] == [
            f"{formatting.format_number(mean, 3)} ± {deviation:.3f}"
            for mean, deviation in head.values.values()
        ]
    assert [position_name(REACH + 1 + distance) for distance in (-9, -8, 0, 1, 9)] == [
        "more than 8 before", "8 before", "at the same position", "1 after", "more than 8 after",
    ]  # fmt: skip


def test_the_list_has_text_log_p_and_length_of_each():
    traces = many()
    traces[1] = replace(traces[1], languages=Languages("English", "French"))  # >>fra<<, say
    meta = message_of(lines_report(traces))
    numbers, sources, targets, log_p, lengths, unlike, sides = zip(*meta["sentences"], strict=True)
    english, german, french = ["English", "en"], ["German", "de"], ["French", "fr"]
    assert sides[:2] == ([english, german], [english, french])
    assert numbers == (1, 2, 3, 4, 5)
    assert sources[1] == "Two black Käfer run1"
    assert targets[0] == planted().target
    assert log_p == LOG_P
    assert lengths == (11,) * 5
    assert all(0 < value < 1 for value in unlike)


def from_arrays(tokens):
    """An encoder alone, of layers with three heads and one."""
    rng = np.random.default_rng(len(tokens))
    rows = [rng.dirichlet(np.ones(len(tokens)), (heads, len(tokens))) for heads in (3, 1)]
    return AttentionTrace.from_arrays(encoder_self=rows, source_tokens=tokens)


def test_traces_of_any_model_are_summed_up_by_the_kinds_and_heads_that_they_have():
    page = lines_report([from_arrays(["[CLS]", "a", "b"]), from_arrays(["[CLS]", "c"])])
    meta, places = message_of(page), [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert [head for head, _, _ in rows_of(page)] == [("encoder_self", *at) for at in places]
    assert meta["selected"] == ["encoder_self", 0, 0]
    assert [row[6] for row in meta["sentences"]] == [[["Text", ""]] * 2] * 2
    assert [row[2:5] for row in meta["sentences"]] == [["", None, 3], ["", None, 2]]


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
