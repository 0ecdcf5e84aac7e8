"""What a run keeps of its probe sentences, and that nobody sees half a file of it."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from training.run.probes import PROBES, is_probe_step, save_probes
from transformer import KINDS, AttentionTrace, Tokenizer, Transformer
from transformer.text.tokenizer import with_end
from transformer.traces.capture import capture


def test_early_steps_are_the_powers_of_two() -> None:
    assert [step for step in range(1, 70) if is_probe_step(step)] == [1, 2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize("training", [True, False])
def test_a_file_of_each_sentence_holds_its_attention_without_dropout(
    training: bool, model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    mine = copy.deepcopy(model).train(training)
    save_probes(tmp_path / "probes", 7, mine, tokenizer)
    assert mine.training is training
    assert sorted(path.name for path in (tmp_path / "probes").iterdir()) == [
        f"step-00000007-sentence-{number}.npz" for number in (1, 2, 3)
    ]
    for number, (source, target) in enumerate(PROBES, start=1):
        kept = AttentionTrace.load(tmp_path / "probes" / f"step-00000007-sentence-{number}.npz")
        pieces = with_end(tokenizer.pieces(source)), with_end(tokenizer.pieces(target))
        again = AttentionTrace.from_fields(capture(model, source, target, *pieces))
        assert (kept.source, kept.target) == (source, target)
        for kind in KINDS:
            assert np.array_equal(kept.weights(kind), again.weights(kind))


def test_a_sentence_that_is_too_long_for_the_model_is_left_out(
    model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    lengths = [max(len(tokenizer.pieces(side)) + 1 for side in probe) for probe in PROBES]
    assert len(set(lengths)) > 1
    for most in (min(lengths), max(lengths)):
        short = Transformer(dataclasses.replace(model.config, max_length=most))
        save_probes(tmp_path / str(most), 1, short, tokenizer)
        assert {path.name for path in (tmp_path / str(most)).iterdir()} == {
            f"step-00000001-sentence-{number}.npz"
            for number, length in enumerate(lengths, start=1)
            if length <= most
        }


def test_a_file_takes_its_name_when_it_is_whole(
    model: Transformer, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    save_probes(tmp_path, 1, model, tokenizer)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            save_probes(tmp_path, 1, model, tokenizer)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.npz")} == before
    assert {path.name for path in tmp_path.iterdir()} == before.keys()  # no half file
