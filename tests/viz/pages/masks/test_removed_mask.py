"""The page says of the loss what was measured, whichever way it went."""

import numpy as np
import pytest

from transformer.analysis.leaks import Leak
from viz.pages.masks.removed_mask import measured


def leak(loss: float, share: float = 0.0) -> Leak:
    return Leak(np.full((2, 4), share), np.zeros((2, 4)), np.array([[loss, np.nan], [loss, loss]]))


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (1.5, "the loss **rises** by 1.250 nats: this model was trained with the mask"),
        (0.125, "the loss **falls** by 0.125 nats: the model uses what leaks"),
        (0.2501, "the loss stays what it is."),
    ],
)
def test_the_words_follow_the_sign(loss, says):
    text = measured(leak(0.25), leak(loss, 0.5), "decoder_self")
    assert says in text
    assert sum(word in text for word in ("rises", "falls", "stays")) == 1


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("encoder_self", "No sentence of this batch is padded"),
        ("cross", "No sentence of this batch is padded"),
        ("decoder_self", "Every sentence of this batch has one position"),
    ],
)
def test_where_nothing_is_hidden_it_says_so(kind, says):
    text = measured(leak(0.25), leak(0.25), kind)
    assert text.startswith(says)
    assert text.endswith("add one of another length.")
