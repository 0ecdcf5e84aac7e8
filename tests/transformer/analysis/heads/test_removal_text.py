"""Removed heads and their text: exact there and back, nonsense in one sentence."""

import numpy as np
import pytest

from tests.made_trace import made_trace
from transformer import InputError, Translator
from transformer.analysis.heads import head, removal_text
from transformer.analysis.heads.effect import fitting_removals, painted_map
from transformer.analysis.heads.removal import Removal, rows_removal

CROSS, ENCODER = head.Head("cross", 1, 3), head.Head("encoder_self", 0, 0)
DECODER = head.Head("decoder_self", 1, 2)

EVERY = [
    Removal(*CROSS),
    Removal(*ENCODER, "uniform"),
    rows_removal(DECODER, {0: (0,), 2: (0, 1)}, (3, 3)),
    Removal("cross", 0, 0, "mean"),
    Removal("cross", 0, 1, "z"),
    Removal("cross", 0, 2, "weights"),
]


def test_a_link_brings_back_what_was_there(translator: Translator) -> None:
    text = removal_text.format_removals(EVERY)
    assert text == (
        "L2 H4 cross, L1 H1 encoder uniform, L2 H3 decoder painted 3x3 1-1 3-1.2, "
        "L1 H1 cross mean, L1 H2 cross z, L1 H3 cross weights"
    )
    assert removal_text.parse_removals(text, translator.model) == (EVERY, "")
    assert removal_text.parse_removals(" ", translator.model) == ([], "")


def test_a_head_may_be_written_as_the_screen_names_it(translator: Translator) -> None:
    text = "L2 H4 cross, l1h1 Encoderu, L2 H3 · decoder"
    places = [Removal(*CROSS), Removal(*ENCODER, "uniform"), Removal(*DECODER)]
    assert removal_text.parse_removals(text, translator.model) == (places, "")
    for wrong in ("L0 H1 cross", "L2 H4", "L2 H4 crossx", "c1.3", "L2 H4 cross L2 H4 cross",
                  "L1 H1 cross painted 2x2 0-1"):  # fmt: skip
        removals, problem = removal_text.parse_removals(wrong, translator.model)
        assert (removals, "is not a head: write L2 H4 cross" in problem) == ([], True)
    assert (
        "L1 H100 · cross-attention"
        in removal_text.parse_removals("L1 H100 cross", translator.model)[1]
    )


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("L10 H1 cross", "The model has"),
        ("L2 H4 cross", "named twice"),
        ("", "comma too many"),
        ("L1 H2 encoder painted 3x3 4-1", "does not have"),
        ("L1 H2 decoder painted 3x3 1-2", "its mask hides"),
        ("L1 H2 encoder painted 2x2 ~AAAA", "is not a head"),
        ("L2 H٣ cross", "is not a head"),
    ],
)
def test_what_is_no_head_is_named_and_the_others_stay(translator, part, why) -> None:
    removals, problem = removal_text.parse_removals(
        f"L2 H4 cross,{part},L1 H1 encoder uniform", translator.model
    )
    assert removals == EVERY[:2]
    assert why in problem
    assert problem.endswith("It is left out here.")
    assert problem.count(".") < 6  # one sentence, with numbers of layers and heads


def test_a_click_switches_one_head_off_and_on() -> None:
    off = removal_text.toggled(EVERY[:2], DECODER, "uniform")
    assert off == [*EVERY[:2], Removal(*DECODER, "uniform")]
    assert removal_text.toggled(off, CROSS, "z") == [EVERY[1], Removal(*DECODER, "uniform")]


def test_rows_are_painted_one_by_one_and_taken_off_again() -> None:
    row = removal_text.with_row(EVERY[:1], ENCODER, (3, 4), 2, [3, 1])
    assert row == [EVERY[0], rows_removal(ENCODER, {2: (1, 3)}, (3, 4))]
    two = removal_text.with_row(row, ENCODER, (3, 4), 0, [0])
    assert two[1].rows == ((0, (0,)), (2, (1, 3)))
    assert removal_text.with_row(two, ENCODER, (3, 4), 0, []) == row
    assert removal_text.with_row(row, ENCODER, (3, 4), 2, []) == EVERY[:1]
    assert removal_text.with_row(EVERY[:1], ENCODER, (3, 4), 2, []) == EVERY[:1]
    # what was painted on a map of another size is gone, and so is what a click had switched off
    assert removal_text.with_row(two, ENCODER, (5, 5), 4, [4])[1].rows == ((4, (4,)),)
    assert removal_text.with_row(EVERY[:1], CROSS, (3, 4), 0, [1]) == [
        rows_removal(CROSS, {0: (1,)}, (3, 4))
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
    stays = rows_removal(CROSS, {0: (0,)}, (4, 4))
    removals = [Removal(*ENCODER), stays, rows_removal(DECODER, {0: (0,)}, (3, 3))]
    fitting, problem = fitting_removals(removals, trace, None, measured=True)
    assert fitting == [Removal(*ENCODER), stays]
    assert "is 3 × 3, and on this sentence it is 4 × 4" in problem
    patch = [Removal(*CROSS, "z")]
    assert "type one" in fitting_removals(patch, trace, None, measured=True)[1]
    assert "5 × 5 on the second sentence" in fitting_removals(patch, trace, donor, measured=True)[1]
    assert fitting_removals(patch, trace, trace, measured=True) == (patch, "")


def test_a_list_that_is_too_long_is_refused_before_it_is_parsed() -> None:
    removals, problem = removal_text.parse_removals("L1 H1 cross," * 250_000, None)
    assert not removals
    assert "more than 1,000,000 characters" in problem


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("self", 0, 0), "kind = 'self' does not exist: choose one of"),
        (("cross", -1, 0), "is not the number of a layer"),
        (("cross", 0, 0, "off"), "does not exist: choose one of zero"),
        (("cross", 0, 0, "pattern"), "does not exist: choose one of zero"),
        (("cross", 0, 0, "rows", ((0, ()),), (1, 1)), "Rows, each with a key, are given"),
    ],
)
def test_what_is_no_removal_is_refused(values, message) -> None:
    with pytest.raises(InputError, match=message):
        Removal(*values)
