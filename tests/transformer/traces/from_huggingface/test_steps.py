"""The steps of a generation become rows of one trace, whichever cache and beam they came from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.transformer.traces.from_huggingface.made_outputs import (
    BOS,
    EOS,
    HOT,
    INPUTS,
    PAD,
    SOURCE_MASK,
    TOKENIZER,
    Sequence,
    generated,
    per_layer,
    plant,
    read_back,
    rows,
    sequence,
)
from transformer import AttentionTrace


def cross_of(one: Sequence) -> np.ndarray:
    assert one.cross is not None
    return one.cross


@pytest.mark.parametrize("style", ["cache", "whole", "static", "window"])
@pytest.mark.parametrize("prompt", [1, 3])
def test_greedy_steps_of_an_encoder_decoder(style, prompt) -> None:
    sequences = [
        sequence([BOS, 31, 32, 33, 34, EOS], prompt, seed=1, source=5),
        sequence([BOS, 41, 42, 43, EOS], prompt, seed=2, source=5),
    ]
    window = 3
    if style == "window":
        for one in sequences:  # nobody looks further back, but the prompt
            far = np.tril(np.ones(one.own.shape[2:]), -window)
            far[:prompt] = 0
            one.own[:, :, far > 0] = 0
            one.own[1, 2, -1, -2] = HOT
    made = generated(sequences, style=style, window=window)
    made.encoder_attentions = per_layer([rows(2, 3, 5, 5, seed=seed) for seed in (8, 9)])
    for index, (reads, writes) in enumerate(
        [
            (["<s>", "▁t31", "▁t32", "▁t33", "▁t34"], ["▁t31", "▁t32", "▁t33", "▁t34", "</s>"]),
            (["<s>", "▁t41", "▁t42", "▁t43"], ["▁t41", "▁t42", "▁t43", "</s>"]),
        ]
    ):
        found = AttentionTrace.from_huggingface(made, INPUTS, tokenizer=TOKENIZER, index=index)
        assert found.decoder_tokens == tuple(reads)
        assert found.target_tokens == tuple(writes)
        np.testing.assert_array_equal(found.decoder_self, sequences[index].own)
        keys = int(SOURCE_MASK[index].sum())
        np.testing.assert_array_equal(found.cross, cross_of(sequences[index])[..., :keys])
        last = reads[-2] if style == "window" else "<s>"
        assert read_back(found, "decoder_self") == (1, 2, reads[-1], last)
        assert read_back(found, "cross") == (0, 1, "</s>", ["▁t12", "▁t22"][index])


def test_a_beam_is_followed_from_row_to_row() -> None:
    """Three beams of two sentences, two sequences of each: the rows of a step are six."""
    sequences = [
        sequence([BOS, 31, 32, 33, EOS], 1, seed=1, source=5),
        sequence([BOS, 34, EOS], 1, seed=2, source=5),
        sequence([BOS, 41, 42, 43, EOS], 1, seed=3, source=5),
        sequence([BOS, 44, 45, EOS], 1, seed=4, source=5),
    ]
    beams = [[0, 2, 1, 0], [1, 0], [5, 3, 3, 4], [4, 5, 5]]
    made = generated(sequences, beams=beams, size=6)
    encoder = [plant(rows(2, 3, 5, 5, seed=seed), (1, 1, seed, 0)) for seed in (1, 2)]
    made.encoder_attentions = per_layer(encoder)
    for index, one in enumerate(sequences):
        found = AttentionTrace.from_huggingface(made, INPUTS, tokenizer=TOKENIZER, index=index)
        keys = 5 if index < 2 else 3
        np.testing.assert_array_equal(found.decoder_self, one.own)
        np.testing.assert_array_equal(found.cross, cross_of(one)[..., :keys])
        assert found.target_tokens == tuple(TOKENIZER.convert_ids_to_tokens(one.ids[1:]))
        query, key = [("▁t12", "▁t11"), ("</s>", "▁t21")][index // 2]
        assert read_back(found, "encoder_self") == (1, 1, query, key)


def test_several_samples_of_one_sentence_have_one_encoder() -> None:
    sequences = [sequence([BOS, 31 + n, EOS], 1, seed=n, source=5) for n in range(4)]
    made = generated(sequences)
    made.encoder_attentions = per_layer([rows(1, 1, 5, 5, seed=seed) for seed in (1, 2)])
    found = AttentionTrace.from_huggingface(made, INPUTS, tokenizer=TOKENIZER, index=2)
    assert found.source_tokens == ("▁t21", "▁t22", "</s>")
    np.testing.assert_array_equal(found.encoder_self[0, 0], rows(1, 1, 5, 5, seed=2)[0, 0, :3, :3])
    np.testing.assert_array_equal(found.cross, cross_of(sequences[2])[..., :3])


@pytest.mark.parametrize("style", ["cache", "whole", "static"])
def test_a_decoder_alone_that_went_on_with_prompts_of_two_lengths(style) -> None:
    """GPT, Llama: the prompts of a batch end together, so the shorter one begins with padding."""
    sequences = [
        sequence([11, 12, 13, 14, 15, EOS], 3, seed=1),
        sequence([PAD, 22, 23, 24, EOS], 3, seed=2),
    ]
    sequences[1].own[:, :, :, 0] = 0
    sequences[1].own[:, :, 0] = 1 / 9  # padding looks at everything, and says nothing
    sequences[1].own[1, 2, -1, 1] = HOT
    mask = torch.tensor([[1, 1, 1], [0, 1, 1]])
    made = generated(sequences, style=style)
    for layer in made.attentions[0]:
        layer[1, :, 0] = 1 / layer.shape[-1]  # of a static cache also at places that are free
    prompts = {"input_ids": torch.tensor([[11, 12, 13], [PAD, 22, 23]]), "attention_mask": mask}
    found = AttentionTrace.from_huggingface(made, prompts, tokenizer=TOKENIZER, index=1)
    assert found.kinds == ("decoder_self",)
    assert found.decoder_tokens == ("▁t22", "▁t23", "▁t24")
    assert found.target_tokens == ("▁t23", "▁t24", "</s>")
    np.testing.assert_array_equal(found.decoder_self, sequences[1].own[:, :, 1:, 1:])
    assert read_back(found, "decoder_self") == (1, 2, "▁t24", "▁t22")
    assert found.target == "t22 t23 t24"


def test_a_generation_is_named_by_texts_where_there_is_no_tokenizer() -> None:
    made = generated([sequence([11, 12, 13, 14], 2, seed=1)])
    texts = ["Hel", "lo", "Ġworld", "Ġagain"]
    found = AttentionTrace.from_huggingface(made, texts)
    assert found.decoder_tokens == ("▁Hel", "lo", "▁world")
    assert found.target_tokens == ("lo", "▁world", "▁again")
    assert found.target == "Hello world again"
    assert [piece.word for piece in found.target_pieces] == [0, 1, 2]


def test_the_texts_of_a_source_name_no_decoder_that_had_one() -> None:
    """Of an encoder-decoder with fused attention in the encoder and across, say."""
    whole = generated([sequence([BOS, 31, 32, EOS], 1, seed=1, source=5)])
    made = {"sequences": whole.sequences, "decoder_attentions": whole.decoder_attentions}
    found = AttentionTrace.from_huggingface(made, ["▁A", "▁dog", "</s>"], tokenizer=TOKENIZER)
    assert found.decoder_tokens == ("<s>", "▁t31", "▁t32")
    assert found.target_tokens == ("▁t31", "▁t32", "</s>")
