"""Anybody's arrays: each number under its own tokens, and one sentence for what does not fit."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.traces.from_huggingface.made_outputs import HOT, plant, rows
from transformer import KINDS, AttentionTrace, InputError, Languages
from transformer.analysis.sinks import without_sinks
from viz.draw.heads_view import ExplorerOptions, HeadsView

SOURCE = ["[CLS]", "play", "##ing", "[SEP]"]
READS, WRITES = ["<s>", "▁ein", "▁Sp"], ["▁ein", "▁Sp", "iel"]


def every(**changes):
    given: dict[str, Any] = {
        "encoder_self": plant(rows(1, 2, 4, 4, seed=1), (0, 1, 2, 1)),
        "decoder_self": plant(rows(3, 1, 3, 3, seed=2, causal=True), (2, 0, 2, 1)),
        "cross": plant(rows(3, 4, 3, 4, seed=3), (1, 3, 2, 0)),
        "source_tokens": SOURCE,
        "decoder_tokens": READS,
        "target_tokens": WRITES,
    } | changes
    return AttentionTrace.from_arrays(**given)


def hottest(trace, kind):
    frame = trace.to_frame()
    row = frame.loc[frame.loc[frame.kind == kind, "weight"].idxmax()]
    assert row.weight == np.float32(HOT)
    return row.layer, row["head"], row.query_token, row.key_token


def test_a_planted_weight_is_read_back_between_its_tokens() -> None:
    trace = every()
    assert trace.kinds == KINDS
    assert hottest(trace, "encoder_self") == (0, 1, "ing", "▁play")
    assert hottest(trace, "decoder_self") == (2, 0, "▁Sp", "▁ein")
    assert hottest(trace, "cross") == (1, 3, "iel", "[CLS]")
    assert trace.labels("cross", "reads").queries == ("<s>", "▁ein", "▁Sp")
    assert (trace.source, trace.target) == ("playing", "ein Spiel")
    assert trace.languages == Languages("", "")
    assert trace.log_probs.shape == (0,)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_alone_leaves_the_others_without_layers(kind) -> None:
    trace = every(**{other: None for other in KINDS if other != kind})
    assert trace.kinds == (kind,)
    shapes = {"encoder_self": (4, 4), "decoder_self": (3, 3), "cross": (3, 4)}
    for other in KINDS:
        assert trace.weights(other).dtype == np.float32
        assert trace.weights(other).shape[2:] == shapes[other]
        if other != kind:
            assert trace.weights(other).shape[:2] == (0, 0)
            assert trace.head_count(other) == ()
    assert set(trace.to_frame().kind) == {kind}


def test_what_is_not_known_is_not_said() -> None:
    encoder = AttentionTrace.from_arrays(
        encoder_self=rows(1, 1, 4, 4, seed=1), source_tokens=SOURCE
    )
    assert (encoder.reads_known, encoder.writes_known) == (False, False)
    assert encoder.decoder_tokens == encoder.target_tokens == ()

    reads = every(target_tokens=None)
    assert (reads.reads_known, reads.writes_known) == (True, False)
    assert reads.labels("cross").queries == reads.labels("decoder_self").queries == tuple(READS)
    with pytest.raises(InputError, match="not known what the decoder writes"):
        reads.labels("cross", "writes")

    writes = every(decoder_self=None, decoder_tokens=None)
    assert (writes.reads_known, writes.writes_known) == (False, True)
    assert writes.labels("cross").queries == ("▁ein", "▁Sp", "iel")
    with pytest.raises(InputError, match="not known what the decoder reads"):
        writes.labels("cross", "reads")


def test_layers_may_have_different_numbers_of_heads() -> None:
    layers = [rows(1, heads, 4, 4, seed=heads)[0] for heads in (2, 5, 1)]
    trace = every(encoder_self=layers)
    assert trace.encoder_self.shape == (3, 5, 4, 4)
    assert trace.head_count("encoder_self") == (2, 5, 1)
    assert trace.head_count("cross") == (4, 4, 4)
    for n, layer in enumerate(layers):
        np.testing.assert_array_equal(trace.encoder_self[n, : len(layer)], layer)
        assert not trace.encoder_self[n, len(layer) :].any()
    np.testing.assert_array_equal(trace.existing_heads("encoder_self").sum(1), (2, 5, 1))
    frame = trace.to_frame().query("kind == 'encoder_self'")
    counted = frame.groupby(["layer", "head"]).size()
    assert list(counted.index) == [(0, 0), (0, 1), *((1, n) for n in range(5)), (2, 0)]
    for row in frame.sample(40, random_state=0).itertuples():
        assert row.weight == layers[row.layer][row.head, row.query, row.key]
    assert trace.notes == every().notes[1:]  # of the others


@pytest.mark.parametrize(
    "convert",
    [
        torch.tensor,
        lambda a: torch.tensor(a, requires_grad=True),
        lambda a: a.tolist(),
        lambda a: [torch.tensor(layer) for layer in a],
        np.asfortranarray,
        lambda a: np.array([*a, None], object)[:-1],  # of layers, as np.save stores a ragged list
        lambda a: a.astype(object),
    ],
)
def test_arrays_of_all_sorts_are_kept_in_float32(convert) -> None:
    weights = rows(2, 3, 4, 4, seed=7)
    trace = every(encoder_self=convert(weights))
    np.testing.assert_array_equal(trace.encoder_self, weights)
    assert trace.encoder_self.dtype == np.float32
    assert not np.shares_memory(trace.encoder_self, weights)


def test_half_precision_is_exact_and_no_reason_for_a_note() -> None:
    weights = torch.tensor(rows(4, 4, 40, 40, seed=7)).bfloat16()
    given = [str(n) for n in range(40)]
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=given)
    np.testing.assert_array_equal(trace.encoder_self, weights.float().numpy())
    assert trace.notes == ()


def test_a_decoder_without_a_causal_mask_is_one() -> None:
    ahead = rows(1, 2, 3, 3, seed=2)
    ahead[0, 0] = np.tril(ahead[0, 0]) / np.tril(ahead[0, 0]).sum(-1, keepdims=True)
    trace = AttentionTrace.from_arrays(decoder_self=ahead, decoder_tokens=READS)
    assert not trace.causal
    assert len(trace.notes) == 1
    assert every().causal


def test_the_source_is_numbered_where_it_has_no_tokens() -> None:
    trace = every(encoder_self=None, source_tokens=None)
    assert trace.labels("cross").keys == ("1", "2", "3", "4")
    assert trace.source == ""


def test_tokens_may_be_arrays_as_the_weights_are() -> None:
    given = {"source_tokens": SOURCE, "decoder_tokens": READS, "target_tokens": WRITES}
    trace = every(**{name: np.array(tokens) for name, tokens in given.items()})
    assert trace.labels("cross") == every().labels("cross")


def in_itself(*first: object) -> list[object]:
    listed: list[object] = [*first]
    listed.append(listed)
    return listed


def ones(*shape):
    return np.full(shape, 1 / shape[-1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict.fromkeys(KINDS), r"no weights .* give encoder_self, decoder_self or cross"),
        ({"cross": []}, r"cross-attention is empty"),
        ({"cross": np.zeros((2, 0, 3, 4))}, r"of layer 1 is empty, of shape \[0, 3, 4\]"),
        ({"cross": ones(1, 3, 4)}, r"has 3 axes, \[1, 3, 4\], and not 4"),
        ({"cross": [ones(1, 1, 3, 4)]}, r"of layer 1 has 4 axes, \[1, 1, 3, 4\], and not 3"),
        ({"cross": [[[[1, 2], [3]]]]}, r"not an array of numbers"),
        ({"cross": in_itself()}, r"not an array of numbers"),
        ({"source_tokens": in_itself()}, r"Token 1 of the source"),
        ({"cross": ones(1, 1, 3, 5)}, r"L1 has 3 rows and 5 columns, but tokens for 3 and 4"),
        ({"cross": [ones(1, 3, 4), ones(1, 2, 4)]}, r"L2 has 2 rows .* tokens for 3 and 4"),
        ({"source_tokens": SOURCE[:1]}, r"tokens for 1 and 1: give one token for each row"),
        ({"decoder_tokens": READS[:2]}, r"2 tokens that it reads and 3 that it writes"),
        ({"decoder_tokens": None}, r"no tokens .* of decoder self-attention: give decoder_tokens"),
        ({"decoder_tokens": None, "decoder_self": None, "target_tokens": None},
         r"no tokens for the rows of cross-attention"),
        ({"source_tokens": "abcd"}, r"tokens of the source are one text"),
        ({"target_tokens": ["a", "b", "\udc80"]}, r"Token 3 of the target .* half a character"),
        ({"target": 5}, r"text of the target is 5"),
        ({"second_start": 0}, r"second text of 4 tokens cannot begin at 0: give .* from 1 to 3"),
        ({"second_start": 1, "encoder_self": None}, r"encoder self-attention, which is not there"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_one_sentence(given, message) -> None:
    with pytest.raises(InputError, match=message):
        every(**given)


@pytest.mark.parametrize(
    ("weights", "place"),
    [
        (np.random.default_rng(1).normal(size=(8, 8, 8)), "holds"),  # flash outputs, logits
        (rows(1, 2, 8, 8, seed=1)[0].transpose(0, 2, 1), "sums to"),
        (rows(1, 2, 8, 8, seed=1)[0] / 0.9, "sums to 1.11"),  # after a dropout of 0.1
    ],
)
def test_what_no_softmax_gives_is_refused_unless_it_is_asked_for(weights, place) -> None:
    good, tokens = rows(1, 2, 8, 8, seed=2)[0], [*"abcdefgh"]
    given: dict[str, Any] = {"encoder_self": [good, weights], "source_tokens": tokens}
    with pytest.raises(InputError, match=rf"L2 H\d {place}.* normalized=False"):
        AttentionTrace.from_arrays(**given)
    trace = AttentionTrace.from_arrays(**given, normalized=False)
    np.testing.assert_array_equal(trace.encoder_self[1, : len(weights)], weights.astype(np.float32))
    assert trace.notes
    AttentionTrace.from_arrays(encoder_self=[good * 0.7, good * 1.004], source_tokens=tokens)


def test_one_softmax_of_two_kinds_keeps_its_share() -> None:
    """T5Gemma 2: a row of the decoder's own and one of cross-attention are one."""
    both = rows(2, 3, 3, 7, seed=5)
    given: dict[str, Any] = {"decoder_self": both[..., :3], "cross": both[..., 3:]}
    sources = ["▁a", "▁b", ".", "</s>"]
    trace = AttentionTrace.from_arrays(**given, decoder_tokens=READS, source_tokens=sources)
    assert all("rest lies elsewhere" in note for note in trace.notes if "do not sum" in note)
    scaled = without_sinks(trace, "cross")
    assert not scaled.cross[..., 2:].any()
    np.testing.assert_allclose(scaled.cross.sum(-1), both[..., 3:].sum(-1), rtol=1e-5)


@pytest.mark.parametrize(("share", "role"), [(0.9, "end token"), (0.1, "")])
def test_a_role_counts_what_a_row_gives_elsewhere(share, role) -> None:
    """As to a sink of the head's own in gpt-oss, or to the source."""
    weights = np.zeros((1, 1, 4, 4), np.float32)
    weights[..., 3] = share
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=SOURCE)
    assert "gpt-oss" in trace.notes[0]
    shown = HeadsView(trace, ExplorerOptions("encoder_self", 0, 0)).parts[0].roles
    assert shown == [[role and "end"]]


@pytest.mark.parametrize("value", [np.nan, 1e300])
def test_what_is_no_number_is_named_by_its_place(value) -> None:
    cross = rows(3, 4, 3, 4, seed=3).astype(np.float64)
    cross[1, 2, 2, 0] = value
    with pytest.raises(InputError, match=r"cross-attention L2 H3 .* in row 3, column 1:"):
        every(cross=cross)


VIEW = np.broadcast_to(np.float64(0.5), (2**10,) * 4)  # 2^40 numbers in eight bytes


@pytest.mark.parametrize(
    ("cross", "numbers"),
    [
        (VIEW, "1,099,511,627,776"),
        ([VIEW[0]] * 1_024, "1,099,511,627,776"),
        ([ones(1, 3, 4), np.broadcast_to(0.5, (1_024, 3, 2**20))], "3,221,225,484"),
        ([ones(1, 3, 4)] * 1_025, "1,025"),
        (np.broadcast_to(0.5, (2**40, 1, 3, 4)), "13,194,139,533,312"),
    ],
)
def test_shapes_are_looked_at_before_a_number_is(cross, numbers, monkeypatch) -> None:
    for name in ("asarray", "stack", "isfinite"):
        monkeypatch.setattr(np, name, lambda *_: pytest.fail("numbers were looked at"))
    with pytest.raises(InputError, match=numbers):
        AttentionTrace.from_arrays(cross=cross, target_tokens=WRITES)
