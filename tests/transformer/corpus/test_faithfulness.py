"""Erasing hides words from encoder and decoder, and rankings are compared as they should be."""

import numpy as np
import pytest
import torch

from transformer import InputError, config, kinds
from transformer.corpus.faithfulness import (
    FRACTIONS,
    drops_without_each_word,
    erase,
    erased_log_probs,
    kendall,
    lens_faithfulness,
    mean_agreement,
    permuted_changes,
    source_words,
    spearman,
    uniform_changes,
    word_scores,
)


def hidden_by_hooks(model, trace, positions):
    """log P of each written piece with source positions cut out of every mask, one sentence."""
    written = [piece.id for piece in trace.target_pieces]

    def hide(mask, _name):
        mask = mask.clone().expand(1, 1, 1, -1).clone()
        mask[..., positions] = False
        return mask

    layers = range(model.config.N)
    names = [kinds.attention_name(kind, n) for kind in ("encoder_self", "cross") for n in layers]
    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    with torch.no_grad(), model.hooks({f"{name}.hook_mask": hide for name in names}):
        log_p = model(source, torch.tensor([[config.BOS, *written[:-1]]]))[0].log_softmax(-1)
    return log_p[torch.arange(len(written)), written].numpy()


def test_an_erased_word_is_hidden_from_the_encoder_and_from_the_decoder(translator, trace) -> None:
    words = source_words(trace)
    assert [p for word in words for p in word] == [*range(len(trace.source_pieces) - 1)]  # no </s>
    drops = drops_without_each_word(translator.model, trace)
    for number in (0, 2, len(words) - 1):
        expected = trace.log_probs - hidden_by_hooks(translator.model, trace, words[number])
        np.testing.assert_allclose(drops[:, number], expected, atol=1e-4)
    assert np.abs(drops).max() > 0.01


def test_each_written_piece_has_its_own_words_erased(translator, trace) -> None:
    model, words = translator.model, source_words(trace)
    order = np.argsort(np.random.default_rng(1).random((len(trace.target_pieces), len(words))))
    erasing = erase(model, trace, order)
    for row in (0, len(order) - 1):
        for at, fraction in enumerate(FRACTIONS):
            count = max(1, round(fraction * len(words)))
            first = [p for word in order[row, :count] for p in words[word]]
            rest = [p for word in order[row, count:] for p in words[word]]
            for curve, positions in (
                (erasing.comprehensiveness, first),
                (erasing.sufficiency, rest),
            ):
                log_p = hidden_by_hooks(model, trace, positions)[row]
                assert curve[row, at] == pytest.approx(trace.log_probs[row] - log_p, abs=1e-4)
    some = erase(model, trace, order, np.array([1, 3]))
    np.testing.assert_allclose(some.sufficiency, erasing.sufficiency[[1, 3]], atol=1e-5)


def test_a_lens_is_measured_by_its_own_ranking(translator, trace) -> None:
    result = lens_faithfulness(translator, trace, "weights")
    order = np.argsort(-word_scores(trace.cross, trace), kind="stable")
    expected = erase(translator.model, trace, order)
    np.testing.assert_allclose(
        result.erasing.comprehensiveness, expected.comprehensiveness, atol=1e-4
    )
    assert result.kendall.shape == (len(trace.target_pieces),)


def test_the_score_of_a_word_is_that_of_its_pieces(trace) -> None:
    scores = word_scores(trace.cross, trace)
    words = source_words(trace)
    mean = trace.cross.mean((0, 1))
    for number, positions in enumerate(words):
        np.testing.assert_allclose(scores[:, number], mean[:, positions].sum(-1), rtol=1e-5)
    signed = word_scores(-trace.cross, trace, signed=True)
    np.testing.assert_allclose(signed, -scores, rtol=1e-5)


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_permuted_weights_are_the_same_weights_over_the_same_keys(translator, trace, kind) -> None:
    """A head that is uniform already does not change; any other does, by the same for a seed."""
    model, seen = translator.model, []
    name = f"{kinds.attention_name(kind, 0)}.hook_pattern"
    with model.hooks({name: lambda pattern, _: seen.append(pattern.clone())}):
        changes = permuted_changes(model, trace, kind, seed=4)
    own = torch.from_numpy(trace.weights(kind)[0])
    for pattern in seen:
        torch.testing.assert_close(pattern[0].sort(-1).values, own.sort(-1).values)
        if kind == "decoder_self":
            assert not pattern[0].triu(1).any()
        assert not torch.allclose(pattern[0], own)
    again = permuted_changes(model, trace, kind, seed=4)
    np.testing.assert_array_equal(changes, again)
    uniform = uniform_changes(model, trace, kind)
    assert np.abs(uniform).max() > 1e-3


def test_rank_correlation_by_hand() -> None:
    a = np.array([[1.0, 2, 3, 4], [1, 2, 2, 3], [5, 5, 5, 5]])
    b = np.array([[1.0, 2, 4, 3], [1, 3, 2, 4], [1, 2, 3, 4]])
    # one of six pairs is turned; one is tied in a: 5 / √(5 · 6)
    np.testing.assert_allclose(kendall(a, b), [4 / 6, 5 / 30**0.5, np.nan])
    # 1 − 6 Σd² / n(n²−1) with d = 0 0 1 1; ranks 1 2.5 2.5 4 against 1 3 2 4
    ranks = np.corrcoef([1, 2.5, 2.5, 4], [1, 3, 2, 4])[0, 1]
    np.testing.assert_allclose(spearman(a, b), [0.8, ranks, np.nan])
    assert mean_agreement(kendall(a, b)) == pytest.approx((4 / 6 + 5 / 30**0.5) / 3)
    assert np.isnan(mean_agreement(kendall(a[2:], b[2:])))


def test_what_cannot_be_erased_is_refused(translator, trace) -> None:
    with pytest.raises(InputError, match="fewer than two words"):
        source_words(translator.trace("Her", "Ihr"))
    everything = np.ones((1, len(trace.source_pieces)), dtype=bool)
    with pytest.raises(InputError, match="Nothing of the sentence would be left"):
        erased_log_probs(translator.model, trace, everything)
