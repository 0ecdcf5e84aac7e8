"""Files of other toolkits: each weight under its two tokens; anything else is refused."""

import warnings

import numpy as np
import pytest

from transformer import AttentionTrace, InputError
from transformer.traces.soft_alignments import read_matrices, weights_of_line

ROWS = "0.7,0.2,0.1 0.125,0.75,0.125"  # two target subwords, three source subwords
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.125, 0.75, 0.125]], np.float32)


@pytest.mark.parametrize(
    "line",
    [
        f"Haus ||| {ROWS}\n",
        f"Haus ||| {ROWS} ||| WordScores= -0.1 -0.2",
        f"0 ||| Haus ||| {ROWS} ||| F0= -0.3 ||| -0.15",
        f"A-0\t{ROWS}\n",
        ROWS,
    ],
    ids=["marian", "word scores", "n-best", "fairseq", "rows"],
)
def test_a_line_has_a_row_for_each_target_subword(line) -> None:
    trace = AttentionTrace.from_arrays(
        cross=weights_of_line(line),
        source_tokens=["the", "house", "</s>"],
        target_tokens=["Haus", "</s>"],
    )
    np.testing.assert_array_equal(trace.cross, WEIGHTS[None, None])


NEMATUS = "0 ||| das Haus ||| 0.3 ||| house ||| 2 3\n0.9 0.1\n0.25 0.75\n0.0 1.0"
SOCKEYE = "1 ||| das Haus </s> ||| 0.3 ||| house . ||| 2 ||| 3\n0.9 0.2 0.0\n0.1 0.8 1.0"


def test_a_file_says_which_axis_is_the_target() -> None:
    first, second = read_matrices(f"{NEMATUS}\n\n{SOCKEYE}\n".splitlines(keepends=True))
    assert first.source_tokens == ("house", "</s>")
    assert second.source_tokens == ("house", ".")
    assert first.target_tokens == second.target_tokens == ("das", "Haus", "</s>")
    trace = AttentionTrace.from_arrays(**first._asdict())
    assert trace.cross[0, 0, 1].tolist() == [0.25, 0.75]
    trace = AttentionTrace.from_arrays(**second._asdict())
    assert trace.cross[0, 0, 1] == pytest.approx([0.2, 0.8])  # a column there


def test_tokens_that_do_not_fit_are_refused() -> None:
    (alignment,) = read_matrices(NEMATUS.replace("das ", "").splitlines())
    with pytest.raises(InputError, match="3 rows and 2 columns, but tokens for 1 and 2"):
        AttentionTrace.from_arrays(**alignment._asdict())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("Haus ||| 0-0 1-1", "'0-0'"),
        ("Haus ||| 0.5,0.5 1", "rows of 1 to 2 numbers"),
        ("Haus", "'Haus'"),
        ("Haus ||| ", "no rows"),
        ("Haus ||| 1e400,0", "'1e400'"),
        ("Haus ||| 1,-3.5e38", "'-3.5e38'"),  # which float32 has not
        ("Haus ||| nan,1", "'nan'"),
        (b"Haus ||| 1,0", "open the file as text"),
        (None, "None, which is no text"),
    ],
)
def test_a_line_without_weights_is_refused(line, sentence) -> None:
    with warnings.catch_warnings(action="error"), pytest.raises(InputError, match=sentence):
        weights_of_line(line)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (NEMATUS.replace("0.25 ", ""), "Sentence 0 has rows of 1 to 2"),
        (NEMATUS.replace("0.25", "x"), "Sentence 0 has 'x'"),
        (NEMATUS.replace(" ||| 2 3", ""), "begins with '0 "),
        (NEMATUS.split("\n")[0], "Sentence 0 has no rows"),
        ("das Haus", "'das Haus'"),
        (NEMATUS.replace("0.25", "1e39"), "Sentence 0 has '1e39'"),
    ],
)
def test_a_file_with_something_else_is_refused(text, sentence) -> None:
    for lines in (text, text.splitlines()):
        with warnings.catch_warnings(action="error"), pytest.raises(InputError, match=sentence):
            list(read_matrices(lines))


def test_a_file_may_be_its_text_but_not_its_bytes() -> None:
    (alignment,) = read_matrices(NEMATUS)
    (same,) = read_matrices(NEMATUS.splitlines())
    assert alignment.target_tokens == same.target_tokens
    np.testing.assert_array_equal(alignment.cross, same.cross)
    for content in (NEMATUS.encode(), NEMATUS.encode().splitlines()):
        with pytest.raises(InputError, match="open the file as text"):
            list(read_matrices(content))  # type: ignore[arg-type]
