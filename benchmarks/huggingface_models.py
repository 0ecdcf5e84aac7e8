"""Small models of every family of `transformers` that shows its attention, with random weights."""

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
IMAGE, PATCHES = VOCABULARY - 1, 4
"""The token of a patch of an image, and how many an image has before a text."""
SIDE = 16
"""Pixels of an image's side."""
SPREAD = 0.4
"""Standard deviation of the weights: rows far from uniform, beams that change places."""
Shape = Literal["encoder-decoder", "speech", "vision", "encoder", "decoder", "prefix"]


class Family(NamedTuple):
    """An architecture."""

    name: str  # the beginning of its classes' names
    shape: Shape  # its stacks and inputs
    head: str  # the end of its model's name
    fields: dict[str, Any]  # of its configuration
    windowed: bool = False  # whether its encoder looks in windows or blocks: it is not shown
    layers: tuple[int, ...] | None = None  # with attention over tokens, from 0; all unless given
    streams: int = 1  # rows of cross-attention for each token
    static: bool = True  # whether its code masks the free places of a static cache
    recurrent: bool = False  # whether layers keep a state: a generation then differs from a pass

    def make(self) -> Any:
        """Make a model of random weights."""
        import transformers

        torch.manual_seed(len(self.name))
        if self.shape == "vision":
            encoder = transformers.DonutSwinConfig(**_SWIN)
            decoder = transformers.MBartConfig(**_IDS, **_TWO_STACKS, add_cross_attention=True)
            config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(
                encoder, decoder, **_IDS, decoder_start_token_id=START
            )
            return transformers.VisionEncoderDecoderModel(config).eval()
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
    inputs = _padded(ids, left=shape in ("decoder", "prefix"))
    if shape == "prefix":  # an image before each text, the whole of which is read at once
        for row, first in zip(inputs["input_ids"], inputs["attention_mask"].argmax(1), strict=True):
            row[first : first + PATCHES] = IMAGE
        types = torch.zeros_like(inputs["input_ids"])
        return {**inputs, "token_type_ids": types, "pixel_values": _images(random)}
    if shape in ("encoder", "decoder"):
        return inputs
    if shape == "speech":
        sound = torch.randn(len(LENGTHS), MELS, 2 * FRAMES, generator=random)
        inputs = {"input_features": sound}
    if shape == "vision":
        inputs = {"pixel_values": _images(random)}
    decoder = _padded(ids.flip(0), left=False)
    return {**inputs, **{f"decoder_{name}": value for name, value in decoder.items()}}


def _images(random: torch.Generator) -> torch.Tensor:
    return torch.randn(len(LENGTHS), 3, SIDE, SIDE, generator=random)


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
_SWIN = {
    "image_size": SIDE,
    "patch_size": 2,
    "embed_dim": 16,
    "depths": [1, 1],
    "num_heads": [2, 4],
    "window_size": 4,
    "attn_implementation": "eager",
}
_WINDOW = {"attention_window": max(LENGTHS) - 1}
"""As many offsets as the longest sentence has tokens."""
_LED = {
    **{name: value for name, value in _TWO_STACKS.items() if name != "max_position_embeddings"},
    "max_encoder_position_embeddings": ROOM,
    "max_decoder_position_embeddings": ROOM,
    **_WINDOW,
}
_PROPHETNET = {
    "hidden_size": D_MODEL,
    **{f"{stack}_ffn_dim": 64 for stack in ("encoder", "decoder")},
    **{f"num_{stack}_layers": LAYERS for stack in ("encoder", "decoder")},
    **{f"num_{stack}_attention_heads": HEADS for stack in ("encoder", "decoder")},
    "max_position_embeddings": ROOM,
    "ngram": 2,
    "num_buckets": 8,
    "relative_max_distance": 16,
    "init_std": SPREAD,
    "decoder_start_token_id": START,
}
_FUNNEL = {
    "block_sizes": [2, 2],
    "d_model": D_MODEL,
    "n_head": HEADS,
    "d_head": 8,
    "d_inner": 64,
    "num_decoder_layers": 1,
    "initializer_std": SPREAD,
}
_HYBRID = {
    **_ENCODER,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.1,
}
_MAMBA2 = {"mamba_d_state": 8, "mamba_expand": 2}
_EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1}
_LINEAR = {f"linear_{name}": 8 for name in ("key_head_dim", "value_head_dim")}
_HYBRIDS: dict[str, dict[str, Any]] = {
    "Jamba": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "use_mamba_kernels": False,
        **_EXPERTS,
    },
    "Qwen3Next": {
        "layer_types": ["linear_attention", "full_attention"] * 2,
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "moe_intermediate_size": 32,
        "shared_expert_intermediate_size": 32,
        "head_dim": 8,
        **_LINEAR,
        **_EXPERTS,
    },
    "Lfm2": {"layer_types": ["conv", "full_attention"] * 2},
    "Bamba": {
        "attn_layer_indices": [1, 3],
        "mamba_n_heads": 8,
        "mamba_d_head": 8,
        "mamba_chunk_size": 8,
        **_MAMBA2,
    },
    "RecurrentGemma": {"block_types": ["recurrent", "attention"], "lru_width": D_MODEL},
    "Zamba2": {
        "layers_block_type": ["mamba", "hybrid"] * 2,
        "n_mamba_heads": 8,
        "mamba_headdim": 8,
        "mamba_ngroups": 1,
        "chunk_size": 8,
        "num_mem_blocks": 1,
        "use_mem_rope": True,
        **_MAMBA2,
    },
}
_TEXT = {"model_type": "gemma", "vocab_size": VOCABULARY, **_HYBRID, "head_dim": 8}
_SEEN = {
    **_ENCODER,
    "model_type": "siglip_vision_model",
    "image_size": SIDE,
    "patch_size": SIDE // 2,
    "projection_dim": D_MODEL,
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
    Family("Donut", "vision", "", {}, windowed=True),
    Family("LongT5", "encoder-decoder", _GENERATION, {**_T5, "local_radius": 2}, windowed=True),
    Family(
        "PegasusX",
        "encoder-decoder",
        _GENERATION,
        {**_TWO_STACKS, "block_size": 4, "num_global_tokens": 3},
        windowed=True,
    ),
    Family("LED", "encoder-decoder", _GENERATION, _LED, windowed=True, static=False),
    Family("ProphetNet", "encoder-decoder", _GENERATION, _PROPHETNET, streams=3, static=False),
    Family("Longformer", "encoder", "Model", {**_ENCODER, **_WINDOW}, windowed=True),
    Family("Funnel", "encoder", "Model", _FUNNEL, layers=(0, 1, 4)),
    *(
        Family(
            name,
            "decoder",
            "ForCausalLM",
            {**_HYBRID, **fields},
            layers=(1, 3),
            static=False,
            recurrent=name == "RecurrentGemma",
        )
        for name, fields in _HYBRIDS.items()
    ),
    Family(
        "PaliGemma",
        "prefix",
        _GENERATION,
        {
            "vision_config": _SEEN,
            "text_config": _TEXT,
            "image_token_index": IMAGE,
            "projection_dim": D_MODEL,
            "hidden_size": D_MODEL,
        },
    ),
)
