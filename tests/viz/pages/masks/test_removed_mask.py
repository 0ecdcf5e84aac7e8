"""The description of the loss follows the measured change."""

import numpy as np
import pytest

from transformer.analysis.paper.leaks import Leak
from viz.pages.masks.removed_mask import describe_change


def leak(*losses: list[float], hides: tuple[bool, ...] = (True, True)) -> Leak:
    """Build a leak over sentences with these losses; NaN is padding."""
    none = np.zeros((2, 4))
    return Leak(none, none, np.array(losses), np.array(hides[: len(losses)]))


WITH = leak([0.25, 0.25, 0.25], [0.25, 0.25, np.nan])


@pytest.mark.parametrize(
    ("kind", "losses", "says"),
    [
        ("decoder_self", ([1.5, 1.75, 1.5], [1.5, 1.5, np.nan]),
         "**rises**, from 0.250 to 1.550 nats: this model was trained with the mask"),
        ("decoder_self", ([0.1, 0.1, 0.1], [0.1, 0.15, np.nan]),
         "**falls**, from 0.250 to 0.110 nats: the model uses what leaks from what comes later"),
        ("cross", ([0.1, 0.1, 0.1], [0.1, 0.15, np.nan]),
         "**falls**, from 0.250 to 0.110 nats: what leaks in happens to help"),
        ("encoder_self", ([0.27, 0.26, 0.27], [0.27, 0.28, np.nan]),
         "**rises** slightly, from 0.250 to 0.270 nats"),
        ("encoder_self", ([0.2501, 0.25, 0.25], [0.25, 0.25, np.nan]),
         "the loss stays what it is, 0.250 nats."),
    ],
)  # fmt: skip
def test_the_words_follow_what_was_found(kind, losses, says):
    text = describe_change(WITH, leak(*losses), kind)
    assert says in text
    assert sum(word in text for word in ("rises", "falls", "stays", "too little")) == 1


def test_what_the_pieces_cannot_tell_from_no_change_is_no_effect():
    """Up on one piece and down on others: the mean falls, and that means nothing."""
    text = describe_change(WITH, leak([0.75, 0.0, 0.0], [0.2, 0.25, np.nan]), "encoder_self")
    error = 2 * np.std([0.5, -0.25, -0.25, -0.05, 0.0], ddof=1) / 5**0.5
    assert "goes from 0.250 to 0.240 nats" in text
    assert f"by −0.010 ± {error:.3f} (two standard errors over 5 pieces)" in text
    assert "too little to tell from no change at all" in text
    assert "falls" not in text
    text = describe_change(leak([0.25, np.nan]), leak([1.25, np.nan]), "decoder_self")
    assert "too little" in text  # one piece alone


@pytest.mark.parametrize(("off", "says"), [(0.0, "to the last digit"), (3e-7, "rounding, 3e-07")])
def test_into_a_sentence_without_padding_nothing_leaks(off, says):
    hides = (False, True)
    masked = leak([0.25, 0.25, 0.25], [0.25, 0.25, np.nan], hides=hides)
    without = leak([0.25 + off, 0.25, 0.25], [1.0, 1.25, np.nan], hides=hides)
    text = describe_change(masked, without, "encoder_self")
    assert "**rises**, in sentence 2, the padded one, from 0.250 to 1.125 nats" in text
    assert "Sentence 1 has no padding: nothing can leak in, and the loss is the same" in text
    assert says in text


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("encoder_self", "No sentence of this batch is padded"),
        ("cross", "No sentence of this batch is padded"),
        ("decoder_self", "Every sentence of this batch has one position"),
    ],
)
def test_where_nothing_is_hidden_it_says_so(kind, says):
    nothing = leak([0.25], [0.5], hides=(False, False))
    text = describe_change(nothing, nothing, kind)
    assert text.startswith(says)
    assert text.endswith("add one of another length.")
