"""Layers that are not [query = key tokens], hybrid models, prefixes, weights that lie deeper."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.traces.from_huggingface.made_outputs import (
    BOS,
    EOS,
    INPUTS,
    PAD,
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

DECODERS = torch.tensor([[BOS, 31, 32, 33], [BOS, 41, 42, 43]])


def encoder_decoder(encoder: Any, keys: int = 5, **changes: Any) -> SimpleNamespace:
    """A pass over two sentences, with something planted in cross-attention of the second."""
    cross = [rows(2, 2, 4, keys, seed=1), plant(rows(2, 2, 4, keys, seed=2), (1, 0, 2, 1))]
    own = [rows(2, 2, 4, 4, seed=seed, causal=True) for seed in (3, 4)]
    made = {
        "encoder_attentions": encoder,
        "decoder_attentions": per_layer(own),
        "cross_attentions": per_layer(cross),
    }
    return SimpleNamespace(**made | changes)


def in_a_window(size: int, reach: int, *, all_see: int = 0) -> np.ndarray:
    """`[layer, head, query, column]` as Longformer returns it: columns are offsets from -reach.

    Before them are columns of the first tokens, at which all look, and which look at nothing here.
    """
    weights = rows(2, 3, size, all_see + 2 * reach + 1, seed=8)
    places = np.arange(size)[:, None] + np.arange(-reach, reach + 1)
    weights[..., all_see:][:, :, (places < all_see) | (places >= size)] = 0
    weights[:, :, :all_see] = 0
    return weights


ENCODERS = {
    "windows of an image, Swin": (torch.ones(8, 2, 5, 5), torch.ones(2, 4, 5, 5)),
    "windows of one size": (torch.ones(8, 2, 5, 5),) * 2,
    "blocks, LongT5": (torch.ones(2, 2, 4, 3, 9),) * 2,
    "local and global parts, Pegasus-X": ({"local": torch.ones(2, 4)},) * 2,
    "offsets, LED": per_layer([in_a_window(5, 4)] * 2),
    "as many offsets as tokens": per_layer([in_a_window(5, 2)] * 2),
    "as many with a token that all see": per_layer([in_a_window(5, 1, all_see=2)] * 2),
    "pooled, Funnel": (torch.ones(2, 3, 5, 5), torch.ones(2, 3, 3, 5)),
    "fewer positions than cross-attention sees": (torch.ones(2, 3, 4, 4),) * 2,
}


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("tokens", [INPUTS, {"pixel_values": torch.ones(2, 3, 8, 8)}])
def test_an_encoder_without_a_row_for_each_token_is_left_out_with_a_note(encoder, tokens) -> None:
    """The batch is that of cross-attention, and so `index` names the image that it says."""
    made = encoder_decoder(encoder)
    trace = AttentionTrace.from_huggingface(made, tokens, DECODERS, tokenizer=TOKENIZER, index=1)
    assert trace.kinds == ("decoder_self", "cross")
    second = "▁t22" if tokens is INPUTS else "2"
    assert read_back(trace, "cross") == (1, 0, "▁t42", second)
    assert "no encoder self-attention" in trace.notes[-1]
    with pytest.raises(InputError, match="windows or blocks"):
        AttentionTrace.from_huggingface(
            made, tokens, DECODERS, tokenizer=TOKENIZER, index=1, kinds=["encoder_self"]
        )


@pytest.mark.parametrize("padding", [(0, 2), (2, 0), (1, 1), (0, 3)])
def test_padding_is_no_window(padding) -> None:
    """Rows of padding look at tokens, as in the library; no token looks at padding."""
    before, after = padding
    maps = rows(2, 3, 7, 7, seed=1)
    maps[..., :before] = maps[..., 7 - after :] = 0
    mask = [[0] * before + [1] * (7 - before - after) + [0] * after]
    trace = AttentionTrace.from_huggingface(per_layer([maps]), [*"abcdefg"], attention_mask=mask)
    assert trace.kinds == ("encoder_self",)


@pytest.mark.parametrize("size", [5, 9])
def test_a_stack_that_looks_in_a_window_cannot_be_shown(size) -> None:
    """Longformer, with as many offsets as tokens and with fewer."""
    layers = per_layer([in_a_window(size, 2)])
    with pytest.raises(InputError, match="windows or blocks"):
        AttentionTrace.from_huggingface({"attentions": layers}, ["a"] * size)


def test_layers_of_blocks_are_left_out_and_the_others_keep_their_numbers() -> None:
    """Funnel; of Swin, which counts windows as sentences, no layer can be told from them."""
    maps = plant(rows(1, 2, 5, 5, seed=1), (0, 1, 2, 1))
    layers = (torch.ones(1, 2, 3, 5), torch.ones(1, 2, 3, 3), *per_layer([maps]))
    trace = AttentionTrace.from_huggingface(layers, [*"abcde"])
    assert read_back(trace, "encoder_self") == (2, 1, "c", "b")
    assert trace.head_count("encoder_self") == (0, 0, 2)
    assert any("left out" in note for note in trace.notes)
    stages = (torch.ones(4, 2, 5, 5), *per_layer([maps]))
    one_stage = {"attentions": stages[:1], "last_hidden_state": torch.ones(1, 20, 8)}
    for outputs in (stages, one_stage):
        with pytest.raises(InputError, match="windows or blocks"):
            AttentionTrace.from_huggingface(outputs, index=0)


def test_rows_of_cross_attention_for_tokens_to_come_are_refused_by_their_number() -> None:
    """ProphetNet: after the rows of what was read come those of two streams that predict."""
    cross = [np.concatenate([rows(2, 2, 4, 5, seed=n) for n in (s, 8, 9)], 2) for s in (1, 2)]
    made = encoder_decoder(None, cross_attentions=per_layer(cross))
    for mask in (None, [[1] * 4] * 2):
        with pytest.raises(InputError, match=r"12 rows and 5 columns|weights 12: .* from_arrays"):
            AttentionTrace.from_huggingface(
                made, INPUTS, DECODERS, tokenizer=TOKENIZER, index=0, decoder_attention_mask=mask
            )


def cache(*has_keys: bool) -> SimpleNamespace:
    """A cache in which layers of attention have keys, and others a state."""
    return SimpleNamespace(
        layers=[SimpleNamespace(keys=1) if keys else SimpleNamespace() for keys in has_keys]
    )


LAST = plant(rows(2, 4, 4, 4, seed=3, causal=True), (1, 3, 2, 1))
LAYERS = per_layer([LAST])
GAPS = (None, LAYERS[0], None, LAYERS[1])


def configured(*types: str, **more: Any) -> SimpleNamespace:
    """The configuration of a model of text, inside of one that sees, too."""
    text = SimpleNamespace(num_hidden_layers=len(types), layer_types=[*types], **more)
    return SimpleNamespace(get_text_config=lambda: text)


HYBRID = configured("linear_attention", "full_attention", "conv", "sliding_attention")
STATE = torch.ones(1, 4, 4, 4) / 2  # no row of it sums to 1


@pytest.mark.parametrize(
    ("outputs", "options"),
    [
        (GAPS, {}),
        ({"attentions": GAPS}, {}),
        ({"attentions": LAYERS}, {"config": HYBRID}),
        ({"attentions": LAYERS, "past_key_values": cache(False, True, False, True)}, {}),
        # MiniMax returns states among the weights
        ({"attentions": (STATE, LAYERS[0], STATE, LAYERS[1])}, {"config": HYBRID}),
    ],
)  # fmt: skip
def test_layers_of_a_hybrid_model_keep_their_numbers(outputs, options, tmp_path) -> None:
    """Jamba, Qwen3-Next: layers 2 and 4 of 4 have attention."""
    given = {"tokens": [11, 12, 13, 14], "tokenizer": TOKENIZER, **options}
    trace = AttentionTrace.from_huggingface(outputs, **given)
    assert trace.kinds == ("decoder_self",)
    assert trace.head_count("decoder_self") == (0, 4, 0, 4)
    assert read_back(trace, "decoder_self") == (3, 3, "▁t13", "▁t12")
    assert [*trace.to_frame().layer.unique()] == [1, 3]
    assert any(note.endswith("these layers alone: 2, 4.") for note in trace.notes)
    trace.save(tmp_path / "hybrid.npz")
    loaded = AttentionTrace.load(tmp_path / "hybrid.npz")
    assert loaded.head_counts == trace.head_counts
    np.testing.assert_array_equal(loaded.decoder_self, trace.decoder_self)


@pytest.mark.parametrize("keys", [(True, True), (True, True, False, False)])
def test_layers_without_keys_of_their_own_have_weights_where_they_are_given(keys) -> None:
    """Gemma 3n: later layers share the keys of others."""
    shared = {"attentions": LAYERS * 2, "past_key_values": cache(*keys)}
    trace = AttentionTrace.from_huggingface(shared, [*"abcd"])
    assert trace.head_count("decoder_self") == (4, 4, 4, 4)
    assert not any("alone" in note or "numbered" in note for note in trace.notes)


@pytest.mark.parametrize("option", ["config", "cache", "gaps"])
def test_the_steps_of_a_hybrid_model_keep_them_too(option) -> None:
    entry = sequence([11, 12, 13, 14, EOS], 2, seed=1)
    made = generated([entry])
    if option == "cache":
        made.past_key_values = cache(False, True, False, True)
    if option == "gaps":
        made.attentions = [(None, step[0], None, step[1]) for step in made.attentions]
    config = HYBRID if option == "config" else None
    trace = AttentionTrace.from_huggingface(made, tokenizer=TOKENIZER, config=config)
    assert read_back(trace, "decoder_self") == (3, 2, "▁t14", "▁t11")
    np.testing.assert_array_equal(trace.decoder_self[[1, 3]], entry.own)


def test_layers_whose_numbers_are_not_known_are_said_to_be_some() -> None:
    """RecurrentGemma without a cache; FalconH1 has attention in each layer."""
    states = (torch.zeros(1, 4, 8),) * 5
    fields = {"attentions": LAYERS, "hidden_states": states}
    trace = AttentionTrace.from_huggingface(fields, [*"abcd"])
    assert trace.notes[-1].startswith("Of 4 layers, 2 have weights")
    whole = {"attentions": LAYERS, "past_key_values": cache(True, True)}
    for outputs, config in (
        (fields, HYBRID),
        (whole, None),
        (whole, configured("hybrid", "hybrid")),
    ):
        trace = AttentionTrace.from_huggingface(outputs, [*"abcd"], config=config)
        assert not any("numbered from 1" in note for note in trace.notes)


def mllama(image: int) -> tuple[Any, Any]:
    """Own attention in layers 1 and 3, and in 2 and 4 that to positions of an image; its parts."""
    own, across = rows(2, 2, 4, 4, seed=1, causal=True), rows(2, 2, 4, image, seed=2)
    layers = per_layer([own]), per_layer([across])
    return [layers[n % 2][n // 2] for n in range(4)], (own, across)


MLLAMA = configured(*["full_attention"] * 4, cross_attention_layers=[1, 3])


@pytest.mark.parametrize("image", [4, 3, 9])
def test_layers_that_look_at_an_image_are_cross_attention_by_the_configuration(image) -> None:
    """Mllama, however many positions the image has."""
    layers, (own, across) = mllama(image)
    outputs = {"attentions": layers, "past_key_values": cache(True, True, True, True)}
    trace = AttentionTrace.from_huggingface(outputs, [*"abcd"], config=MLLAMA)
    assert trace.kinds == ("decoder_self", "cross")
    assert trace.head_count("decoder_self") == (2, 0, 2, 0)
    assert trace.head_count("cross") == (0, 2, 0, 2)
    np.testing.assert_array_equal(trace.decoder_self[[0, 2]], own)
    np.testing.assert_array_equal(trace.cross[[1, 3]], across)
    assert trace.labels("cross") == (tuple("abcd"), tuple(str(n + 1) for n in range(image)))
    only = AttentionTrace.from_huggingface(outputs, [*"abcd"], config=MLLAMA, kinds=["cross"])
    assert only.kinds == ("cross",)
    text = AttentionTrace.from_huggingface([layers[0], layers[2]], [*"abcd"], config=MLLAMA)
    assert text.kinds == ("decoder_self",)  # without an image these layers are skipped
    assert text.head_count("decoder_self") == (2, 0, 2, 0)
    padded = AttentionTrace.from_huggingface(
        outputs, [*"abcd"], config=MLLAMA, attention_mask=[[0, 1, 1, 1]]
    )
    assert padded.cross.shape[2:] == (3, image)


@pytest.mark.parametrize("image", [3, 9])
def test_without_the_configuration_they_are_left_out(image) -> None:
    layers, (own, _) = mllama(image)
    trace = AttentionTrace.from_huggingface(layers, [*"abcd"])
    assert trace.kinds == ("decoder_self",)
    assert trace.head_count("decoder_self") == (2, 0, 2, 0)
    np.testing.assert_array_equal(trace.decoder_self[[0, 2]], own)
    assert "config=model.config" in trace.notes[-1]


@pytest.mark.parametrize("kinds", [None, ["decoder_self"]])
def test_as_many_positions_of_an_image_as_words_make_no_self_attention(kinds) -> None:
    with pytest.raises(InputError, match=r"config=model\.config"):
        AttentionTrace.from_huggingface(mllama(4)[0], [*"abcd"], kinds=kinds)


@pytest.mark.parametrize("image", [2, 3, 9])
def test_the_steps_of_a_generation_look_at_an_image_too(image) -> None:
    """With as many positions as the prompt has words, and with others."""
    entry = sequence([11, 12, 13, EOS], 2, seed=1, source=image)
    made = generated([entry])
    pairs = zip(made.decoder_attentions, made.cross_attentions, strict=True)
    steps = [[layer for pair in zip(*step, strict=True) for layer in pair] for step in pairs]
    outputs = {"sequences": made.sequences, "attentions": steps}
    trace = AttentionTrace.from_huggingface(outputs, tokenizer=TOKENIZER, config=MLLAMA)
    np.testing.assert_array_equal(trace.decoder_self[[0, 2]], entry.own)
    np.testing.assert_array_equal(trace.cross[[1, 3]], entry.cross)
    if image == 2:
        with pytest.raises(InputError, match=r"config=model\.config"):
            AttentionTrace.from_huggingface(outputs, tokenizer=TOKENIZER)
        return
    trace = AttentionTrace.from_huggingface(outputs, tokenizer=TOKENIZER)
    assert trace.kinds == ("decoder_self",)
    np.testing.assert_array_equal(trace.decoder_self[[0, 2]], entry.own)
    assert trace.head_count("decoder_self") == (4, 0, 4, 0)


@pytest.mark.parametrize("config", [7, {"num_hidden_layers": 4}])
def test_what_is_no_configuration_is_refused(config) -> None:
    with pytest.raises(InputError, match=r"give config=model\.config"):
        AttentionTrace.from_huggingface(LAYERS, [*"abcd"], config=config)


def whole(first: int, end: int, size: int = 5) -> np.ndarray:
    """`[query, key]` that a decoder sees, with a part that is read as a whole, such as an image."""
    seen = np.tril(np.ones((size, size), bool))
    seen[first:end, first:end] = True
    return seen


BOTH_WAYS = {
    "encoder": whole(0, 5),
    "encoder in a window": np.tril(np.triu(np.ones((5, 5), bool), -2), 2),
    "two texts in a row": np.kron(np.eye(2, dtype=bool), np.ones((3, 3), bool)),
}
BACK = {
    "causal": whole(0, 1),
    "image first": whole(0, 4),
    "image in the middle": whole(1, 4),
    "image last": whole(2, 5),
    "image last, after one token": whole(1, 5),
}


@pytest.mark.parametrize("extra", [{}, {"image_hidden_states": 1}, {"past_key_values": cache()}])
@pytest.mark.parametrize("seen", [*BOTH_WAYS, *BACK])
def test_the_weights_tell_a_decoder_from_an_encoder(seen, extra) -> None:
    """PaliGemma, Gemma 3, EmbeddingGemma: neither a field nor a cache does."""
    cells = (BOTH_WAYS | BACK)[seen]
    maps = rows(2, 2, *cells.shape, seed=1) * cells
    outputs = {"attentions": per_layer([maps]), **extra}
    trace = AttentionTrace.from_huggingface(outputs, [*"abcdef"[: len(cells)]])
    assert trace.kinds == (("decoder_self",) if seen in BACK else ("encoder_self",))
    chosen = AttentionTrace.from_huggingface(
        outputs, [*"abcdef"[: len(cells)]], kinds=["decoder_self"]
    )
    assert chosen.kinds == ("decoder_self",)


class TwoVocabularies:
    """A tokenizer as MarianTokenizer with `separate_vocabs` is, or FSMTTokenizer."""

    all_special_tokens = ("</s>", "<s>")

    def __init__(self) -> None:
        self.encoder = {"</s>": 0, "<s>": 1, "▁The": 2, "▁dog": 3}
        self.decoder = {0: "</s>", 1: "<s>", 2: "▁Der", 3: "▁Hund"}
        self.added_tokens_decoder = {4: "covid19"}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str | None]:
        return [self.decoder.get(id_, self.added_tokens_decoder.get(id_)) for id_ in ids]


def test_each_side_is_named_by_its_own_vocabulary() -> None:
    tokenizer, source = TwoVocabularies(), torch.tensor([[2, 3, 4, 0]])
    made = encoder_decoder(None, keys=4)
    for name in ("decoder_attentions", "cross_attentions"):
        setattr(made, name, tuple(layer[1:] for layer in getattr(made, name)))
    trace = AttentionTrace.from_huggingface(
        made, source, [[1, 2, 3, 0]], target_tokens=[[2, 3, 0, 0]], tokenizer=tokenizer
    )
    assert trace.source_tokens == ("▁The", "▁dog", "covid19", "</s>")
    assert trace.decoder_tokens == ("<s>", "▁Der", "▁Hund", "</s>")
    assert trace.target_tokens == ("▁Der", "▁Hund", "</s>", "</s>")
    assert read_back(trace, "cross") == (1, 0, "</s>", "▁dog")
    steps = generated([sequence([1, 2, 3, 0], 1, seed=1, source=4)])
    trace = AttentionTrace.from_huggingface(steps, {"input_ids": source}, tokenizer=tokenizer)
    assert trace.source_tokens == ("▁The", "▁dog", "covid19", "</s>")
    assert trace.target_tokens == ("▁Der", "▁Hund", "</s>")
    with pytest.raises(InputError, match="no token 9, which is one of the source"):
        AttentionTrace.from_huggingface(steps, [[2, 9, 3, 0]], tokenizer=tokenizer)
    # padding may have a number that is none of the vocabulary
    padded = {"input_ids": [[2, 3, 77, 77]], "attention_mask": [[1, 1, 0, 0]]}
    trace = AttentionTrace.from_huggingface(steps, padded, tokenizer=tokenizer)
    assert trace.source_tokens == ("▁The", "▁dog")
    alone = per_layer([rows(2, 2, 2, 2, seed=1, causal=True)])  # a decoder of the target's language
    trace = AttentionTrace.from_huggingface(alone, [2, 3], tokenizer=tokenizer)
    assert trace.decoder_tokens == ("▁Der", "▁Hund")


def test_the_padding_of_labels_is_cut_off() -> None:
    labels = torch.tensor([[31, 32, 33, EOS], [41, EOS, -100, -100]])
    for mask in (None, [[1] * 4, [1, 1, 1, 0]]):
        trace = AttentionTrace.from_huggingface(
            encoder_decoder(None), INPUTS, DECODERS, tokenizer=TOKENIZER, index=1,
            target_tokens=labels, decoder_attention_mask=mask,
        )  # fmt: skip
        assert trace.target_tokens == ("▁t41", "</s>")
        assert trace.decoder_tokens == ("<s>", "▁t41")
        assert trace.cross.shape == (2, 2, 2, 3)
    causal = per_layer([rows(1, 2, 4, 4, seed=1, causal=True)])
    trace = AttentionTrace.from_huggingface(
        causal, [11, 12, 13, PAD], target_tokens=[-100, 13, EOS, -100], tokenizer=TOKENIZER
    )
    assert trace.decoder_tokens == ("▁t11", "▁t12", "▁t13")
    assert trace.target_tokens == ("-100", "▁t13", "</s>")


def segment(entry: Sequence) -> dict[str, Any]:
    """As Whisper's long form returns each segment: its ids, and its encoder, without a batch."""
    made = generated([entry])
    encoder = tuple(layer[0] for layer in per_layer([rows(2, 4, 5, 5, seed=7)]))
    return {"result": {**vars(made), "sequences": made.sequences[0], "encoder_attentions": encoder}}


def test_weights_that_lie_deeper_are_read_or_named() -> None:
    first, second = (sequence([BOS, 31, 32, EOS], 1, seed=n, source=5) for n in (1, 2))
    segments = [[segment(first)]]
    whole: dict[str, Any] = {"sequences": torch.tensor([[31, 32]]), "segments": segments}
    for outputs in (whole, segments[0][0], segments[0][0]["result"]):
        trace = AttentionTrace.from_huggingface(outputs, tokenizer=TOKENIZER)
        assert trace.kinds == ("encoder_self", "decoder_self", "cross")
        np.testing.assert_array_equal(trace.encoder_self, rows(2, 4, 5, 5, seed=7))
        np.testing.assert_array_equal(trace.decoder_self, first.own)
    segments[0].append(segment(second))
    with pytest.raises(InputError, match=r"2 places: .* outputs\['segments'\]\[0\]\[1\]\['res"):
        AttentionTrace.from_huggingface(whole, tokenizer=TOKENIZER)


def test_two_models_in_one_output_are_both_named() -> None:
    """CLIP; keys and values of a cache are none."""
    text, image = (per_layer([rows(1, 2, n, n, seed=n)]) for n in (3, 4))
    states = torch.zeros(1, 3, 8)
    pair = SimpleNamespace(
        text_model_output=SimpleNamespace(attentions=text),
        vision_model_output=SimpleNamespace(attentions=image),
    )
    keys = torch.zeros(1, 2, 3, 8)
    for outputs, paths in (
        (pair, r"outputs\.text_model_output, outputs\.vision_model_output"),
        (
            {
                "language_model_outputs": {"attentions": text},
                "qformer_outputs": {"attentions": image},
            },
            r"outputs\['language_model_outputs'\], outputs\['qformer_outputs'\]",
        ),  # BLIP-2
        (
            {"language_attentions": text, "vision_attentions": image},
            r"outputs\['language_attentions'\], outputs\['vision_attentions'\]",
        ),  # LXMERT
        ((states, (states, text), (states, image)), "return_dict=True"),
        ({"logits": states, "past_key_values": ((keys, keys),)}, r"fused attention"),
    ):
        with pytest.raises(InputError, match=paths):
            AttentionTrace.from_huggingface(outputs, [*"abc"])
    trace = AttentionTrace.from_huggingface(pair.text_model_output, [*"abc"])
    assert trace.source_tokens == ("a", "b", "c")
