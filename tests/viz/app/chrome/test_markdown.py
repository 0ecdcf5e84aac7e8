"""Any text is itself where Streamlit reads Markdown."""

from __future__ import annotations

import re

import pytest

from viz.app.chrome.markdown import as_markdown

ALONE = ("<->", "->", "<-", "--", ">=", "<=", "~=")
"""What Streamlit's page writes as one sign, in text whose escapes are resolved."""


@pytest.mark.parametrize("text", [*ALONE, *(f"“a” {sign} b" for sign in ALONE), "-- ->", "a->b"])
def test_what_is_shown_is_the_text(text: str) -> None:
    shown = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", as_markdown(text))
    assert shown.replace("\u2060", "") == text
    for sign in ALONE:
        assert not re.search(rf"(^|\s){re.escape(sign)}(\s|$)", shown)


def test_nothing_is_markup() -> None:
    assert as_markdown("*a* [b](c) $d$ :e: <f>") == (r"\*a\* \[b\]\(c\) \$d\$ \:e\: \<f\>")
    assert "\u2060" not in as_markdown("a-b, a->b – c")
