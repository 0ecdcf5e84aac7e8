"""Small models of common families of `transformers`, with random weights."""

from typing import Any, Literal, NamedTuple

import torch

LAYERS, HEADS, D_MODEL = 3, 4, 32
MELS, FRAMES = 8, 11
VOCABULARY = 60
PAD, END, START, UNKNOWN = 0, 1, 2, 3
LENGTHS = (7, 5)
"""Tokens of the two sentences of a batch; the shorter is padded."""
ROOM = 64
"""Positions that a model has."""
SPREAD = 0.4
"""Standard deviation of the weights: rows far from uniform, beams that change places."""
Shape = Literal["encoder-decoder", "speech", "encoder", "decoder"]


class Family(NamedTuple):
    """An architecture."""

    name: str  # the beginning of its classes' names
    shape: Shape  # its stacks and inputs
    head: str  # the end of its model's name
    fields: dict[str, Any]  # of its configuration

    def make(self) -> Any:
        """Make a model of random weights."""
        import transformers

        torch.manual_seed(len(self.name))
        config = getattr(transformers, f"{self.name}Config")(**{**_IDS, **self.fields})
        return getattr(transformers, f"{self.name}{self.head}")(config).eval()


def tokenizer() -> Any:
    """A tokenizer of the library in which each id has a token of its own, `▁t17`."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    special = {"<pad>": PAD, "</s>": END, "<s>": START, "<unk>": UNKNOWN}
    words = {f"▁t{n}": n for n in range(len(special), VOCABULARY)}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({**special, **words}, unk_token="<unk>")),
        pad_token="<pad>",
        eos_token="</s>",
        bos_token="<s>",
        unk_token="<unk>",
    )


def inputs_of(shape: Shape) -> dict[str, Any]:
    """Two sentences of tokens of which none comes twice, with padding where it belongs."""
    random = torch.Generator().manual_seed(1)
    ids = torch.randperm(VOCABULARY - UNKNOWN - 1, generator=random) + UNKNOWN + 1
    inputs = _padded(ids, left=shape == "decoder")
    if shape in ("encoder", "decoder"):
        return inputs
    if shape == "speech":
        sound = torch.randn(len(LENGTHS), MELS, 2 * FRAMES, generator=random)
        inputs = {"input_features": sound}
    decoder = _padded(ids.flip(0), left=False)
    return {**inputs, **{f"decoder_{name}": value for name, value in decoder.items()}}


def _padded(ids: Any, *, left: bool) -> dict[str, Any]:
    """One after another from the ids, as `input_ids` and `attention_mask`."""
    padded = torch.full((len(LENGTHS), max(LENGTHS)), PAD)
    for row, length in enumerate(LENGTHS):
        start = max(LENGTHS) - length if left else 0
        padded[row, start : start + length] = ids[sum(LENGTHS[:row]) :][:length]
    return {"input_ids": padded, "attention_mask": (padded != PAD).long()}


_IDS = {
    "vocab_size": VOCABULARY,
    "pad_token_id": PAD,
    "eos_token_id": END,
    "bos_token_id": START,
    "attn_implementation": "eager",
}
_TWO_STACKS = {
    "d_model": D_MODEL,
    "encoder_layers": LAYERS,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": ROOM,
    "decoder_start_token_id": START,
    "forced_eos_token_id": None,
    "init_std": SPREAD,
}
_SPEECH = {
    "num_mel_bins": MELS,
    "max_source_positions": FRAMES,
    "max_target_positions": ROOM,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
}
_T5 = {
    "d_model": D_MODEL,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "initializer_factor": 1.5,
    "decoder_start_token_id": PAD,
}
_ENCODER = {
    "hidden_size": D_MODEL,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 64,
    "max_position_embeddings": ROOM,
    "initializer_range": SPREAD,
}
_GPT2 = {
    "n_embd": D_MODEL,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_positions": ROOM,
    "initializer_range": SPREAD,
}
_GENERATION = "ForConditionalGeneration"
FAMILIES = (
    Family("T5", "encoder-decoder", _GENERATION, _T5),
    *(Family(name, "encoder-decoder", _GENERATION, _TWO_STACKS) for name in ("Bart", "MBart")),
    Family("Marian", "encoder-decoder", "MTModel", _TWO_STACKS),
    Family("M2M100", "encoder-decoder", _GENERATION, _TWO_STACKS),
    Family("Whisper", "speech", _GENERATION, {**_TWO_STACKS, **_SPEECH}),
    Family("Bert", "encoder", "Model", _ENCODER),
    Family("GPT2", "decoder", "LMHeadModel", _GPT2),
    Family("Llama", "decoder", "ForCausalLM", {**_ENCODER, "num_key_value_heads": 2}),
)
