"""Heads that are changed, as the link has them: exact there and back, nonsense in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.made_trace import made_trace
from transformer import Transformer, TransformerConfig, Translator
from transformer.analysis.heads.head import Head
from viz.pages.roles.removal.changes import (
    Change,
    fitting_changes,
    format_changes,
    paint_row,
    painted_map,
    parse_changes,
    toggle_head,
)
from viz.pages.roles.removal.controls import toggle_squares

CROSS, ENCODER = Head("cross", 1, 3), Head("encoder_self", 0, 0)
DECODER = Head("decoder_self", 1, 2)
PATTERN = ((0.25, 0.75), (1.0, 0.0), (1 / 3, 2 / 3))

EVERY = [
    Change(CROSS),
    Change(ENCODER, "uniform"),
    Change(DECODER, "rows", ((0, (0,)), (2, (0, 1))), (3, 3)),
    Change(Head("cross", 0, 0), "mean"),
    Change(Head("cross", 0, 1), "z"),
    Change(Head("cross", 0, 2), "weights"),
]


def test_a_link_brings_back_what_was_there(translator: Translator) -> None:
    text = format_changes(EVERY)
    assert text == "c1.3,e0.0u,d1.2p3x3_0-0_2-0.1,c0.0m,c0.1z,c0.2w"
    assert parse_changes(text, translator.model) == (EVERY, "")
    whole = parse_changes(
        format_changes([Change(CROSS, "pattern", pattern=PATTERN)]), translator.model
    )
    np.testing.assert_array_equal(whole[0][0].pattern, np.array(PATTERN, dtype=np.float32))
    assert parse_changes(" ", translator.model) == ([], "")


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("c9.0", "The model has"),
        ("c0.99z", "there is no head"),
        ("c1.3", "named twice"),
        ("x1.1", "is no head"),
        ("<b>", "is no head"),
        ("", "comma too many"),
        ("e0.1p3x3_3-0", "does not have"),
        ("e0.1p3x3_0-3", "does not have"),
        ("d0.1p3x3_0-1", "its mask hides"),
        ("e0.1p3x3", "is no head"),
        ("e0.1p2x2~AAAA", "damaged"),
    ],
)
def test_what_is_no_head_is_named_and_the_others_stay(
    translator: Translator, part: str, why: str
) -> None:
    changes, problem = parse_changes(f"c1.3,{part},e0.0u", translator.model)
    assert changes == EVERY[:2]
    assert why in problem
    assert problem.endswith("It is left out here.")
    assert problem.count(".") < 6  # one sentence, with numbers of layers and heads


def test_a_click_switches_one_head_off_and_on() -> None:
    off = toggle_head(EVERY[:2], DECODER, "uniform")
    assert off == [*EVERY[:2], Change(DECODER, "uniform")]
    assert toggle_head(off, CROSS, "z") == [EVERY[1], Change(DECODER, "uniform")]


def test_rows_are_painted_one_by_one_and_taken_off_again() -> None:
    first = paint_row(EVERY[:1], ENCODER, (3, 4), 2, [3, 1])
    assert first == [EVERY[0], Change(ENCODER, "rows", ((2, (1, 3)),), (3, 4))]
    two = paint_row(first, ENCODER, (3, 4), 0, [0])
    assert two[1].rows == ((0, (0,)), (2, (1, 3)))
    assert paint_row(two, ENCODER, (3, 4), 0, []) == first
    assert paint_row(first, ENCODER, (3, 4), 2, []) == EVERY[:1]
    assert paint_row(EVERY[:1], ENCODER, (3, 4), 2, []) == EVERY[:1]
    # what was painted on a map of another size is gone, and so is what a click had switched off
    assert paint_row(two, ENCODER, (5, 5), 4, [4])[1].rows == ((4, (4,)),)
    assert paint_row(EVERY[:1], CROSS, (3, 4), 0, [1]) == [
        Change(CROSS, "rows", ((0, (1,)),), (3, 4))
    ]


def test_painted_rows_look_evenly_and_the_others_as_before() -> None:
    weights = np.array([[0.5, 0.5, 0], [0.1, 0.2, 0.7]], dtype=np.float32)
    made = painted_map(((0, (1, 2)),), weights)
    np.testing.assert_array_equal(
        made, np.array([[0, 0.5, 0.5], [0.1, 0.2, 0.7]], dtype=np.float32)
    )
    assert weights[0, 0] == 0.5  # the trace is everybody's


def test_what_does_not_fit_the_sentences_is_left_out_with_one_sentence() -> None:
    trace, donor = made_trace(4, 2, 4, 0), made_trace(5, 2, 4, 0)
    stays = Change(CROSS, "rows", ((0, (0,)),), (4, 4))
    changes = [Change(ENCODER), stays, Change(DECODER, "rows", ((0, (0,)),), (3, 3))]
    fitting, problem = fitting_changes(changes, trace, None, measured=True)
    assert fitting == [Change(ENCODER), stays]
    assert "is 3 × 3, and on this sentence it is 4 × 4" in problem
    patch = [Change(CROSS, "z")]
    assert "type one" in fitting_changes(patch, trace, None, measured=True)[1]
    assert "5 × 5 on the second sentence" in fitting_changes(patch, trace, donor, measured=True)[1]
    assert fitting_changes(patch, trace, trace, measured=True) == (patch, "")


def test_pressed_squares_do_what_the_first_of_them_does() -> None:
    text = ""
    for keys, painted in (
        ([2], "e0.0p3x3_1-2"),
        ([0, 1, 2], "e0.0p3x3_1-0.1.2"),
        ([2, 1], "e0.0p3x3_1-0"),
        ([0], ""),
    ):
        changes = parse_painted(text)
        text = toggle_squares(changes, ENCODER, (3, 3), [(1, key) for key in keys])
        assert text == painted
    assert toggle_squares([], DECODER, (3, 3), [(1, 2)]) == ""  # its mask hides it
    assert toggle_squares([], DECODER, (3, 3), [(1, 0), (1, 1), (1, 2)]) == "d1.2p3x3_1-0.1"


def parse_painted(text: str) -> list[Change]:
    model = Transformer(TransformerConfig(vocab_size=9, N=2, d_model=8, d_ff=8, h=4))
    return parse_changes(text, model)[0]
