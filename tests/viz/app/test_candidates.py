"""Changed words are bold, and nothing in a text becomes HTML."""

from viz.app.candidates import mark_changed_words


def test_words_that_differ_are_bold() -> None:
    html = mark_changed_words("Zwei Hunde laufen dort .", "Zwei Hunde rennen .")
    assert html == (
        '<span class="same">Zwei Hunde</span> <b>laufen dort</b> <span class="same">.</span>'
    )


def test_nothing_in_a_text_becomes_html() -> None:
    hostile = '<b>x</b> <img src=x onerror=alert(1)> "&amp;"'
    for other in (hostile, ""):
        inside = mark_changed_words(hostile, other)
        assert "<img" not in inside
        assert "&lt;b&gt;x&lt;/b&gt;" in inside
        assert "&amp;amp;" in inside
