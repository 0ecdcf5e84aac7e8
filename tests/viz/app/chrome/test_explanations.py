"""A line of code is where its function begins, and any text is itself in Markdown."""

import re
from pathlib import Path

import pytest

from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import beam_search
from viz.app.chrome.explanations import as_markdown, place_of, source_line

ROOT = Path(__file__).parents[4]

ALONE = ("<->", "->", "<-", "--", ">=", "<=", "~=")
"""What Streamlit's page writes as one sign, in text whose escapes are resolved."""


@pytest.mark.parametrize(
    ("function", "starts"),
    [
        (attention_scores, "def attention_scores"),
        (MultiHeadAttention.attend, "def attend"),
        (beam_search, "@torch.inference_mode()"),  # decorated: not the line of the decorator's own
    ],
)
def test_the_line_that_a_page_names_is_where_the_function_begins(function, starts) -> None:
    place, name = place_of(function).split()
    path, line = place.split(":")
    assert (ROOT / path).read_text("utf-8").splitlines()[int(line) - 1].strip().startswith(starts)
    assert name == function.__qualname__
    with pytest.raises(ValueError, match=r"has no line with 'nonsense'"):
        source_line(function, "nonsense")


@pytest.mark.parametrize("text", [*ALONE, "“a” <-> b", "-- ->", "a->b"])
def test_what_is_shown_is_the_text(text: str) -> None:
    shown = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", as_markdown(text))
    assert shown.replace("\u2060", "") == text
    for sign in ALONE:
        assert not re.search(rf"(^|\s){re.escape(sign)}(\s|$)", shown)


def test_nothing_is_markup() -> None:
    assert as_markdown("*a* [b](c) $d$ :e: <f>") == (r"\*a\* \[b\]\(c\) \$d\$ \:e\: \<f\>")
    assert "\u2060" not in as_markdown("a-b, a->b – c")
