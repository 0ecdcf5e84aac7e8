"""Differences are marked, added or left out, and nothing in a text becomes HTML."""

import re

from viz.app.sentence.translation_line import mark_changed_words


def marked(text: str, other: str) -> str:
    """Without what a screen reader alone gets."""
    return re.sub(
        r'<span class="headlight-unseen">[^<]*</span>', "", mark_changed_words(text, other)
    )


def test_words_that_differ_are_bold_and_those_they_replace_struck_through() -> None:
    assert marked("Zwei Hunde laufen dort .", "Zwei Hunde rennen .") == (
        '<span class="same">Zwei Hunde</span> <del>rennen</del> <b>laufen dort</b> '
        '<span class="same">.</span>'
    )


def test_a_word_that_is_gone_is_seen() -> None:
    assert marked("Zwei Hunde rennen.", "Zwei schwarze Hunde rennen.") == (
        '<span class="same">Zwei</span> <del>schwarze</del> <span class="same">Hunde rennen.</span>'
    )
    assert marked("", "Ein Hund") == "<del>Ein Hund</del>"


def test_a_screen_reader_says_what_was_added_and_what_left_out() -> None:
    html = mark_changed_words("Hunde laufen", "Hunde rennen")
    assert '<del><span class="headlight-unseen">left out: </span>rennen</del>' in html
    assert '<b><span class="headlight-unseen">added: </span>laufen</b>' in html


def test_equal_texts_have_no_mark() -> None:
    assert marked("Ein Hund.", "Ein Hund.") == '<span class="same">Ein Hund.</span>'


def test_nothing_in_a_text_becomes_html() -> None:
    hostile = '<b>x</b> <img src=x onerror=alert(1)> "&amp;"'
    for text, other in ((hostile, ""), ("", hostile), (hostile, hostile)):
        inside = mark_changed_words(text, other)
        assert "<img" not in inside
        assert "&lt;b&gt;x&lt;/b&gt;" in inside
        assert "&amp;amp;" in inside
