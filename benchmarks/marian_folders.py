"""MarianMT folders of several shapes with random weights, as `transformers` writes them."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import safetensors.torch
import sentencepiece
import torch

SHAPES: dict[str, dict[str, Any]] = {
    "d_model 64, swish": {"d_model": 64, "layers": 2, "ffn_dim": 96, "attention_heads": 4},
    "d_model 64, gelu, stored positions": {
        "d_model": 64, "layers": 1, "ffn_dim": 96, "attention_heads": 2,
        "activation_function": "gelu", "store_positions": True,
    },
    "d_model 128, relu, separate vocabularies": {
        "d_model": 128, "layers": 3, "ffn_dim": 256, "attention_heads": 8,
        "activation_function": "relu", "share_encoder_decoder_embeddings": False,
    },
    "d_model 256, half precision, stored positions": {
        "d_model": 256, "layers": 3, "ffn_dim": 512, "attention_heads": 8,
        "dtype": torch.float16, "store_positions": True,
    },
    "d_model 512, 6 + 6 layers": {
        "d_model": 512, "layers": 6, "ffn_dim": 2048, "attention_heads": 8,
    },
}  # fmt: skip


def write_folder(folder: Path, shape: Mapping[str, Any], lines: Sequence[str]) -> Path:
    """Write one folder; its vocabularies are learnt from the lines, and from them backwards."""
    from transformers import MarianConfig, MarianMTModel

    folder.mkdir()
    fields = {
        "activation_function": "swish",
        "share_encoder_decoder_embeddings": True,
        "store_positions": False,
        "dtype": torch.float32,
        "more_pieces": 0,
        "model_type": "unigram",  # of SentencePiece
        "max_position_embeddings": 128,
        **shape,
    }
    store_positions, dtype = fields.pop("store_positions"), fields.pop("dtype")
    more = [f"▁no{number}" for number in range(fields.pop("more_pieces"))]
    for part in ("layers", "ffn_dim", "attention_heads"):
        fields[f"encoder_{part}"] = fields[f"decoder_{part}"] = fields.pop(part)
    models = [
        _spm(text, size, fields["model_type"])
        for text, size in ((lines, 300), ([line[::-1] for line in lines], 280))
    ]
    del fields["model_type"]
    separate = not fields["share_encoder_decoder_embeddings"]
    source, target = _write_vocabularies(folder, models, more, separate=separate)
    torch.manual_seed(len(folder.name))
    model = MarianMTModel(
        MarianConfig(
            vocab_size=source,
            decoder_vocab_size=target,
            pad_token_id=target - 1,
            decoder_start_token_id=target - 1,
            eos_token_id=0,
            forced_eos_token_id=None,
            scale_embedding=True,
            **fields,
        )
    )
    _randomise(model)
    model.to(dtype).save_pretrained(folder)
    if store_positions:
        path = folder / "model.safetensors"
        stored = safetensors.torch.load(path.read_bytes())
        for stack in ("encoder", "decoder"):
            name = f"model.{stack}.embed_positions.weight"
            stored[name] = model.state_dict()[name].contiguous()
        safetensors.torch.save_file(stored, path, metadata={"format": "pt"})
    return folder


@torch.no_grad()
def _randomise(model: Any) -> None:
    """Weights that leave neither biases nor norms as they begin, and sentences that end."""
    for name, parameter in model.named_parameters():
        if "embed_positions" in name:
            continue
        if parameter.dim() > 1:
            parameter.normal_(std=parameter.size(-1) ** -0.5)
        elif "norm" in name and name.endswith("weight"):
            parameter.normal_(1, 0.2)
        else:
            parameter.normal_(0, 0.2)
    model.final_logits_bias.normal_(0, 0.5)
    model.final_logits_bias[0, 0] = 2.0
    model.tie_weights()


def _write_vocabularies(
    folder: Path, models: Sequence[bytes], more: Sequence[str], *, separate: bool
) -> tuple[int, int]:
    """Both `.spm` files and `vocab.json`; the sizes of the two vocabularies.

    Args:
        models: SentencePiece's, of source and target.
        more: pieces that no text has, to make a vocabulary as large as a real one.
    """
    source, target = models
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    first, second = _pieces(source), _pieces(target)
    if not separate:
        first = second = list(dict.fromkeys((">>fra<<", ">>deu<<", *first, *second, *more)))
    numbers = [_numbered(pieces) for pieces in (first, second)]
    for name, of in zip(("vocab.json", "target_vocab.json")[: 1 + separate], numbers, strict=False):
        (folder / name).write_text(json.dumps(of), "utf-8")
    return len(numbers[0]), len(numbers[1])


def _numbered(pieces: Sequence[str]) -> dict[str, int]:
    return {piece: n for n, piece in enumerate(("</s>", "<unk>", *pieces, "<pad>"))}


def _pieces(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    every = processor.IdToPiece(list(range(processor.GetPieceSize())))
    return [piece for piece in every if piece not in ("<s>", "</s>", "<unk>")]


def _spm(lines: Sequence[str], size: int, model_type: str) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type=model_type,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return written.getvalue()
