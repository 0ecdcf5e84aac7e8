"""Hostile text is translated whole or refused, by the library and line by line."""

from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.fuzz.bounds import accepted_or_refused, examples, run_main
from transformer import KINDS, Translator, __main__

SENTENCE = "The old cat waits in the garden."
PIECES = [
    *"<s> </s> <pad> <unk> ▁ <0x0A> </textarea> {{7*7}} ${x} %s%n {0} ../../etc/passwd".split(),
    *"\\u0000 &lt; ﬁ ㎏ ① Å ẞ ſ İ ß ǅ 𝔉 ｆｕｌｌ ½".split(),
    *"👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 😀 שלום مرحبا नमस्ते 你好 한국어 ไทย Ж ἀ".split(),
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'; DROP TABLE x; --", "`id`"),
    *"\x00\x07\x7f\x85\u2028\u2029\x0b\x0c\x1c\r\ufeff\u200b\u200d\u202e\u2066\u00ad\ufffe\uffff",
    *("\x1b[31m", "\ud800", "\udcff", "\U0010ffff", "\u0300" * 30, "e\u0301"),
    *("The dog", "waits", "in the garden", ".", "!", "?", ",", "’", "“", "—", "1.5", "ÄÖÜ"),
    *(" ", "\t", "\u00a0", "\u2003", "\u3000", "  "),
]
LONG = [
    *("A" * 600, "x" * 5_000, "dog " * 2_000, "😀" * 300, "字" * 3_000, " " * 9_000, "a" * 200_000),
    *("", " ", "\t \t", "\u3000", "\u0300", "\ud83d", "\u202e" * 99, "▁" * 500, "<s>" * 90),
]
# any code point at all, surrogates too
MIXED = st.lists(st.sampled_from(PIECES) | st.text(st.characters(), max_size=8), max_size=30)
TEXTS = st.sampled_from(LONG) | st.builds(str.join, st.sampled_from(["", " "]), MIXED)
LINES = st.builds(
    lambda text, tail: (text.encode("utf-8", "surrogatepass") + tail).replace(b"\n", b" "),
    TEXTS,
    st.just(b"") | st.binary(max_size=20),
)


@pytest.mark.slow
@examples(8, 1_500)
@given(TEXTS)
def test_text_is_translated_and_traced_or_refused(translator: Translator, text: str) -> None:
    with accepted_or_refused():
        translation = translator.translate(text, beam_size=2)
        trace = translator.trace_of(translation)
        assert translation.source == text
        for notice in translation.notices:
            assert "\n" not in notice
            assert len(notice) <= 2_000
        for kind in KINDS:
            weights, labels = trace.weights(kind), trace.labels(kind)
            assert weights.shape[2:] == (len(labels.queries), len(labels.keys))
            assert abs(weights.sum(-1) - 1).max() <= 1e-3


@examples(2, 100)
@given(st.lists(LINES, min_size=1, max_size=40))
def test_a_refused_line_is_empty_and_moves_no_other(
    translator: Translator, checkpoint_folder: Path, lines: list[bytes]
) -> None:
    expected = translator.translate(SENTENCE, beam_size=1).text
    # plain text first: a zero byte there means UTF-16, and no line of such a text is read
    mixed = [b for line in [SENTENCE.encode(), *lines] for b in (line, SENTENCE.encode())]
    arguments = ["--checkpoint", str(checkpoint_folder), "--beam", "1"]
    status, out, err = run_main(__main__.main, arguments, b"\n".join(mixed) + b"\n")
    refusals = [line for line in err.splitlines() if line.startswith("headlight translate: ")]
    numbers = {int(line.split()[3].rstrip(":").replace(",", "")) - 1 for line in refusals}
    assert status == (2 if numbers else 0)
    written = out.split("\n")[:-1]
    assert len(written) == len(mixed)
    assert set(written[1::2]) == {expected}
    assert all(written[number] == "" for number in numbers)
    event("refused" if numbers else "accepted")
