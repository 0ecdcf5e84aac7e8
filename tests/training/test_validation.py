"""Loss, perplexity and BLEU on text that was not trained on."""

import copy
import dataclasses

import numpy as np
import pytest
import torch

from tests import conftest
from training.data import batches, corpus, encoded_text
from training.validation import (
    Validation,
    mean_loss,
    save_probes,
    translate_all,
)
from transformer import KINDS, AttentionTrace, Tokenizer, Transformer, config
from transformer.decoding import Hypothesis, greedy
from transformer.text.tokenizer import with_end
from transformer.traces.capture import capture

PROBES = (
    ("The dog sleeps in the garden.", "Der Hund schläft im Garten."),
    ("A green frog sits.", "Ein grüner Frosch sitzt."),
)


@pytest.fixture
def text(pairs: list[conftest.Pair]) -> corpus.ParallelText:
    chosen = pairs[::9]
    return corpus.ParallelText([p.english for p in chosen], [p.german for p in chosen])


@pytest.fixture
def encoded(text: corpus.ParallelText, tokenizer: Tokenizer) -> encoded_text.EncodedText:
    return encoded_text.encode(text, tokenizer, 256)


def test_loss_is_the_mean_over_tokens_whatever_the_batches(model, encoded):
    total, tokens = 0.0, 0
    with torch.no_grad():
        for row in range(len(encoded)):  # one sentence at a time: no padding at all
            batch = batches.make_batch(encoded, [row])
            log_p = model(batch.source, batch.target).log_softmax(-1)
            total -= float(log_p.gather(-1, batch.labels[..., None]).sum())
            tokens += batch.labels.numel()
    for batch_tokens in (40, 300, 4_000):
        assert mean_loss(model, encoded, batch_tokens) == pytest.approx(total / tokens, rel=1e-4)


def test_translations_come_back_in_the_order_of_their_sources(tokenizer: Tokenizer) -> None:
    sources = [tokenizer.encode(f"{'The dog ' * n}sings.") for n in (3, 1, 5, 2, 4)]

    def copy(batch: torch.Tensor) -> list[Hypothesis]:
        assert ((batch == config.EOS).sum(1) == 1).all()
        assert batch.numel() <= 40 or len(batch) == 1
        return [Hypothesis(tuple(int(i) for i in row if i != config.PAD), (), 0.0) for row in batch]

    device = torch.device("cpu")
    translations = translate_all(sources, copy, tokenizer, device, batch_tokens=40)
    assert translations == [tokenizer.decode(ids) for ids in sources]


def test_validation_leaves_the_model_as_it_was(text, tokenizer, model):
    training = Transformer(model.config).train()
    training.load_state_dict(model.state_dict())
    random = torch.get_rng_state()
    validation = Validation(text, tokenizer, training, 5)
    loss, bleu = validation.loss(), validation.score().bleu
    assert (validation.loss(), validation.score().bleu) == (loss, bleu)  # no dropout
    assert training.training
    assert torch.equal(torch.get_rng_state(), random)
    assert loss == pytest.approx(mean_loss(model, validation.encoded))
    assert all(p.grad is None for p in training.parameters())


def test_bleu_compares_with_the_lines_of_the_references(text, tokenizer, model, monkeypatch):
    # © is not a piece of the vocabulary, and of two spaces they hold one: decoded, both are lost
    lines = [f"©  {line}" for line in text.target]
    odd = corpus.ParallelText(["The dog " * 200, *text.source], ["Der Hund " * 200, *lines])
    given: list[list[str]] = []
    monkeypatch.setattr(
        "training.validation.score", lambda _, references, _tokens: given.append(list(references))
    )
    validation = Validation(odd, tokenizer, Transformer(model.config), 4)
    validation.score()
    assert given == [lines[:4]]
    assert validation.encoded.left_out == 1


@pytest.mark.parametrize("training", [True, False])
def test_a_file_of_each_sentence_holds_its_attention_without_dropout(
    training, model, tokenizer, tmp_path
):
    mine = copy.deepcopy(model).train(training)
    save_probes(tmp_path / "probes", 7, mine, tokenizer, PROBES)
    assert mine.training is training
    for number, (source, target) in enumerate(PROBES, start=1):
        source_pieces, pieces = (
            with_end(tokenizer.pieces(source)),
            with_end(tokenizer.pieces(target)),
        )
        ids = torch.tensor([[piece.id for piece in source_pieces]])
        written = list(greedy(model, ids, max_extra=len(pieces))[0].tokens)
        assert len(written) <= len(source_pieces) + len(pieces)
        for name, text, ours in (
            ("sentence", target, pieces),
            ("written", tokenizer.decode(written), tokenizer.pieces_of(written)),
        ):
            path = tmp_path / "probes" / f"step-00000007-{name}-{number}.npz"
            retained = AttentionTrace.load(path)
            again = AttentionTrace.from_fields(capture(model, source, text, source_pieces, ours))
            assert (retained.source, retained.target) == (source, text)
            assert [piece.id for piece in retained.target_pieces] == [piece.id for piece in ours]
            for kind in KINDS:
                assert np.array_equal(retained.weights(kind), again.weights(kind))


def test_a_sentence_that_is_too_long_for_the_model_is_left_out(model, tokenizer, tmp_path):
    lengths = [max(len(tokenizer.pieces(side)) + 1 for side in probe) for probe in PROBES]
    assert len(set(lengths)) > 1
    for most in (min(lengths), max(lengths)):
        short = Transformer(dataclasses.replace(model.config, max_length=most))
        save_probes(tmp_path / str(most), 1, short, tokenizer, PROBES)
        assert {path.name for path in (tmp_path / str(most)).iterdir()} == {
            f"step-00000001-{name}-{number}.npz"
            for number, length in enumerate(lengths, start=1)
            for name in ("sentence", "written")
            if length <= most
        }
