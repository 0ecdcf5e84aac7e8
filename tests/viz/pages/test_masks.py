"""The Masks page as Streamlit runs it, and the numbers of its charts."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import GIVEN, texts
from tests.viz.pages.reading import message
from transformer import Translator
from transformer.analysis.teacher_forcing import TraceBatch, batch_traces
from transformer.paper.masking import Leak
from viz.pages.masks import describe_change

FIRST = "The old cat sleeps under the table."
MORE = "Her horse waits.\nThe baker sings in the garden."

URL = {"text": FIRST, "more": MORE, "mask-view": "who sees whom"}

pytestmark = pytest.mark.usefixtures("given_translations")


@pytest.fixture
def made(translator: Translator) -> TraceBatch:
    sentences = (FIRST, *MORE.splitlines())
    return batch_traces([translator.trace(text, target=GIVEN[text]) for text in sentences])


def grids(app: AppTest) -> dict[str, Any]:
    return message(app, "mask_grids")[0]


def test_a_row_that_the_batch_does_not_have_is_not_asked_for(opened, made, translator) -> None:
    last = len(made.source_tokens[0])
    # by a link: the nearest is shown
    app = opened(kind="encoder", **{"mask-sentence": "9", "mask-row": "999"})
    assert grids(app)["chosen"] == [2, last - 1]
    # by sentences that were longer, or more of them, a moment before
    app = opened(kind="encoder", **{"mask-sentence": "3", "mask-row": str(last)})
    assert grids(app)["chosen"] == [2, last - 1]
    app.text_area(key="more").set_value("").run()
    assert not app.exception
    assert grids(app)["chosen"] == [0, last - 1]
    app.text_area(key="text").set_value("Her horse waits.").run()
    assert not app.exception
    shorter = len(translator.trace("Her horse waits.").source_tokens)
    assert grids(app)["chosen"] == [0, shorter - 1] != [0, last - 1]


@pytest.mark.parametrize(("sentence", "leaks"), [("1", False), ("2", True)])
def test_into_the_longest_sentence_nothing_leaks(opened, sentence: str, leaks: bool) -> None:
    app = opened(kind="encoder", **{"mask-view": "remove the mask", "mask-sentence": sentence})
    text = "This sentence has no padding, so nothing leaks into it."
    assert (text in texts(app)) != leaks


def planted_leak(*losses: list[float], hides: tuple[bool, ...] = (True, True)) -> Leak:
    """Build a leak over sentences with these losses; NaN is padding."""
    return Leak(np.zeros((len(losses), 3, 2, 4)), np.array(losses), np.array(hides[: len(losses)]))


WITH = planted_leak([0.25, 0.25, 0.25], [0.25, 0.25, np.nan])


@pytest.mark.parametrize(
    ("kind", "losses", "says"),
    [
        ("decoder_self", ([1.5, 1.75, 1.5], [1.5, 1.5, np.nan]),
         "**rises**, from 0.250 to 1.550 nats: this model was trained with the mask"),
        ("decoder_self", ([0.1, 0.1, 0.1], [0.1, 0.15, np.nan]),
         "**falls**, from 0.250 to 0.110 nats: the model uses what leaks from later words"),
        ("cross", ([0.1, 0.1, 0.1], [0.1, 0.15, np.nan]),
         "**falls**, from 0.250 to 0.110 nats: what leaks in happens to help"),
        ("encoder_self", ([0.27, 0.26, 0.27], [0.27, 0.28, np.nan]),
         "**rises** slightly, from 0.250 to 0.270 nats"),
        ("encoder_self", ([0.2501, 0.25, 0.25], [0.25, 0.25, np.nan]),
         "the loss stays at 0.250 nats."),
    ],
)  # fmt: skip
def test_the_words_follow_what_was_found(kind, losses, says):
    text = describe_change(WITH, planted_leak(*losses), kind)
    assert says in text
    assert sum(word in text for word in ("rises", "falls", "stays", "no change")) == 1


def test_what_the_pieces_cannot_tell_from_no_change_is_no_effect():
    """Up on one piece and down on others: the mean falls, and that means nothing."""
    text = describe_change(
        WITH, planted_leak([0.75, 0.0, 0.0], [0.2, 0.25, np.nan]), "encoder_self"
    )
    # beside 0.250 and 0.241 stands their difference, though −0.0085 rounds to another
    near = planted_leak([0.7574, 0.0, 0.0], [0.2, 0.25, np.nan])
    assert "from 0.250 to 0.241 nats: by −0.009 ±" in describe_change(WITH, near, "encoder_self")
    error = 2 * np.std([0.5, -0.25, -0.25, -0.05, 0.0], ddof=1) / 5**0.5
    assert "goes from 0.250 to 0.240 nats" in text
    assert f"by −0.010 ± {error:.3f} (two standard errors over 5 subwords)" in text
    assert "no change" in text
    assert "falls" not in text
    text = describe_change(
        planted_leak([0.25, np.nan]), planted_leak([1.25, np.nan]), "decoder_self"
    )
    assert "no change" in text  # one piece alone


@pytest.mark.parametrize(("off", "says"), [
    (0.0, "to the last digit"), (3e-7, "rounding, 3e-07"), (3.2e-7, "rounding, 4e-07"),
])  # fmt: skip
def test_into_a_sentence_without_padding_nothing_leaks(off, says):
    hides = (False, True)
    masked = planted_leak([0.25, 0.25, 0.25], [0.25, 0.25, np.nan], hides=hides)
    without = planted_leak([0.25 + off, 0.25, 0.25], [1.0, 1.25, np.nan], hides=hides)
    text = describe_change(masked, without, "encoder_self")
    assert "**rises**, in sentence 2, the padded one, from 0.250 to 1.125 nats" in text
    assert "Sentence 1 has no padding: the loss is the same" in text
    assert says in text


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("encoder_self", "no sentence of this batch is padded"),
        ("cross", "no sentence of this batch is padded"),
        ("decoder_self", "every sentence of this batch has one position"),
    ],
)
def test_where_nothing_is_hidden_it_says_so(kind, says):
    nothing = planted_leak([0.25], [0.5], hides=(False, False))
    text = describe_change(nothing, nothing, kind)
    assert says in text
    assert "Add a sentence of another length" in text
