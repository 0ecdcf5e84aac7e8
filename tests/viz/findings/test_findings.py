"""Findings say what is notable of a sentence, and nothing else; statements hold their numbers."""

from dataclasses import replace

import numpy as np
import pytest

from transformer import AttentionTrace, Transformer, TransformerConfig, Translator
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal_order import RemovalOrder, with_next_place
from transformer.analysis.source_share import by_words, source_shares
from transformer.checkpoints import checkpoint
from transformer.circuits.writing import written_logits
from viz.draw.formatting import format_bound, format_number, per_cent
from viz.draw.labels import named_head
from viz.figures.schedule import format_rate
from viz.findings import PAGES, passes, ranked
from viz.findings.training import heads_form, largest_rise, peak
from viz.report import report


def test_the_least_used_word_is_long_and_stands_once(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer.analysis.source_share.HARDLY_USED", 1)
    trace = translator.trace("The dog sleeps under the garden, garden garden garden garden.")
    finding = passes.hardly_used(translator, trace)
    assert finding is not None
    assert finding.choices == {"where_from": "true"}
    used = by_words(source_shares(translator, trace), trace).used
    least = min((2, 3), key=used.__getitem__)
    assert f"“\u2068{('sleeps', 'under')[least - 2]}\u2069”" in finding.text
    assert f"is {format_number(float(used[least]))}." in finding.text
    assert used[least] > min(used[5:7])  # “garden” is used less, and stands there often
    monkeypatch.setattr("transformer.analysis.source_share.HARDLY_USED", float(used[least]) / 2)
    assert passes.hardly_used(translator, trace) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A surfer carries his board along the empty beach.", True),
        ("The dog bites the man.", False),
    ],
)
def test_a_head_is_said_to_write_a_word_where_no_other_is_raised_as_much(
    bundled: Translator, text, expected
) -> None:
    trace = bundled.trace(text)
    finding = passes.written_word(bundled, trace)
    assert (finding is not None) == expected
    if finding:
        layer, head, query = (int(finding.choices[n]) - 1 for n in ("layer", "head", "word"))
        key = int(trace.cross[layer, head, query].argmax())
        logits = written_logits(bundled.model, trace, Head("cross", layer, head), query, [key])[0]
        assert layer == len(trace.cross) - 1
        assert logits.argmax() == trace.target_pieces[query].id
        assert f"{format_number(float(logits.max()), sign=True)} in its logit" in finding.text
        for token in (trace.source_tokens[key], trace.target_tokens[query]):
            assert token.removeprefix("▁") in finding.text


def test_odd_sentences_and_a_model_of_one_layer_and_three_heads_are_no_obstacle(
    translator: Translator, tmp_path, tokenizer
) -> None:
    for text in ("… — !!", "的"):
        for page in PAGES:
            ranked(page, translator.trace(text), translator)
    config = TransformerConfig(
        vocab_size=tokenizer.vocab_size, N=1, d_model=24, d_ff=48, h=3, d_k=8, d_v=8
    )
    checkpoint.save(tmp_path / "small", Transformer(config), tokenizer)
    small = Translator.load(tmp_path / "small")
    trace = small.trace("The dog sings.", target="Der Hund singt.")
    assert sum(len(ranked(page, trace, small)) for page in PAGES) > 0


def test_weights_of_another_model_say_what_they_hold() -> None:
    weights = np.full((2, 3, 4, 4), 0.25, np.float32)
    weights[1, 2, 1:] = 0.01
    weights[1, 2, range(1, 4), range(3)] = 0.97
    weights[0] = np.eye(4)
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=["a", "b", "c", "d"])
    first, *_ = ranked("heads", trace)
    # without words and an end token nothing is said of them
    assert "L2 H3" in first.text
    assert f"looks one token back ({per_cent(0.97)} of its weight)" in first.text
    assert (first.choices["layer"], first.choices["head"]) == ("2", "3")
    for row in ((0.9, 0.9, 0.25, 0.25), (1.5, -1, 0.25, 0.25)):  # no shares of a row
        weights[0, 0, 3] = row
        assert not ranked("heads", replace(trace, encoder_self=weights))


def test_two_heads_that_look_back_and_ahead_are_told_apart_and_both_open() -> None:
    weights = np.full((1, 3, 4, 4), 0.01, np.float32)
    weights[0, 0] = 0.25
    for head, offset in ((1, 1), (2, -1)):
        rows = np.arange(4)[max(0, -offset) : 4 - max(0, offset)]
        weights[0, head, rows, rows + offset] = 0.97
        weights[0, head, {1: 3, -1: 0}[offset]] = 0.25
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=["a", "b", "c", "d"])
    first, *_ = ranked("heads", trace)
    assert (first.choices["head"], first.choices["over"]) == ("3", "L1 H2")
    assert first.text.index("L1 H3") < first.text.index("back") < first.text.index("L1 H2")


@pytest.mark.parametrize("keys", [1, 3])
def test_of_maps_that_tell_nothing_apart_nothing_is_worth_seeing(keys: int) -> None:
    tokens = [f"w{n}" for n in range(keys)]
    weights = np.full((2, 3, keys, keys), 1 / keys, np.float32)
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=tokens)
    assert ranked("heads", trace) == []
    assert "Worth seeing" not in report(trace)


@pytest.mark.parametrize(("costs", "expected"), [(0.09, 0), (0.001, 0), (-0.09, 1)])
def test_a_head_that_costs_nothing_here_is_no_finding(
    translator: Translator, costs: float, expected: int
) -> None:
    trace = translator.trace("The dog sings.")
    before = float(trace.log_probs.sum())
    head = Head("cross", 1, 3)
    finding = passes.costliest_head(translator, trace, RemovalOrder((head,), (before + costs,)))
    assert (finding is not None) == expected
    if finding is not None:
        texts = map(format_number, (before, before + costs))
        assert "from {} to {}.".format(*texts) in finding.text
        assert named_head(*head) in finding.text
        assert finding.choices["removed"] == "L2 H4 cross"
    (without_order,) = ranked("roles", trace, translator)
    order = with_next_place(translator.model, trace, RemovalOrder())
    assert named_head(*order.removed[0]) in without_order.text


def test_a_map_opens_on_the_row_that_its_finding_names() -> None:
    weights = np.full((1, 2, 3, 3), 1 / 3, np.float32)
    weights[0, 1, 1] = 0.05, 0.9, 0.05
    trace = AttentionTrace.from_arrays(
        cross=weights, source_tokens=["the", "dog", "."], target_tokens=["der", "hund", "."]
    )
    first = ranked("heads", trace)[0]
    assert "1 of 2 cross-attention heads looks mostly at “\u2068dog\u2069”" in first.text
    assert first.choices["heads-map-row"] == "2"
    assert first.choices["rows"] == "word predicted"


@pytest.mark.parametrize(("least", "bound"), [(0.6455, 64), (0.64, 64), (0.6499, 64), (0.7, 70)])
def test_what_is_said_to_be_so_much_or_more_is_no_less(least: float, bound: int) -> None:
    weights = np.full((1, 3, 4, 4), 0.25, np.float32)
    for head, share in ((1, least), (2, 0.97)):
        weights[0, head, 1:] = (1 - share) / 3
        weights[0, head, range(1, 4), range(3)] = share
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=["a", "b", "c", "d"])
    first, *_ = ranked("heads", trace)
    assert f"({bound}\u00a0% or more of their weight)" in first.text


def test_bounds_are_rounded_to_their_own_side() -> None:
    numbers = (1.2300, 1.2301, 1.2399, float(np.float32(0.3)), -0.5, -0.504)
    assert [format_bound(n) for n in numbers] == ["1.23", "1.24", "1.24", "0.30", "−0.50", "−0.50"]
    assert [format_bound(n, lower=True) for n in numbers] == [
        "1.23", "1.23", "1.23", "0.30", "−0.50", "−0.51"
    ]  # fmt: skip


def test_what_is_not_0_is_never_said_to_be_0_per_cent() -> None:
    shown = {0.0: "0", 1e-9: "below 1", 0.005: "below 1", 0.0051: "1", 1.0: "100"}
    assert {share: per_cent(share) for share in shown} == {
        share: f"{text}\u00a0%" for share, text in shown.items()
    }


@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4000), (1, 1), (256, 7)])
def test_the_learning_rate_peaks_where_it_is_said_to(d_model: int, warmup: int) -> None:
    rates = {n: d_model**-0.5 * min(n**-0.5, n * warmup**-1.5) for n in range(1, 3 * warmup + 1)}
    assert max(rates, key=rates.__getitem__) == warmup
    assert f"step {warmup:,}, at {format_rate(max(rates.values()))}." in peak(d_model, warmup).text


def test_heads_form_where_confidence_rises_most_and_nowhere_if_it_never_rises() -> None:
    confidence = {1: 0.2, 2: 0.1, 4: 0.3, 8: 0.45}
    assert largest_rise(confidence) == (2, 4)
    finding = heads_form(confidence, {"sentence": "2"})
    assert finding
    assert "between steps 2 and 4: mean confidence 0.10 → 0.30" in finding.text
    assert (finding.choices["trained"], finding.choices["sentence"]) == ("4", "2")
    for still in ({}, {1: 0.2}, {1: 0.2, 2: 0.2, 3: 0.1}, {1: 0.2, 2: 0.204}):
        assert heads_form(still, {}) is None
