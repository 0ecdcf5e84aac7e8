"""A MarianMT model of 74 M parameters, from its folder to a translation with all its maps."""

from __future__ import annotations

import argparse
import io
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import safetensors.torch
import sentencepiece
import torch

from benchmarks.app import ALL_MAPS, MOST, sentences
from benchmarks.browser import chromium
from benchmarks.machine import describe, spread
from benchmarks.server import served
from transformer import InputError, Translator
from transformer.cli.arguments import whole_number
from transformer.files.installed import ASSETS
from viz.app.models.menu import BUNDLED_NAME, MEMORY_VARIABLE, MODELS_VARIABLE
from viz.app.models.model_cache import size_of_model
from viz.draw.labels import display_tokens

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


NAME = "opus-mt-74M"
SHAPE = {
    "d_model": 512,
    "layers": 6,
    "ffn_dim": 2048,
    "attention_heads": 8,
    "more_pieces": 57_400,
    "model_type": "bpe",
    # random weights write until they must stop; trained ones write about as much as they read
    "max_position_embeddings": 30,
}


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks models`."""
    parser = commands.add_parser("models", help="a model of 74 M, from its folder to all its maps")
    parser.add_argument(
        "--turns", type=whole_number(1, MOST - 1), default=7, help="how often each is measured"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the folder, then open it by the library and by the menu of the app.

    Raises:
        InputError: if `transformers` is not installed.
        NoBrowser: if no Chromium is.
    """
    require_transformers()
    print(describe())
    with tempfile.TemporaryDirectory() as place:
        texts = sentences(options.turns + 1)
        lines = (ASSETS / "examples.txt").read_text("utf-8").splitlines()
        folder = write_folder(Path(place) / NAME, SHAPE, [*lines, *sentences(MOST) * 5])
        _print_library(folder, texts)
        _print_app(folder, texts)


def require_transformers() -> str:
    """Return the version of transformers.

    Raises:
        InputError: if it is not installed.
    """
    try:
        import transformers
    except ImportError as error:
        raise InputError(
            "transformers is not installed: install the extra bench, pip install '.[bench]'."
        ) from error
    transformers.logging.set_verbosity_error()
    return transformers.__version__


def _print_library(folder: Path, texts: list[str]) -> None:
    torch.set_num_threads(1)  # as the app serves
    spent: list[tuple[float, float, float]] = []
    for text in texts:
        times = [time.perf_counter()]
        translator = Translator.load(folder)
        times.append(time.perf_counter())
        translation = translator.translate(text, tree=True)
        times.append(time.perf_counter())
        trace = translator.trace_of(translation)
        times.append(time.perf_counter())
        spent.append((times[1] - times[0], times[2] - times[1], times[3] - times[2]))
    rows, columns = trace.cross.shape[2:]
    print(
        f"{translator.model.number_of_parameters():,} parameters, about "
        f"{size_of_model(translator) / 2**20:.0f} MiB in memory; {len(text.split())} words, "
        f"{columns} pieces read and {rows} written"
    )
    # the first turn warms up what a server has warm
    for what, seconds in zip(
        ("load", "translate, beam 4", "maps of all heads"),
        zip(*spent[1:], strict=True),
        strict=True,
    ):
        print(f"  {what}: {spread(seconds)}")
    print(f"  together: {spread([sum(each) for each in spent[1:]])}")


def _print_app(folder: Path, texts: list[str]) -> None:
    """From the click in the menu until the maps of all heads are drawn."""
    os.environ[MODELS_VARIABLE] = str(folder.parent)
    os.environ[MEMORY_VARIABLE] = "1"  # so that each turn loads it anew
    translator = Translator.load(folder)
    seconds = []
    with chromium() as browser, served() as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        for text in texts:
            page.goto(f"{server.address}/heads?{urlencode({'text': text, 'model': BUNDLED_NAME})}")
            page.get_by_role("gridcell").first.wait_for()
            page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
            page.get_by_role("combobox", name="Model").click()
            option = page.get_by_role("option", name=NAME)
            queries = "|".join(display_tokens(translator.trace(text).target_tokens))
            started = time.perf_counter()
            option.click()
            page.wait_for_function(ALL_MAPS, arg=queries, polling="raf")
            seconds.append(time.perf_counter() - started)
    print(f"a click in the menu to the maps of all heads on screen: {spread(seconds[1:])}")
