"""headlight export marian: write a checkpoint in Hugging Face's layout of MarianMT.

`config.json` · `generation_config.json` · `model.safetensors` · `vocab.json` · `source.spm` ·
`target.spm` · `tokenizer_config.json` · `EXPORT.json` (format version, the checkpoint's checksum,
its configuration, SHA-256 of each file).

Pieces keep our ids. Marian's decoder starts with a piece that its configuration names: here `<s>`.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors.torch

from transformer import decoding, errors
from transformer.checkpoints import checkpoint as checkpoints
from transformer.checkpoints import marian
from transformer.checkpoints.checkpoint import CONFIG, WEIGHTS, Checkpoint
from transformer.checkpoints.marian.weights import marian_weights
from transformer.cli import arguments, command
from transformer.config import BOS, EOS, LATER, PAD, UNK, TransformerConfig
from transformer.files import atomic, installed, reading
from transformer.files.documents import parse_json
from transformer.text.languages import Languages, code_of_name

FORMAT, ENGINE = 1, "marian"
EXPORT, GENERATION, TOKENIZER_CONFIG = (
    "EXPORT.json",
    "generation_config.json",
    "tokenizer_config.json",
)
VOCABULARY, SPM = "vocab.json", ("source.spm", "target.spm")
MAX_MODEL_BYTES = 8 * reading.GIB
EPILOG = (
    "Use the folder with MarianMTModel.from_pretrained and MarianTokenizer.from_pretrained of "
    "transformers, or with headlight translate --checkpoint DIR."
)


def _run(options: argparse.Namespace) -> None:
    folder = installed.checkpoint_folder(options.checkpoint)
    if marian.is_marian(folder):
        raise errors.CheckpointError(f"{folder} is a MarianMT folder already: take it as it is.")
    write(checkpoints.load(folder), options.out)
    print(f"{options.out}: {(options.out / WEIGHTS).stat().st_size / 2**20:.1f} MiB, float32.")


def _parser() -> arguments.Parser:
    parser = arguments.Parser(
        prog="headlight export", description=__doc__.partition("\n")[0], epilog=EPILOG
    )
    parser.add_argument("engine", choices=[ENGINE], help="Hugging Face's layout of MarianMT")
    model = "checkpoint folder; default: the bundled checkpoint"
    parser.add_argument("--checkpoint", type=Path, default=installed.BUNDLED, help=model)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    return parser


def write(checkpoint: Checkpoint, folder: Path) -> None:
    """Write a MarianMT folder; an export that is there already is replaced atomically."""
    _refuse_what_differs(checkpoint)
    config, tokenizer = checkpoint.model.config, checkpoint.tokenizer
    with _new_export(folder, checkpoint) as new:
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


@contextmanager
def _new_export(folder: Path, checkpoint: Checkpoint) -> Iterator[Path]:
    """Yield a temporary folder that becomes, with its manifest, the export; a context manager."""
    kind = atomic.FolderKind("an export for marian", _checksums)
    with errors.writing(folder), atomic.replace_folder(folder, kind) as new:
        yield new
        names = sorted(path.name for path in new.iterdir())
        manifest = {
            "format": FORMAT,
            "engine": ENGINE,
            "checkpoint": checkpoint.checksum,
            "model": checkpoint.model.config.to_dict(),
            **checkpoint.languages.record(),
            "sha256": {name: reading.sha256_of(new / name, MAX_MODEL_BYTES) for name in names},
        }
        (new / EXPORT).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def _checksums(folder: Path) -> dict[str, str | None]:
    """Read what an export has; empty if it is another, or of another version."""
    manifest = parse_json(reading.read_bytes(folder / EXPORT, reading.MIB))
    if (manifest["format"], manifest["engine"]) != (FORMAT, ENGINE):
        return {}
    return {**{name: str(checksum) for name, checksum in manifest["sha256"].items()}, EXPORT: None}


def _refuse_what_differs(checkpoint: Checkpoint) -> None:
    config = checkpoint.model.config
    if further := sorted(config.to_dict().keys() & LATER.keys()):
        raise errors.CheckpointError(
            f"{checkpoint.folder} holds a model with {further[0]} = "
            f"{getattr(config, further[0])}, which no export carries: take it as it is."
        )
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


main = command.main(_parser, _run)

if __name__ == "__main__":
    sys.exit(main())
