"""Differences are marked, added or left out, and nothing in a text becomes HTML."""

import pytest

from viz.draw.changed_words import mark_changed_words

UNSEEN = '<span class="headlight-unseen">'  # for screen readers


@pytest.mark.parametrize(
    ("text", "other", "html"),
    [
        (
            "Zwei Hunde laufen dort .",
            "Zwei Hunde rennen .",
            f'<span class="same">Zwei Hunde</span> <del>{UNSEEN}left out: </span>rennen</del> '
            f'<b>{UNSEEN}added: </span>laufen dort</b> <span class="same">.</span>',
        ),
        ("", "Ein Hund", f"<del>{UNSEEN}left out: </span>Ein Hund</del>"),
    ],
)
def test_words_that_differ_are_bold_and_those_they_replace_struck_through(
    text: str, other: str, html: str
) -> None:
    assert mark_changed_words(text, other) == html


def test_nothing_in_a_text_becomes_html() -> None:
    hostile = '<b>x</b> <img src=x onerror=alert(1)> "&amp;"'
    for text, other in ((hostile, ""), ("", hostile), (hostile, hostile)):
        inside = mark_changed_words(text, other)
        assert "<img" not in inside
        assert "&lt;b&gt;x&lt;/b&gt;" in inside
        assert "&amp;amp;" in inside
