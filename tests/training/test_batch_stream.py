"""The stream of batches has the shapes that its device wants."""

from pathlib import Path

import pytest
import torch

from training.batch_stream import BatchStream
from training.config import Recipe
from training.corpus import read_training_text
from training.devices import ProcessInfo
from transformer.tokenizer import Tokenizer


def test_on_a_gpu_lengths_are_multiples_of_8_and_hold_the_same_tokens(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ProcessInfo(torch.device("cuda")).length_multiple == 8
    here = ProcessInfo(torch.device("cpu"))
    assert here.length_multiple == 1
    text = read_training_text([data])
    tokenizer = Tokenizer.train(text.source + text.target, 120)
    recipe = Recipe(batch_tokens=400)

    def tokens_of_an_epoch() -> tuple[int, set[int]]:
        found = 0
        lengths: set[int] = set()
        for update in BatchStream(text, tokenizer, recipe, here).updates(0, 0):
            if update.epoch:
                return found, lengths
            (batch,) = update.batches
            assert update.tokens == batch.tokens()
            assert max(batch.source.numel(), batch.target.numel()) <= 400
            found += update.tokens
            lengths |= {batch.source.size(1), batch.target.size(1)}
        raise AssertionError("the stream has no end")

    tokens, lengths = tokens_of_an_epoch()
    monkeypatch.setattr(ProcessInfo, "length_multiple", 8)
    padded_tokens, padded_lengths = tokens_of_an_epoch()
    assert padded_tokens == tokens
    assert {length % 8 for length in padded_lengths} == {0}
    assert len(padded_lengths) < len(lengths)
