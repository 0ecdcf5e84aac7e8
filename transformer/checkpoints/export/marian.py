"""The Hugging Face layout of MarianMT, from which `transformers` and others read what is here.

`config.json` · `generation_config.json` · `model.safetensors` · `vocab.json` · `source.spm` ·
`target.spm` · `tokenizer_config.json` · `EXPORT.json` (see `manifest`).

Pieces keep our ids. Marian's decoder starts with a piece that its configuration names: here `<s>`.
"""

import json
from pathlib import Path
from typing import Any

import safetensors.torch

from transformer import decoding, errors
from transformer.checkpoints import checkpoint as checkpoints
from transformer.checkpoints import marian
from transformer.checkpoints.checkpoint import CONFIG, WEIGHTS, Checkpoint
from transformer.checkpoints.export import manifest
from transformer.checkpoints.marian.weights import marian_weights
from transformer.config import BOS, EOS, PAD, UNK, TransformerConfig
from transformer.text.languages import Languages, code_of_name

ENGINE = "marian"
GENERATION, TOKENIZER_CONFIG = "generation_config.json", "tokenizer_config.json"
VOCABULARY, SPM = "vocab.json", ("source.spm", "target.spm")


def load_to_export(folder: Path) -> Checkpoint:
    """Read a Headlight checkpoint that has the form of a MarianMT model."""
    if marian.is_marian(folder):
        raise errors.CheckpointError(f"{folder} is a MarianMT folder already: take it as it is.")
    loaded = checkpoints.load(folder)
    _refuse_what_differs(loaded)
    return loaded


def write(checkpoint: Checkpoint, folder: Path) -> None:
    """Write a MarianMT folder; an export that is there already is replaced atomically."""
    _refuse_what_differs(checkpoint)
    config, tokenizer = checkpoint.model.config, checkpoint.tokenizer
    with manifest.new_export(folder, checkpoint, ENGINE) as new:
        weights = dict(marian_weights(checkpoint.model))
        # without the format `transformers` takes the file for none of PyTorch's
        (new / WEIGHTS).write_bytes(safetensors.torch.save(weights, {"format": "pt"}))
        for name in SPM:
            (new / name).write_bytes(tokenizer.model)
        pieces = tokenizer.pieces_of(range(tokenizer.vocab_size))
        for name, values in (
            (CONFIG, _config(config)),
            (GENERATION, _generation(config)),
            (VOCABULARY, {piece.text: piece.id for piece in pieces}),
            (TOKENIZER_CONFIG, _tokenizer_config(config, checkpoint.languages)),
        ):
            content = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
            (new / name).write_text(content, "utf-8")


def _refuse_what_differs(checkpoint: Checkpoint) -> None:
    config = checkpoint.model.config
    if config.positions != "sinusoidal":
        raise errors.CheckpointError(
            f"{checkpoint.folder} holds a model with {config.positions} positions, but a MarianMT "
            f"model computes its positions by the formula: export a model with sinusoidal ones."
        )
    if not config.d_k == config.d_v == config.d_model / config.h:
        raise errors.CheckpointError(
            f"{checkpoint.folder} holds a model with d_k = {config.d_k} and d_v = {config.d_v}, "
            f"but in a MarianMT model both are d_model / h = {config.d_model / config.h:g}: export "
            f"a model with such heads."
        )


def _config(config: TransformerConfig) -> dict[str, Any]:
    both = {
        "layers": config.N,
        "ffn_dim": config.d_ff,
        "attention_heads": config.h,
        "layerdrop": 0.0,
    }
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "is_encoder_decoder": True,
        "vocab_size": config.vocab_size,
        "decoder_vocab_size": config.vocab_size,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
        "d_model": config.d_model,
        **{
            f"{stack}_{name}": value
            for stack in ("encoder", "decoder")
            for name, value in both.items()
        },
        "activation_function": config.activation,
        "max_position_embeddings": config.max_length,
        "static_position_embeddings": True,
        "scale_embedding": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "dropout": config.P_drop,
        # §5.4 has dropout on sub-layers and embeddings alone
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        **_special_ids(),
    }


def _generation(config: TransformerConfig) -> dict[str, Any]:
    """Return our search settings; |Y|^(3/4 α) has the slope of our penalty at |Y| = 15."""
    return {
        "num_beams": decoding.BEAM_SIZE,
        "length_penalty": 0.75 * decoding.ALPHA,
        "early_stopping": True,
        "max_length": config.max_length,
        "bad_words_ids": [[PAD], [UNK], [BOS]],
        **_special_ids(),
    }


def _special_ids() -> dict[str, int | None]:
    return {
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,  # else a translation that is cut off would seem complete
    }


def _tokenizer_config(config: TransformerConfig, languages: Languages) -> dict[str, Any]:
    return {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": code_of_name(languages.source),
        "target_lang": code_of_name(languages.target),
        "separate_vocabs": False,
        "model_max_length": config.max_length,
        "clean_up_tokenization_spaces": False,  # would change what is written
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
    }
