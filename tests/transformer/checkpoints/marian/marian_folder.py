"""MarianMT folders with random weights, written as the hub has them, without `transformers`."""

import io
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import safetensors.torch
import sentencepiece
import torch
from torch import Tensor

CODES = (">>fra<<", ">>deu<<")
SOURCE = (
    "The old cat sleeps under the table.",
    "My brother sees a black dog in the garden.",
    "Two children play football because the sun is shining.",
    "The woman with the red coat reads a newspaper on the bench.",
    "A man who lost his keys waits in front of the house!",
)
TARGET = (
    "Le vieux chat dort sous la table.",
    "Mon frère voit un chien noir dans le jardin.",
    "Deux enfants jouent au football parce que le soleil brille.",
    "La femme au manteau rouge lit un journal sur le banc.",
    "Un homme qui a perdu ses clés attend devant la maison!",
)


def write(
    folder: Path,
    *,
    d_model: int = 16,
    h: int = 2,
    layers: int = 2,
    d_ff: int = 24,
    decoder: tuple[int, int, int] | None = None,
    activation: str = "swish",
    separate: bool = False,
    codes: Sequence[str] = (),
    languages: tuple[str, str] = ("eng", "fra"),
    more_pieces: int = 0,
    dtype: torch.dtype = torch.float32,
    positions: str = "",
    start: str = "",
    pickled: bool = False,
    max_length: int = 64,
    scaled: bool = True,
    spare_rows: int = 0,
    seed: int = 0,
) -> Path:
    """Write a folder that `transformers.MarianMTModel` reads, too.

    `separate` gives each language a vocabulary, `codes` are pieces that ask for a target language,
    `positions` are "" (none), "formula" or "learned". `start` is the decoder's first piece of a
    model that also has `<s>`; "" is `<pad>`. `more_pieces`, in no text, enlarge the vocabulary; no
    token has the `spare_rows` of the embedding.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source, target = spm(SOURCE), spm(TARGET)
    source_pieces, target_pieces = pieces(source), pieces(target)
    more = [f"▁no{number}" for number in range(more_pieces)]
    if separate:
        # one number for both, since the configuration has one
        vocabulary = _numbers(["<pad>", *codes, *source_pieces])
        decoder_vocabulary = _numbers(["<pad>", *target_pieces])
    else:
        vocabulary = decoder_vocabulary = _numbers([*codes, *source_pieces, *target_pieces, *more])
    if start:
        decoder_vocabulary.setdefault("<s>", len(decoder_vocabulary))
    sizes = {"encoder": (layers, h, d_ff), "decoder": decoder or (layers, h, d_ff)}
    config = {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "vocab_size": len(vocabulary) + spare_rows,
        "decoder_vocab_size": len(decoder_vocabulary) + spare_rows,
        "d_model": d_model,
        **{
            f"{stack}_{name}": size
            for stack, own in sizes.items()
            for name, size in zip(("layers", "attention_heads", "ffn_dim"), own, strict=True)
        },
        "activation_function": activation,
        "max_position_embeddings": max_length,
        "dropout": 0.1,
        "scale_embedding": scaled,
        "share_encoder_decoder_embeddings": not separate,
        "pad_token_id": decoder_vocabulary["<pad>"],
        "decoder_start_token_id": decoder_vocabulary[start or "<pad>"],
        "eos_token_id": 0,
        "tie_word_embeddings": True,
        "static_position_embeddings": True,
    }
    _write_json(folder / "config.json", config)
    _write_json(folder / "vocab.json", vocabulary)
    if separate:
        _write_json(folder / "target_vocab.json", decoder_vocabulary)
    source_lang, target_lang = languages
    named: dict[str, Any] = {
        "source_lang": source_lang, "target_lang": target_lang, "separate_vocabs": separate,
    }  # fmt: skip
    _write_json(folder / "tokenizer_config.json", named)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    stored = {name: tensor.to(dtype) for name, tensor in weights(config, positions, seed).items()}
    if pickled:
        torch.save(stored, folder / "pytorch_model.bin")
    else:
        safetensors.torch.save_file(stored, folder / "model.safetensors", {"format": "pt"})
    return folder


def weights(config: dict[str, Any], positions: str, seed: int) -> dict[str, Tensor]:
    """Random weights by Marian's names, of a size that keeps the softmax away from 0 and 1."""
    draw, d = torch.Generator().manual_seed(seed), config["d_model"]
    separate = not config["share_encoder_decoder_embeddings"]

    def normal(*shape: int, std: float) -> Tensor:
        return torch.randn(*shape, generator=draw) * std

    tensors: dict[str, Tensor] = {}
    rows = config["decoder_vocab_size" if separate else "vocab_size"]
    table = normal(rows, d, std=d**-0.5)
    if separate:
        tensors["model.encoder.embed_tokens.weight"] = normal(config["vocab_size"], d, std=d**-0.5)
        tensors["model.decoder.embed_tokens.weight"] = table
    else:
        tensors["model.shared.weight"] = table
    tensors["final_logits_bias"] = normal(1, rows, std=0.5)
    for stack, attentions in (
        ("encoder", ("self_attn",)),
        ("decoder", ("self_attn", "encoder_attn")),
    ):
        if positions:
            position_table = sinusoids(config["max_position_embeddings"], d)
            if positions == "learned":
                position_table = position_table.flip(0) + normal(*position_table.shape, std=0.1)
            tensors[f"model.{stack}.embed_positions.weight"] = position_table
        d_ff = config[f"{stack}_ffn_dim"]
        for layer in range(config[f"{stack}_layers"]):
            name = f"model.{stack}.layers.{layer}"
            shapes = {"fc1": (d_ff, d), "fc2": (d, d_ff)}
            for attention in attentions:
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    shapes[f"{attention}.{part}"] = (d, d)
            for part, (out, into) in shapes.items():
                tensors[f"{name}.{part}.weight"] = normal(out, into, std=1.5 * into**-0.5)
                tensors[f"{name}.{part}.bias"] = normal(out, std=0.3)
            for norm in (*(f"{block}_layer_norm" for block in attentions), "final_layer_norm"):
                tensors[f"{name}.{norm}.weight"] = 1 + normal(d, std=0.2)
                tensors[f"{name}.{norm}.bias"] = normal(d, std=0.2)
    return tensors


def sinusoids(length: int, d_model: int) -> Tensor:
    """Marian's positions: sines in the first half, cosines in the second."""
    at = torch.arange(length, dtype=torch.float64)[:, None]
    angle = at / 10_000 ** (torch.arange(d_model // 2, dtype=torch.float64) * 2 / d_model)
    return torch.cat((angle.sin(), angle.cos()), 1).float()


@cache
def spm(lines: Sequence[str]) -> bytes:
    """A SentencePiece model of these lines."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type="unigram",
        vocab_size=120,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return written.getvalue()


def spm_of(lines: Sequence[str]) -> sentencepiece.SentencePieceProcessor:
    """Return the processor that cuts such lines."""
    return sentencepiece.SentencePieceProcessor(model_proto=spm(lines))


def pieces(model: bytes) -> list[str]:
    """The pieces of a SentencePiece model."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.IdToPiece(number) for number in range(processor.GetPieceSize())]


def _numbers(texts: Sequence[str]) -> dict[str, int]:
    """`</s>` and `<unk>` first, `<pad>` last, as Marian has them, unless it is among the texts."""
    special = ("<s>", "</s>", "<unk>")
    ordered = dict.fromkeys(
        ("</s>", "<unk>", *(text for text in texts if text not in special), "<pad>")
    )
    return {piece: number for number, piece in enumerate(ordered)}


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values))
