"""Heads planted to do one thing measure as doing it, over a corpus as on a sentence."""

import numpy as np
import pytest

from tests.transformer.analysis.planted import BACK, COUNT, ON, ROWS, UNIFORM, axes_of, looking_at
from transformer import trace
from transformer.analysis.axes import LabelledWeights
from transformer.corpus import corpus_roles

COUNTS = [900, 40, 30, 500, 900, 20, 3, 0]  # ▁runs is rare; of </s> nothing is counted


def measured(kind, *heads):
    return corpus_roles.measure_sentence(axes_of(kind, *heads), kind, COUNTS)


def role(kind, head):
    measures = measured(kind, head)
    offset = int(corpus_roles.most_frequent_offsets(measures.offset_counts)[0, 0])
    values = {name: float(value[0, 0]) for name, value in measures.values.items()}
    at_offset = measures.offset_counts[0, 0, offset + corpus_roles.MAX_OFFSET]
    values["positional"] = float(at_offset) / measures.rows
    return corpus_roles.corpus_role(values, kind, offset), offset, values


@pytest.mark.parametrize(
    ("kind", "head", "name"),
    [
        ("encoder_self", looking_at(*BACK), "previous"),
        ("encoder_self", looking_at(*ON), "next"),
        ("decoder_self", looking_at(*ROWS), "itself"),
        ("decoder_self", looking_at(*np.maximum(ROWS - 2, 0), amount=0.3), ""),
        ("encoder_self", looking_at(*np.full(COUNT, 6)), "rare word"),
        ("encoder_self", looking_at(*np.full(COUNT, 3)), "punctuation"),
        ("encoder_self", looking_at(*np.full(COUNT, 7)), "end token"),
        ("encoder_self", UNIFORM, "spread"),
        ("cross", looking_at(*ROWS), "one-to-one"),
        ("cross", looking_at(*np.full(COUNT, 7)), "end token"),
    ],
)
def test_planted_heads_get_their_names(kind, head, name) -> None:
    assert role(kind, head)[0] == name


def test_a_head_of_a_steady_offset_is_positional_by_nine_tenths_of_its_maxima() -> None:
    far = looking_at(2, 3, 4, 5, 6, 7, 7, 7, amount=0.3)  # 6 of 8 rows look two on
    name, offset, values = role("encoder_self", far)
    assert (name, offset) == ("", 2)
    assert values["positional"] == 6 / 8
    assert (
        corpus_roles.corpus_role({**values, "positional": 0.9}, "encoder_self", 2) == "positional"
    )
    assert corpus_roles.corpus_role({**values, "positional": 0.9}, "encoder_self", -1) == "previous"
    assert corpus_roles.corpus_role({**values, "positional": 0.9}, "cross", 2) == ""


@pytest.mark.parametrize(
    ("weights", "name"),
    [([[1, 0], [0.5, 0.5]], "spread"), ([[1]], "")],  # a tie, and a row that sees one key
)
def test_a_row_without_a_direction_has_no_offset(weights, name) -> None:
    tokens = ("<s>", "▁Hund")[: len(weights)]
    axes = LabelledWeights(np.array([[weights]], np.float32), trace.Labels(tokens, tokens))
    measures = corpus_roles.measure_sentence(axes, "decoder_self", range(len(tokens)))
    assert measures.rows == 1
    assert not measures.offset_counts.any()
    values = {name: float(value[0, 0]) for name, value in measures.values.items()}
    values |= {"positional": 0.0, "rare word": 0.0}
    assert corpus_roles.corpus_role(values, "decoder_self", 0) == name


def test_figures_by_hand() -> None:
    measures = measured("encoder_self", looking_at(*np.full(COUNT, 3), amount=0.6), UNIFORM)
    assert measures.rows == COUNT
    values = {name: value[0] for name, value in measures.values.items()}
    assert set(values) == set(corpus_roles.MEASURES) - {"positional", "one-to-one"}
    # of 8 keys three are sinks: the first, the comma and </s>; 0.4 is spread
    assert values["sink"] == pytest.approx([0.6 + 0.4 * 3 / 8, 3 / 8])
    assert values["punctuation"] == pytest.approx([0.6, 0], abs=1e-6)
    assert values["confidence"] == pytest.approx([0.6 + 0.05, 1 / 8])
    assert values["entropy"][1] == pytest.approx(3)
    assert values["offset"] == pytest.approx([0.6 * (3 - 3.5), 0])


def test_the_rarest_of_what_a_decoder_row_may_see() -> None:
    # rows 1 to 7 look at themselves; the rarest so far is itself where the counts fall
    measures = measured("decoder_self", looking_at(*ROWS))
    assert measures.rows == COUNT - 1
    # <s> is not a word; of 40, 30, 500, 900, 20, 3, 0 four are the least so far, and 0 is one
    assert measures.values["rare word"][0, 0] == pytest.approx(5 / 7)
