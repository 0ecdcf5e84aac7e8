"""The Masks page as Streamlit runs it, and the numbers of its charts."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import GIVEN, in_url, texts
from tests.viz.pages.reading import message
from transformer import Translator
from transformer.analysis.teacher_forcing import TraceBatch, batch_traces
from transformer.paper import masking
from transformer.paper.masking import Leak
from viz.draw.labels import display_tokens
from viz.draw.mask_grids import describe_row
from viz.pages.masks import describe_change, share_chart, shift_chart

FIRST = "The old cat sleeps under the table."
MORE = "Her horse waits.\nThe baker sings in the garden."

URL = {"text": FIRST, "more": MORE, "mask-view": "who sees whom"}

pytestmark = pytest.mark.usefixtures("given_translations")


def decoder_row(read: str, written: str) -> str:
    return f"the step that reads “\u2068{read}\u2069” and predicts “\u2068{written}\u2069”"


def made_of(translator: Translator, *sentences: str) -> TraceBatch:
    return batch_traces([translator.trace(text, target=GIVEN[text]) for text in sentences])


@pytest.fixture
def made(translator: Translator) -> TraceBatch:
    return made_of(translator, FIRST, *MORE.splitlines())


def grids(app: AppTest) -> dict[str, Any]:
    return message(app, "mask_grids")[0]


def headings(app: AppTest) -> list[str]:
    return [heading.value for heading in app.subheader]


def drawn_whys(app: AppTest) -> list[list[list[str]]]:
    names = np.array(["seen", "later", "padding", "both"])
    return [names[grid["codes"]].tolist() for grid in grids(app)["grids"]]


@pytest.mark.parametrize(
    ("kind", "name", "which"),
    [
        ("encoder_self", "encoder", "in use"),
        ("encoder_self", "encoder", "both"),
        ("decoder_self", "decoder", "both"),
        ("cross", "cross-attention", "both"),
    ],
)
def test_every_mask_of_every_kind_is_drawn(opened, made, kind, name, which) -> None:
    app = opened(kind=name, mask=which)
    used = masking.MODEL_MASKS[kind]
    expected = masking.mask_reasons(made, kind, used if which == "in use" else which)
    assert drawn_whys(app) == expected.tolist()
    # no row of cross-attention is causal, so both masks together are that of padding
    own = which in ("in use", used) or (kind, which) == ("cross", "both")
    (heading,) = headings(app)
    assert heading.startswith(name.capitalize())
    assert heading.endswith("as the model uses it" if own else "not used by the model")
    for grid, labels in zip(grids(app)["grids"], masking.labels(made, kind), strict=True):
        assert (grid["queries"], grid["keys"]) == tuple(display_tokens(tokens) for tokens in labels)


def test_the_chosen_row_is_framed_and_said(opened, made) -> None:
    app = opened(kind="decoder", mask="both", **{"mask-sentence": "2", "mask-row": "3"})
    assert grids(app)["chosen"] == [1, 2]
    tokens = display_tokens(made.decoder_tokens[1])
    why = masking.mask_reasons(made, "decoder_self", "both")[1, 2].tolist()
    writes = display_tokens(made.target_tokens[1])
    message = describe_row(decoder_row(tokens[2], writes[2]), tokens, why)
    assert len(message) == 3  # seen, later, padding
    assert [text for text in texts(app) if text in message] == message
    app.number_input(key="mask-row").set_value(1).run()
    assert grids(app)["chosen"] == [1, 0]
    assert in_url(app, "mask-row") in (None, "1")


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


READS = [("<s>", "▁Ein", "▁Hu", "nd"), ("<s>", "▁Ja", "<pad>", "<pad>")]
WRITES = [("▁Ein", "▁Hu", "nd", "</s>"), ("▁Ja", "</s>", "<pad>", "<pad>")]


def datasets(chart) -> tuple[dict, list[list[dict]]]:
    spec = chart.to_dict()
    # what all layers share stands once, above them
    names = [(layer.get("data") or spec["data"])["name"] for layer in spec["layer"]]
    return spec, [spec["datasets"][name] for name in names]


def test_a_share_is_that_of_the_hidden_tokens_of_its_head():
    spec, (cells, _) = datasets(share_chart(np.array([[0.25, 0.5]])))
    assert [(row["layer"], row["head"], row["share"]) for row in cells] == [
        (1, 1, 0.25),
        (1, 2, 0.5),
    ]
    titles = {tip["field"]: tip["title"] for tip in spec["layer"][0]["encoding"]["tooltip"][2:]}
    assert titles == {"share": "attention to hidden tokens"}


def test_a_line_leads_from_what_is_written_to_where_it_is_read():
    _, (tokens, lines, _) = datasets(shift_chart(READS, WRITES, ["first", "second"]))
    at = {(row["column"], row["position"]): row["token"] for row in tokens}
    for line in lines:
        assert (line["written"], line["from"]) == (line["read"] + 1, line["to"] - 1)
        token = at[line["written"], line["from"]]
        assert token == at[line["read"], line["to"]] != "<pad>"
        assert line["text"] == (
            f"position {line['from'] + 1} predicts “{token}”, position {line['to'] + 1} reads it"
        )
    # all but the last token of each sentence is read again, and no padding
    assert [(line["read"], line["to"]) for line in lines] == [(0, 1), (0, 2), (0, 3), (3, 1)]
