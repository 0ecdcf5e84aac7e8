"""The line of code that a page names is where the function begins."""

from pathlib import Path

import pytest

from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import beam_search
from viz.app.chrome.explanations import code_line

ROOT = Path(__file__).parents[4]


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
