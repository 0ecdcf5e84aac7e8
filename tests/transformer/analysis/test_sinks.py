"""Weights without sinks, against plain loops in float64."""

import math

import numpy as np
import pytest

from transformer import KINDS, AttentionTrace, Kind, Piece
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.measures import measure, summarise
from transformer.analysis.sinks import share_on_sinks, sink_tokens, without_sinks
from transformer.text.tokenizer import with_end

# ‘fris’ + ‘bee’ is one word, and the sign in ‘can’ + ‘'’ + ‘t’ belongs to one
SOURCE = with_end([
    Piece(5, "▁fris", 0), Piece(6, "bee", 0), Piece(7, ",", 1), Piece(8, "▁can", 2),
    Piece(9, "'", 2), Piece(10, "t", 2), Piece(11, "▁7", 3), Piece(12, "☃", 4),
])  # fmt: skip
TARGET = with_end([Piece(8, "▁Hun", 0), Piece(9, "de", 0), Piece(4, ".", 1), Piece(3, "▁da", 2)])
SINKS = {",", "'", ".", "<s>", "</s>"}


@pytest.fixture
def made() -> AttentionTrace:
    """Two layers of three heads; one row of cross-attention has weight on sinks alone."""
    random = np.random.default_rng(7)

    def rows(queries: int, keys: int, *, causal: bool = False) -> np.ndarray:
        weights = random.random((2, 3, queries, keys)) ** 3
        weights = np.tril(weights) if causal else weights
        return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)

    source, target = len(SOURCE), len(TARGET)
    cross = rows(target, source)
    cross[1, 2, 3] = [0, 0, 0.25, 0, 0, 0, 0, 0, 0.75]
    return AttentionTrace(
        source="frisbee, can't 7☃",
        target="Hunde. da",
        source_pieces=tuple(SOURCE),
        target_pieces=tuple(TARGET),
        encoder_self=rows(source, source),
        decoder_self=rows(target, target, causal=True),
        cross=cross,
        log_probs=np.zeros(target, np.float32),
    )


def looped(trace: AttentionTrace, kind: Kind) -> np.ndarray:
    """Rescale each row in plain Python, float64."""
    weights, keys = trace.weights(kind), trace.labels(kind).keys
    result = np.zeros(weights.shape)
    for layer, head, query in np.ndindex(weights.shape[:3]):
        row = [float(w) for w in weights[layer, head, query]]
        rest = math.fsum(w for w, key in zip(row, keys, strict=True) if key not in SINKS)
        if rest > 0:
            result[layer, head, query] = [
                0 if key in SINKS else w / rest for w, key in zip(row, keys, strict=True)
            ]
    return result


def looped_share(trace: AttentionTrace, kind: Kind, layer: int, head: int, first: int) -> float:
    weights, keys = trace.weights(kind)[layer, head], trace.labels(kind).keys
    rows = [
        math.fsum(float(w) for w, key in zip(row, keys, strict=True) if key in SINKS)
        / math.fsum(map(float, row))
        for row in weights[first:]
    ]
    return math.fsum(rows) / len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_is_scaled_to_what_it_gives_to_words(made: AttentionTrace, kind: Kind) -> None:
    rescaled = without_sinks(made)
    weights = rescaled.weights(kind)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights, looped(made, kind), rtol=1e-7, atol=0)
    np.testing.assert_array_equal(without_sinks(made, kind).weights(kind), weights)
    for other in {*KINDS} - {kind}:
        assert without_sinks(made, kind).weights(other) is made.weights(other)
    assert len(rescaled.notes) == len(made.notes) + 1


@pytest.mark.parametrize(
    ("kind", "first"), [("encoder_self", 0), ("decoder_self", 1), ("cross", 0)]
)
def test_the_share_left_out_is_the_mean_over_the_rows_that_count(made, kind, first):
    shares = share_on_sinks(made, kind)
    assert shares.dtype == np.float64
    for layer, head in np.ndindex(2, 3):
        expected = looped_share(made, kind, layer, head, first)
        assert shares[layer, head] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("tokens", "sinks"),
    [
        (["</s>"], ("</s>",)),
        (["▁…", "☃", ".", "▁", "↵", "।"], ("▁…", ".", "▁", "↵", "।")),
        (["▁€", "5", "▁+", "%", "√", "🇩🇪", "❤\ufe0f", "&", "@", "＃", "°"], ()),
        (["eng_Latn", ">>deu<<", "__en__", "<2de>"], ("eng_Latn", ">>deu<<", "__en__", "<2de>")),
        (["[CLS]", "a", "##b", "[SEP]", "?", "[SEP]"], ("[CLS]", "[SEP]", "?")),
    ],
)
def test_sinks_of_anybodys_tokens(tokens: list[str], sinks: tuple[str, ...]) -> None:
    size = len(tokens)
    trace = AttentionTrace.from_arrays(
        encoder_self=np.full((1, 3, size, size), 1 / size, np.float32), source_tokens=tokens
    )
    rescaled = without_sinks(trace)
    assert {*sink_tokens(trace, "encoder_self")} == {
        token for token, piece in zip(trace.source_tokens, tokens, strict=True) if piece in sinks
    }
    left = [token not in sinks for token in tokens]
    expected = np.array(left) / max(sum(left), 1)
    np.testing.assert_allclose(rescaled.encoder_self[0, 2, 0], expected, rtol=1e-7)
    share = share_on_sinks(trace, "encoder_self")
    np.testing.assert_allclose(share, np.full((1, 3), 1 - sum(left) / size), rtol=1e-6, atol=1e-9)
    if not sinks:
        assert rescaled is trace


def test_heads_that_are_not_there_have_no_share_and_stay_empty() -> None:
    layers = [np.full((heads, 2, 2), 0.5, np.float32) for heads in (3, 1)]
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=["▁a", "</s>"])
    assert np.isnan(share_on_sinks(trace, "encoder_self")).tolist() == [
        [False, False, False], [False, True, True]
    ]  # fmt: skip
    assert not without_sinks(trace).encoder_self[1, 1:].any()
    assert (without_sinks(trace).encoder_self[1, 0, :, 0] == 1).all()


def test_a_row_with_one_key_left_does_not_count() -> None:
    """The decoder's second row sees its own token alone, once `<s>` is left out."""
    tokens = ["<s>", "▁a", "▁b", "▁c"]
    weights = np.tril(np.ones((1, 1, 4, 4)))
    weights[0, 0, 3] = [1, 0, 0, 3]
    trace = AttentionTrace.from_arrays(
        decoder_self=weights / weights.sum(-1, keepdims=True), decoder_tokens=tokens
    )
    axes = by_pieces(without_sinks(trace), "decoder_self")._replace(sinks=False)
    assert axes.is_causal("decoder_self")
    # of the third row ½ and ½, of the last all on itself
    assert measure(axes, "decoder_self", "entropy") == pytest.approx(0.5)
    sinks = np.array([True, False, False, False])
    summary = summarise(axes.weights[0, 0], causal=True, sinks=sinks)
    assert (summary.query, summary.key) == (3, 3)
    assert summary.entropy == pytest.approx(0.5)
    assert summary.max_entropy == pytest.approx((1 + math.log2(3)) / 2)


def test_an_empty_row_does_not_thin_a_measure(made: AttentionTrace) -> None:
    cross = np.zeros((1, 1, 3, 2), np.float32)
    cross[0, 0, :2] = 0.5
    trace = AttentionTrace.from_arrays(
        cross=cross, source_tokens=["▁a", "▁b"], target_tokens=["▁x", "▁y", "▁z"]
    )
    assert measure(by_pieces(trace, "cross"), "cross", "entropy") == pytest.approx(1)
    assert summarise(cross[0, 0]).entropy == pytest.approx(1)
