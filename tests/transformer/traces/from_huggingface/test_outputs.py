"""A weight planted between two tokens is read back between them, from every layout and search."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

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
from transformer import AttentionTrace, InputError

DECODERS = torch.tensor([[BOS, 31, 32, 33], [BOS, 41, 42, PAD]])
DECODER_MASK = [[1, 1, 1, 1], [1, 1, 1, 0]]


def seq2seq() -> SimpleNamespace:
    """A forward pass over two sentences; something is planted in the second, at its last tokens."""
    other = (
        rows(2, 3, 5, 5, seed=1),
        rows(4, 2, 4, 4, seed=2, causal=True),
        rows(4, 2, 4, 5, seed=3),
    )
    mine = (
        plant(rows(2, 3, 5, 5, seed=4), (1, 2, 0, 1)),
        plant(rows(4, 2, 4, 4, seed=5, causal=True), (3, 1, 2, 1)),
        plant(rows(4, 2, 4, 5, seed=6), (2, 0, 2, 0)),
    )
    encoder, decoder, cross = (per_layer([a, b]) for a, b in zip(other, mine, strict=True))
    return SimpleNamespace(
        encoder_attentions=encoder, decoder_attentions=decoder, cross_attentions=cross
    )


def read(**changes: Any) -> AttentionTrace:
    """The first sentence of `seq2seq`, unless something else is given."""
    given: dict[str, Any] = {"outputs": seq2seq(), "tokens": INPUTS, "decoder_tokens": DECODERS}
    return AttentionTrace.from_huggingface(**given | {"tokenizer": TOKENIZER, "index": 0} | changes)


@pytest.mark.parametrize("form", [lambda made: made, lambda made: OrderedDict(vars(made))])
def test_an_encoder_decoder_in_a_forward_pass(form) -> None:
    """T5, BART, mBART, NLLB, Marian."""
    trace = read(outputs=form(seq2seq()), decoder_attention_mask=DECODER_MASK, index=1)
    assert trace.kinds == ("encoder_self", "decoder_self", "cross")
    assert trace.source_tokens == ("▁t21", "▁t22", "</s>")  # the padding is gone
    assert trace.decoder_tokens == ("<s>", "▁t41", "▁t42")
    assert read_back(trace, "encoder_self") == (1, 2, "▁t21", "▁t22")
    assert read_back(trace, "decoder_self") == (3, 1, "▁t42", "▁t41")
    assert read_back(trace, "cross") == (2, 0, "▁t42", "▁t21")
    assert not trace.writes_known
    assert trace.labels("cross").queries == trace.decoder_tokens


def test_what_a_pass_writes_may_be_said() -> None:
    labels = [["▁a", "▁b", "▁c", "</s>"], ["▁d", "▁e", "</s>", "<pad>"]]
    trace = read(target_tokens=labels, decoder_attention_mask=DECODER_MASK, index=1)
    assert read_back(trace, "cross") == (2, 0, "</s>", "▁t21")
    assert trace.labels("cross", "reads").queries == ("<s>", "▁t41", "▁t42")


def test_only_the_kinds_that_are_asked_for_are_read() -> None:
    made = seq2seq()
    made.encoder_attentions = tuple(layer * np.nan for layer in made.encoder_attentions)
    trace = read(outputs=made, kinds=["cross"])
    assert trace.kinds == ("cross",)
    assert trace.encoder_self.shape == (0, 0, 5, 5)


@pytest.mark.parametrize("nothing", [(), (None, None)])
def test_an_encoder_that_was_fused_is_said_to_be(nothing) -> None:
    made = seq2seq()
    made.encoder_attentions = nothing
    trace = read(outputs=made)
    assert trace.kinds == ("decoder_self", "cross")
    assert trace.notes[-1].startswith("There is no encoder self-attention: it was computed fused")
    assert not read().notes


def test_frames_of_sound_are_numbered() -> None:
    """Whisper: the mask of its inputs is that of other frames."""
    features = {"input_features": torch.zeros(2, 4, 10), "attention_mask": torch.ones(2, 10)}
    trace = read(tokens=features, index=1)
    assert trace.source_tokens == ("1", "2", "3", "4", "5")
    assert read_back(trace, "cross") == (2, 0, "▁t42", "1")
    assert trace.source == ""


PAIR = ["[CLS]", "the", "fris", "##bee", "[SEP]", "it", "fl", "##ies", "[SEP]"]


@pytest.mark.parametrize("named", [True, False])
def test_an_encoder_alone_with_a_pair_of_sentences(named) -> None:
    """BERT."""
    maps = per_layer([plant(rows(3, 2, 9, 9, seed=1), (2, 1, 7, 3))])
    outputs = {"last_hidden_state": torch.zeros(1, 9, 4), "attentions": maps} if named else maps
    trace = AttentionTrace.from_huggingface(outputs, PAIR)
    assert trace.kinds == ("encoder_self",)
    assert read_back(trace, "encoder_self") == (2, 1, "ies", "bee")
    assert trace.source == "the frisbee | it flies"
    assert trace.special.tokens == {"[CLS]", "[SEP]"}
    assert trace.special.ends == {"[SEP]"}
    assert [piece.word for piece in trace.source_pieces] == [0, 1, 2, 2, 3, 4, 5, 5, 6]
    assert trace.second_start is None


def test_the_second_text_of_a_pair_is_where_the_tokenizer_says_without_padding() -> None:
    maps = per_layer([rows(1, 2, 9, 9, seed=seed) for seed in (1, 2)])
    padded = ["[PAD]", "[PAD]", "[CLS]", "it", "[SEP]", "fl", "##ies", "[SEP]", "[PAD]"]
    inputs = {
        "input_ids": [PAIR, padded],
        "attention_mask": [[1] * 9, [0, 0, 1, 1, 1, 1, 1, 1, 0]],
        "token_type_ids": torch.tensor([[0] * 5 + [1] * 4, [0, 0, 0, 0, 0, 1, 1, 1, 0]]),
    }
    traces = [AttentionTrace.from_huggingface(maps, inputs, index=n) for n in (0, 1)]
    assert [trace.second_start for trace in traces] == [5, 3]
    assert traces[1].source_tokens[3] == "▁fl"
    positions: list[Any] = [4, np.int64(4)]
    for start in positions:
        asked = AttentionTrace.from_huggingface(maps, inputs, index=1, second_start=start)
        assert asked.source_tokens[asked.second_start or 0] == "[SEP]"
    for start in (-4, True, 99):
        with pytest.raises(InputError, match=f"cannot begin at {start}: give second_start from 1"):
            AttentionTrace.from_huggingface(maps, inputs, index=1, second_start=start)
    # one text has type 0 alone, and a decoder's types are of something else
    inputs["token_type_ids"] = torch.zeros(2, 9, dtype=torch.int64)
    assert AttentionTrace.from_huggingface(maps, inputs, index=0).second_start is None
    causal = per_layer([np.tril(rows(1, 2, 9, 9, seed=1))])
    given = {"input_ids": PAIR, "token_type_ids": [0] * 5 + [1] * 4}
    assert AttentionTrace.from_huggingface(causal, given).second_start is None


def test_a_decoder_alone_in_a_forward_pass() -> None:
    """GPT, Llama: one map for each query head; no position sees a later one."""
    maps = per_layer([plant(rows(2, 4, 4, 4, seed=3, causal=True), (1, 3, 2, 1))])
    outputs = {"attentions": maps, "cross_attentions": ()}
    trace = AttentionTrace.from_huggingface(outputs, [11, 12, 13, 14], tokenizer=TOKENIZER)
    assert trace.kinds == ("decoder_self",)
    assert trace.causal
    assert trace.source_pieces == ()
    assert read_back(trace, "decoder_self") == (1, 3, "▁t13", "▁t12")


def test_a_decoder_that_reads_what_an_encoder_gave() -> None:
    own = per_layer([plant(rows(2, 2, 3, 3, seed=3, causal=True), (1, 0, 2, 1))])
    cross = per_layer([plant(rows(2, 2, 3, 4, seed=4), (0, 1, 1, 3))])
    outputs = {"attentions": own, "cross_attentions": cross}
    trace = AttentionTrace.from_huggingface(outputs, [*"abcd"], [*"xyz"])
    assert trace.kinds == ("decoder_self", "cross")
    assert read_back(trace, "cross") == (0, 1, "y", "d")
    assert read_back(trace, "decoder_self") == (1, 0, "z", "y")


def beam_without_rows() -> SimpleNamespace:
    """As Whisper's generate returns them: of each step the first row of a sentence alone."""
    made = generated([sequence([BOS, 31, 32, EOS], 1, 1, 5)], beams=[[0, 1, 0]], size=2)
    for name in ("decoder_attentions", "cross_attentions"):
        first_rows = tuple(tuple(layer[:1] for layer in step) for step in getattr(made, name))
        setattr(made, name, first_rows)
    return made


def in_padding() -> np.ndarray:
    """Attention over five tokens of which the last two are padding."""
    maps = rows(1, 2, 5, 5, seed=1)
    maps[..., 3:] = 0
    return maps


def assisted(accepted: int, window: int = 3) -> tuple[Sequence, SimpleNamespace]:
    """Steps of assisted generation: rows have keys of candidates behind their own token.

    The second layer looks in a window. `accepted` candidates come from the first call of the model,
    whose first rows the library gives in place of theirs.
    """
    entry = sequence([11, 12, 13, 14, 15, 16, 17, 18, EOS], 4, seed=1)
    back = np.arange(8)[:, None] - np.arange(8)
    entry.own[1] = np.where((back >= 0) & (back < window), rows(1, 4, 8, 8, seed=2)[0] + 1, 0)
    made = generated([entry])
    steps = [list(step) for step in made.attentions]
    for step, extra in enumerate([2, 1, 0, 2], start=1):
        own = steps[step][1][..., -window:]
        hidden = torch.zeros(*own.shape[:-1], extra)
        before = torch.zeros(*own.shape[:-1], 2 - extra)
        steps[step][1] = torch.cat([before, own, hidden], -1)
    for step in range(1, accepted):
        for layer, whole in enumerate(steps[0]):
            row = torch.zeros(1, 4, 1, 4 + step)
            row[..., :4] = whole[:, :, step - 1 : step]
            steps[step][layer] = row
    made.attentions = tuple(map(tuple, steps))
    return entry, made


def test_rows_end_with_their_own_token_whatever_candidates_stand_behind() -> None:
    """Prompt lookup and assistants on sliding layers; an own weight that rounds to 0 moves none."""
    entry, made = assisted(0)
    made.attentions[2][0][:, :2, :, -1] = 0
    entry.own[0, :2, 5, 5] = 0
    trace = AttentionTrace.from_huggingface(made, tokenizer=TOKENIZER, normalized=False)
    np.testing.assert_array_equal(trace.decoder_self, entry.own)


@pytest.mark.parametrize("mask", [[1, 0, 1, 1], [0, 1, 1]])
def test_a_prompt_may_have_a_mask_of_its_own(mask) -> None:
    """Before it `generate` puts a start token, which that mask does not have."""
    entry = sequence([BOS, 31, 32, 33, 34, EOS], 4, seed=1, source=5)
    made = generated([entry])
    trace = AttentionTrace.from_huggingface(
        made, tokenizer=TOKENIZER, decoder_attention_mask=[mask]
    )
    assert trace.decoder_tokens == ("<s>", "▁t32", "▁t33", "▁t34")


def prefix_in_the_cache() -> SimpleNamespace:
    made = generated([sequence([11, 12, 13, 14], 2, seed=1)])
    made.attentions[0][0].requires_grad_()  # a tensor of a model that is trained
    first = tuple(torch.cat([layer, layer], -1) for layer in made.attentions[0])
    made.attentions = (first, *made.attentions[1:])
    return made


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"index": None}, r"2 sentences in this batch: choose one with index="),
        ({"index": 2}, r"no index 2 among the 2 sentences .* from 0 to 1"),
        ({"outputs": SimpleNamespace(attentions=None)}, r'set_attn_implementation\("eager"\)'),
        ({"outputs": SimpleNamespace(sequences=torch.ones(1, 3).long(),
                                     attentions=((None,), (None,)))}, r"fused attention"),
        ({"outputs": {"attentions": (torch.zeros(2, 1, 2, 2), torch.zeros(2, 2, 2))}},
         r"of layer 2 has 3 axes, \[2, 2, 2\], and not 4"),
        ({"tokenizer": None}, r"tokens of the source are ids, and there is no tokenizer"),
        ({"tokenizer": object()}, r"cannot name ids, having no convert_ids_to_tokens"),
        ({"tokens": [[5] * 5] * 2}, r"no token 5, which is one of the source"),
        ({"tokens": [["a"] * 4] * 2}, r"encoder self-attention L1 has 5 rows .* tokens for 4"),
        ({"tokens": ["a", "b", 3.5, "c", "d"]}, r"Token 3 of the source is 3.5 and no string"),
        ({"tokens": [["a"] * 5] * 3}, r"3 rows of tokens or of a mask for a batch of 2"),
        ({"attention_mask": [[1] * 4] * 2}, r"mask has 4 positions and the weights 5"),
        ({"decoder_tokens": None}, r"give decoder_tokens"),
        ({"kinds": ["crossed"]}, r"kinds = 'crossed' does not exist"),
        ({"kinds": "cross"}, r"kinds = 'cross' is a text"),
        ({"kinds": ["encoder_self", "cross"],
          "outputs": {"attentions": seq2seq().encoder_attentions}, "index": 1},
         r"no weights of cross: choose other kinds"),
        ({"kinds": ["encoder_self"], "outputs": {"encoder_attentions": (),
                                                 "cross_attentions": seq2seq().cross_attentions}},
         r"no weights of encoder_self: choose other kinds"),
        ({"languages": ("English", "German")}, r"give Languages\(source, target\)"),
        ({"outputs": generated([sequence([BOS, 31, EOS], 1, 1, 5)] * 2, size=6)},
         r"2 sequences and 6 rows .* output_scores=True"),
        ({"outputs": beam_without_rows(), "decoder_tokens": None, "tokens": None},
         r"of 1 sentences, and number 1 was to be read.*Whisper"),
        ({"outputs": prefix_in_the_cache(), "tokens": None, "decoder_tokens": None},
         r"not over the 2 tokens of this call .* model once"),
        ({"outputs": torch.ones(3, 2, 4, 4) / 4}, r"Tensor does not name .* from_arrays"),
        ({"outputs": torch.ones(1, 9, dtype=torch.long)}, r"return_dict_in_generate=True"),
        ({"outputs": ()}, r"outputs as a whole"),  # cross_attentions of a BERT, its last member
        ({"outputs": (torch.ones(2, 4, 4) / 4,)}, r"of layer 1 has 3 axes"),
        ({"outputs": SimpleNamespace(logits=torch.zeros(1, 4, 9))}, r"Mamba"),
        ({"tokens": [[11, 12, 13, 14, -100]] * 2}, r"source hold -100, .* as target_tokens"),
        ({"outputs": {"attentions": per_layer([in_padding()])}, "tokens": [*"abcde"], "index": 0,
          "attention_mask": [[False, False, False, True, True]]}, r"~mask .* key_padding_mask"),
        ({"outputs": (torch.zeros(1, 4, 9), seq2seq().encoder_attentions)}, r"return_dict=True"),
        ({"outputs": generated([sequence([11, 12, 13], 2, 1)]), "index": None,
          "attention_mask": ["ab"], "tokens": None, "decoder_tokens": None}, r"of 0 and 1"),
        ({"outputs": assisted(2)[1], "tokens": None, "decoder_tokens": None, "index": None},
         r"step 2 of assisted generation"),
        ({"outputs": generated([sequence([11, 12, 13], 2, 1)]), "tokens": None,
          "decoder_tokens": ["a", "b"]},
         r"has 2 tokens, and the model read 2 in its first step"),
        ({"outputs": generated([sequence([11, 12, 13], 2, 1)]), "tokens": None,
          "decoder_tokens": None, "attention_mask": [[1]]}, r"mask has 1 position"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(given, message) -> None:
    with pytest.raises(InputError, match=r"(?i)" + message):
        read(**given)


def cross_of(entry: Sequence) -> np.ndarray:
    assert entry.cross is not None
    return entry.cross


@pytest.mark.parametrize("style", ["cache", "whole", "window"])
@pytest.mark.parametrize("prompt", [1, 3])
def test_greedy_steps_of_an_encoder_decoder(style, prompt) -> None:
    sequences = [
        sequence([BOS, 31, 32, 33, 34, EOS], prompt, seed=1, source=5),
        sequence([BOS, 41, 42, 43, EOS], prompt, seed=2, source=5),
    ]
    window = 3
    if style == "window":
        for entry in sequences:  # nobody looks further back, but the prompt
            far = np.tril(np.ones(entry.own.shape[2:]), -window)
            far[:prompt] = 0
            entry.own[:, :, far > 0] = 0
            entry.own[1, 2, -1, -2] = HOT
    made = generated(sequences, style=style, window=window)
    made.encoder_attentions = per_layer([rows(2, 3, 5, 5, seed=seed) for seed in (8, 9)])
    for index, (reads, writes) in enumerate(
        [
            (["<s>", "▁t31", "▁t32", "▁t33", "▁t34"], ["▁t31", "▁t32", "▁t33", "▁t34", "</s>"]),
            (["<s>", "▁t41", "▁t42", "▁t43"], ["▁t41", "▁t42", "▁t43", "</s>"]),
        ]
    ):
        trace = AttentionTrace.from_huggingface(made, INPUTS, tokenizer=TOKENIZER, index=index)
        assert trace.decoder_tokens == tuple(reads)
        assert trace.target_tokens == tuple(writes)
        np.testing.assert_array_equal(trace.decoder_self, sequences[index].own)
        keys = int(SOURCE_MASK[index].sum())
        np.testing.assert_array_equal(trace.cross, cross_of(sequences[index])[..., :keys])
        last = reads[-2] if style == "window" else "<s>"
        assert read_back(trace, "decoder_self") == (1, 2, reads[-1], last)
        assert read_back(trace, "cross") == (0, 1, "</s>", ["▁t12", "▁t22"][index])


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
    for index, entry in enumerate(sequences):
        trace = AttentionTrace.from_huggingface(made, INPUTS, tokenizer=TOKENIZER, index=index)
        keys = 5 if index < 2 else 3
        np.testing.assert_array_equal(trace.decoder_self, entry.own)
        np.testing.assert_array_equal(trace.cross, cross_of(entry)[..., :keys])
        assert trace.target_tokens == tuple(TOKENIZER.convert_ids_to_tokens(entry.ids[1:]))
        query, key = [("▁t12", "▁t11"), ("</s>", "▁t21")][index // 2]
        assert read_back(trace, "encoder_self") == (1, 1, query, key)


def test_several_samples_of_one_sentence_have_one_encoder() -> None:
    sequences = [sequence([BOS, 31 + n, EOS], 1, seed=n, source=5) for n in range(4)]
    made = generated(sequences)
    made.encoder_attentions = per_layer([rows(1, 1, 5, 5, seed=seed) for seed in (1, 2)])
    trace = AttentionTrace.from_huggingface(made, INPUTS, tokenizer=TOKENIZER, index=2)
    assert trace.source_tokens == ("▁t21", "▁t22", "</s>")
    np.testing.assert_array_equal(trace.encoder_self[0, 0], rows(1, 1, 5, 5, seed=2)[0, 0, :3, :3])
    np.testing.assert_array_equal(trace.cross, cross_of(sequences[2])[..., :3])


@pytest.mark.parametrize("style", ["cache", "static"])
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
    trace = AttentionTrace.from_huggingface(made, prompts, tokenizer=TOKENIZER, index=1)
    assert trace.kinds == ("decoder_self",)
    assert trace.decoder_tokens == ("▁t22", "▁t23", "▁t24")
    assert trace.target_tokens == ("▁t23", "▁t24", "</s>")
    np.testing.assert_array_equal(trace.decoder_self, sequences[1].own[:, :, 1:, 1:])
    assert read_back(trace, "decoder_self") == (1, 2, "▁t24", "▁t22")
    assert trace.target == "t22 t23 t24"


def test_a_generation_is_named_by_texts_where_there_is_no_tokenizer() -> None:
    made = generated([sequence([11, 12, 13, 14], 2, seed=1)])
    texts = ["Hel", "lo", "Ġworld", "Ġagain"]
    trace = AttentionTrace.from_huggingface(made, decoder_tokens=texts)
    assert trace.decoder_tokens == ("▁Hel", "lo", "▁world")
    assert trace.target_tokens == ("lo", "▁world", "▁again")
    assert trace.target == "Hello world again"
    assert [piece.word for piece in trace.target_pieces] == [0, 1, 2]
