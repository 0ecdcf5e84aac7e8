"""Loss, perplexity and BLEU on text that was not trained on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import sacrebleu
import torch

from tests.conftest import Pair
from training.data.batches import make_batch
from training.data.corpus import EncodedText, ParallelText, encode
from training.validation import Validation, mean_loss, perplexity, score, translate_all
from transformer import Tokenizer, Transformer
from transformer.config import EOS, PAD
from transformer.decoding import Hypothesis, greedy

ENGLISH = ["The dog sleeps in the garden.", "A green frog sits on the roof.", "My brother waits."]


@pytest.fixture
def text(pairs: list[Pair]) -> ParallelText:
    chosen = pairs[::9]
    return ParallelText([p.english for p in chosen], [p.german for p in chosen])


@pytest.fixture
def encoded(text: ParallelText, tokenizer: Tokenizer) -> EncodedText:
    return encode(text, tokenizer, 256)


# BLEU


def test_a_text_scores_100_against_itself() -> None:
    result = score(ENGLISH, ENGLISH)
    assert result.bleu == pytest.approx(100)
    assert result.chrf == pytest.approx(100)


def test_bleu_by_hand() -> None:
    # of "the cat sat on the mat" against "the cat sat on a mat" 5/6, 3/5, 2/4, 1/3 of the n-grams
    # are found, and the lengths are equal
    result = score(["the cat sat on the mat"], ["the cat sat on a mat"])
    assert result.bleu == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_short_translations_pay_the_brevity_penalty() -> None:
    # every n-gram is found, 5 words stand for 7
    result = score(["the cat sat on the"], ["the cat sat on the red mat"])
    assert result.bleu == pytest.approx(100 * math.exp(1 - 7 / 5))


def test_score_is_sacrebleu_cased_13a() -> None:
    translations = ["The Dog sleeps, in the garden.", "A green frog.", "My brother is waiting."]
    result = score(translations, ENGLISH)
    assert result.bleu == pytest.approx(sacrebleu.corpus_bleu(translations, [ENGLISH]).score)
    assert result.chrf == pytest.approx(sacrebleu.corpus_chrf(translations, [ENGLISH]).score)
    assert "case:mixed" in result.signature
    assert "tok:13a" in result.signature
    assert score([line.lower() for line in ENGLISH], ENGLISH).bleu < 100


# loss


def test_loss_is_the_mean_over_tokens_whatever_the_batches(
    model: Transformer, encoded: EncodedText
) -> None:
    total, tokens = 0.0, 0
    with torch.no_grad():
        for row in range(len(encoded)):  # one sentence at a time: no padding at all
            batch = make_batch(encoded, [row])
            log_p = model(batch.source, batch.target).log_softmax(-1)
            total -= float(log_p.gather(-1, batch.labels[..., None]).sum())
            tokens += batch.labels.numel()
    for batch_tokens in (40, 300, 4_000):
        assert mean_loss(model, encoded, batch_tokens) == pytest.approx(total / tokens, rel=1e-4)


def test_perplexity_is_e_to_the_loss_and_never_overflows() -> None:
    assert perplexity(0) == 1
    assert perplexity(math.log(50)) == pytest.approx(50)
    assert math.isfinite(perplexity(1e6))


# translations


def test_translations_come_back_in_the_order_of_their_sources(tokenizer: Tokenizer) -> None:
    sources = [tokenizer.encode(f"{'The dog ' * n}sings.") for n in (3, 1, 5, 2, 4)]

    def copy(batch: torch.Tensor) -> list[Hypothesis]:
        assert ((batch == EOS).sum(1) == 1).all()
        assert batch.numel() <= 40 or len(batch) == 1
        return [Hypothesis(tuple(int(i) for i in row if i != PAD), (), 0.0) for row in batch]

    device = torch.device("cpu")
    translations = translate_all(sources, copy, tokenizer, device, batch_tokens=40)
    assert translations == [tokenizer.decode(ids) for ids in sources]


def test_progress_sees_every_batch(tokenizer: Tokenizer, model: Transformer) -> None:
    seen: list[int] = []

    def progress(batches):
        for rows in batches:
            seen.extend(rows)
            yield rows

    sources = [tokenizer.encode(line) for line in ENGLISH]
    translate_all(
        sources, lambda b: greedy(model, b), tokenizer, model.device, 20, progress=progress
    )
    assert sorted(seen) == [0, 1, 2]


def test_padding_changes_no_translation(tokenizer: Tokenizer, model: Transformer) -> None:
    sources = [tokenizer.encode(line) for line in ENGLISH]

    def search(batch: torch.Tensor) -> list[Hypothesis]:
        return greedy(model, batch)

    together = translate_all(sources, search, tokenizer, model.device)
    alone = [translate_all([ids], search, tokenizer, model.device)[0] for ids in sources]
    assert together == alone


# measuring while training


@dataclass
class _Measured:
    loss: float
    bleu: float


def test_validation_leaves_the_model_as_it_was(
    text: ParallelText, tokenizer: Tokenizer, model: Transformer
) -> None:
    training = Transformer(model.config).train()
    training.load_state_dict(model.state_dict())
    random = torch.get_rng_state()
    validation = Validation(text, tokenizer, training, sentences=5)
    first, second = (
        _Measured(validation.loss(), validation.score().bleu) for _ in range(2)
    )  # no dropout: twice the same
    assert first == second
    assert training.training
    assert torch.equal(torch.get_rng_state(), random)
    assert first.loss == pytest.approx(mean_loss(model, validation.encoded))
    assert all(p.grad is None for p in training.parameters())


def test_bleu_compares_with_the_lines_of_the_references(
    text: ParallelText, tokenizer: Tokenizer, model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # © is no piece of the vocabulary, and of two spaces the pieces hold one: decoded, both are lost
    lines = [f"©  {line}" for line in text.target]
    odd = ParallelText(["The dog " * 200, *text.source], ["Der Hund " * 200, *lines])
    given: list[list[str]] = []
    monkeypatch.setattr(
        "training.validation.score", lambda _, references: given.append(list(references))
    )
    validation = Validation(odd, tokenizer, Transformer(model.config), sentences=4)
    validation.score()
    assert given == [lines[:4]]
    assert validation.encoded.left_out == 1


def test_an_error_while_measuring_leaves_the_model_training(
    text: ParallelText, tokenizer: Tokenizer, model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = Transformer(model.config).train()
    validation = Validation(text, tokenizer, training, sentences=5)

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(training, "encode", fail)
    with pytest.raises(MemoryError):
        validation.loss()
    assert training.training
