"""Differences are marked, added or left out, and nothing in a text becomes HTML."""

import re

import pytest

from viz.app.sentence.translation_line import mark_changed_words


def marked(text: str, other: str) -> str:
    """Without what a screen reader alone gets."""
    return re.sub(
        r'<span class="headlight-unseen">[^<]*</span>', "", mark_changed_words(text, other)
    )


@pytest.mark.parametrize(
    ("text", "other", "html"),
    [
        (
            "Zwei Hunde laufen dort .",
            "Zwei Hunde rennen .",
            '<span class="same">Zwei Hunde</span> <del>rennen</del> <b>laufen dort</b> '
            '<span class="same">.</span>',
        ),
        ("", "Ein Hund", "<del>Ein Hund</del>"),
        ("Ein Hund.", "Ein Hund.", '<span class="same">Ein Hund.</span>'),
    ],
)
def test_words_that_differ_are_bold_and_those_they_replace_struck_through(
    text: str, other: str, html: str
) -> None:
    assert marked(text, other) == html


def test_a_screen_reader_says_what_was_added_and_what_left_out() -> None:
    html = mark_changed_words("Hunde laufen", "Hunde rennen")
    assert '<del><span class="headlight-unseen">left out: </span>rennen</del>' in html
    assert '<b><span class="headlight-unseen">added: </span>laufen</b>' in html


def test_nothing_in_a_text_becomes_html() -> None:
    hostile = '<b>x</b> <img src=x onerror=alert(1)> "&amp;"'
    for text, other in ((hostile, ""), ("", hostile), (hostile, hostile)):
        inside = mark_changed_words(text, other)
        assert "<img" not in inside
        assert "&lt;b&gt;x&lt;/b&gt;" in inside
        assert "&amp;amp;" in inside
