"""What all pages share."""

from pathlib import Path

import pytest

from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import beam_search
from viz.app.look import changed_words, code_line, minus

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("function", "starts"),
    [
        (attention_scores, "def attention_scores"),
        (MultiHeadAttention.attend, "def attend"),
        (beam_search, "@torch.inference_mode()"),  # decorated: not the line of the decorator's own
    ],
)
def test_the_line_that_a_page_names_is_where_the_function_begins(function, starts) -> None:
    place, name = code_line(function).strip("`").split()
    path, line = place.split(":")
    assert (ROOT / path).read_text("utf-8").splitlines()[int(line) - 1].strip().startswith(starts)
    assert name == function.__qualname__


def test_words_that_differ_are_bold() -> None:
    html = changed_words("Zwei Hunde laufen dort .", "Zwei Hunde rennen .")
    assert html == (
        '<span class="same">Zwei Hunde</span> <b>laufen dort</b> <span class="same">.</span>'
    )


def test_nothing_in_a_text_becomes_html() -> None:
    hostile = '<b>x</b> <img src=x onerror=alert(1)> "&amp;"'
    for other in (hostile, ""):
        inside = changed_words(hostile, other)
        assert "<img" not in inside
        assert "&lt;b&gt;x&lt;/b&gt;" in inside
        assert "&amp;amp;" in inside


def test_a_minus_is_as_wide_as_a_plus() -> None:
    assert minus(-1.234) == "−1.23"
    assert minus(0.25, 1, sign=True) == "+0.2"
