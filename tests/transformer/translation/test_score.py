"""A given translation is scored as the plain model has it, in float64 and step by step."""

from pathlib import Path

import numpy as np
import pytest
import torch

from transformer import InputError, Transformer, TransformerConfig, Translator
from transformer.checkpoints.checkpoint import Checkpoint
from transformer.config import BOS, EOS, PAD, UNK

TEXT = "The dog waits beside the river."
TARGET = "Ein kleiner Vogel singt."


def random_translator(tokenizer):
    """A model in float64 that nobody trained."""
    config = TransformerConfig(
        vocab_size=tokenizer.vocab_size, N=2, d_model=16, d_ff=32, h=2, max_length=64
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = Transformer(config).double().eval()
    return Translator(Checkpoint(model, tokenizer, Path("nowhere"), "none"))


def test_the_score_is_the_plain_models(tokenizer):
    translator = random_translator(tokenizer)
    scored = translator.score(TEXT, TARGET, alternatives=3, alpha=0.8)
    target = [*tokenizer.encode(TARGET), EOS]
    source = torch.tensor([[*tokenizer.encode(TEXT), EOS]])
    expected = []
    for step, (piece, others) in enumerate(zip(target, scored.alternatives, strict=True)):
        with torch.no_grad():
            logits = translator.model(source, torch.tensor([[BOS, *target[:step]]]))[0, -1]
        p = np.exp(logits.numpy())
        p /= p.sum()
        expected.append(np.log(p[piece]))
        order = [i for i in np.argsort(-p) if i not in (piece, PAD, UNK, BOS)][:3]
        assert [choice.piece for choice in others] == [
            entry.text for entry in tokenizer.pieces_of([int(i) for i in order])
        ]
        np.testing.assert_allclose([c.probability for c in others], p[order], rtol=1e-10)
    np.testing.assert_allclose(scored.log_probs, expected, rtol=0, atol=1e-10)
    assert scored.log_prob == pytest.approx(sum(expected), abs=1e-9)
    assert scored.score == pytest.approx(sum(expected) / ((5 + len(target)) / 6) ** 0.8, abs=1e-9)
    assert [piece.id for piece in scored.pieces] == target
    assert scored.ended


def test_what_was_found_scores_the_same_and_is_a_translation(translator):
    translation = translator.translate(TEXT)
    scored = translator.score(TEXT, [piece.text for piece in translation.best.pieces])
    assert scored.log_prob == pytest.approx(translation.log_prob, abs=1e-4)
    given = scored.translation
    assert (given.text, given.source, given.best.pieces) == (
        translation.text,
        TEXT,
        translation.best.pieces,
    )
    assert given.prefix == given.best.pieces
    traced = translator.trace_of(given)
    np.testing.assert_array_equal(traced.cross, translator.trace_of(translation).cross)


def test_a_hand_written_translation_is_traced_as_it_was_typed(translator):
    typed = "Ein  kleiner Vogel\nsingt."
    scored = translator.score(TEXT, typed)
    assert scored.translation.text == typed
    traced, forced = translator.trace_of(scored.translation), translator.trace(TEXT, typed)
    assert (traced.target, traced.target_pieces) == (forced.target, forced.target_pieces)
    np.testing.assert_allclose(traced.log_probs, scored.log_probs, atol=1e-5)
    pieces = [piece.text for piece in scored.pieces]
    np.testing.assert_array_equal(translator.trace(TEXT, pieces).cross, forced.cross)


def test_an_unfinished_translation_is_scored_as_far_as_it_goes(translator):
    whole = translator.score(TEXT, TARGET)
    part = translator.score(TEXT, [piece.text for piece in whole.pieces[:3]])
    assert (part.ended, whole.ended) == (False, True)
    assert part.log_probs == pytest.approx(whole.log_probs[:3], abs=1e-5)
    assert not any("did not end" in notice for notice in part.translation.notices)


def test_a_words_probability_is_the_product_of_its_pieces(translator):
    scored = translator.score(TEXT, TARGET)
    words = {word.text: word for word in scored.translation.best.words}
    assert list(words) == ["Ein", "kleiner", "Vogel", "singt", ".", "</s>"]
    p = np.exp(scored.log_probs)
    assert any(word.end - word.first > 1 for word in words.values())
    for word in words.values():
        assert word.probability == pytest.approx(np.prod(p[word.first : word.end]), rel=1e-9)
    ends = [(word.first, word.end) for word in scored.translation.best.words]
    assert [end for _, end in ends] == [*[first for first, _ in ends[1:]], len(scored.pieces)]


def test_more_alternatives_than_pieces_are_all_of_them(translator):
    (*_, last) = translator.score(TEXT, TARGET, alternatives=9_999).alternatives
    names = [choice.piece for choice in last]
    assert len(set(names)) == len(names) == translator.tokenizer.vocab_size - 4
    assert not {"<pad>", "<unk>", "<s>", "</s>"} & set(names)
    assert sum(choice.probability for choice in last) < 1
    none = translator.score(TEXT, TARGET, alternatives=0)
    assert none.alternatives == ((),) * len(none.pieces)


REFUSED = {
    "Nothing": (" ", "translation is empty: type a German"),
    "An unknown character": (
        "Der 😀",
        "cannot write “😀”: leave it out of the translation",
    ),
    "A special piece": (["<s>"], "has <s>, which is never written"),
    "Text after the end": (["</s>", "▁D"], "has </s> before its end"),
    "Too many pieces": (["▁D"] * 257, "has 257 pieces, but this model takes at most 256"),
}


@pytest.mark.parametrize(("target", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_no_search_could_have_written_is_one_sentence(translator, target, sentence):
    with pytest.raises(InputError) as caught:
        translator.score(TEXT, target)
    assert sentence in str(caught.value)


def test_numbers_out_of_range_and_an_empty_text_are_refused(translator):
    with pytest.raises(InputError, match="cannot be -1 alternatives"):
        translator.score(TEXT, TARGET, alternatives=-1)
    with pytest.raises(InputError, match="α is -1"):
        translator.score(TEXT, TARGET, alpha=-1)
    with pytest.raises(InputError, match="text is empty"):
        translator.score("", TARGET)
