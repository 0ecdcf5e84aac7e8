"""python -m training.evaluate bleu: translate a held-out text, and compare with its references."""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from training.data.corpus import CorpusError, encode
from training.devices import inference_device
from training.evaluation.comet import Comet
from training.evaluation.held_out import read_held_out
from training.validation import mean_loss, perplexity, score, translate_all
from transformer import CheckpointError, Translator
from transformer.analysis.corpus.stored import checksum_of_weights
from transformer.cli.arguments import number, whole_number
from transformer.decoding import ALPHA, BEAM_SIZE, beam_search
from transformer.decoding.settings import MAX_ALPHA, MAX_BEAM_SIZE

CPU_TOKENS, GPU_TOKENS = 2_000, 16_000
"""Padded source pieces that are searched at one time."""

Result = dict[str, float | int | str]


def add_arguments(commands: Any) -> None:
    """Register `python -m training.evaluate bleu`."""
    parser = commands.add_parser("bleu", help="sacreBLEU (13a, cased), chrF, loss, perplexity")
    parser.set_defaults(run=run)
    parser.add_argument("--checkpoint", type=Path, help="the bundled one unless given")
    parser.add_argument(
        "--src", type=Path, required=True, help="what is translated, one sentence a line"
    )
    parser.add_argument(
        "--ref", type=Path, required=True, help="its translation by people, line by line"
    )
    parser.add_argument(
        "--beam",
        type=whole_number(1, MAX_BEAM_SIZE),
        default=BEAM_SIZE,
        help="beam size; 1 is greedy",
    )
    parser.add_argument(
        "--alpha",
        type=number(0, MAX_ALPHA),
        default=ALPHA,
        help=f"length penalty, from 0 to {MAX_ALPHA}",
    )
    parser.add_argument(
        "--multi30k",
        action="store_true",
        help="also the BLEU that papers on Multi30k report: lower-cased, Moses tokens",
    )
    parser.add_argument(
        "--comet",
        type=Path,
        metavar="MODEL",
        help="also COMET, by a checkpoint file of a model that you trust; needs unbabel-comet",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    result = bleu(
        options.checkpoint,
        options.src,
        options.ref,
        beam_size=options.beam,
        alpha=options.alpha,
        multi30k=options.multi30k,
        comet=options.comet,
    )
    print(json.dumps(result) if options.json else _as_text(result))


def bleu(
    folder: Path | None,
    src: Path,
    ref: Path,
    *,
    beam_size: int = BEAM_SIZE,
    alpha: float = ALPHA,
    multi30k: bool = False,
    comet: Path | None = None,
) -> Result:
    """Translate a file and compare it with its reference, on a GPU or on all cores, in float32.

    Args:
        folder: the checkpoint, the bundled one if None.
        src: what is translated, one sentence a line.
        ref: its translation by people, line by line.
        beam_size: of the search.
        alpha: of the length penalty.
        multi30k: also give the BLEU that papers on Multi30k report.
        comet: also give COMET, by this model.

    Raises:
        HeadlightError: one sentence on what is wrong.
    """
    metric = Comet(comet) if comet else None  # before the minutes that a search may take
    text = read_held_out(src, ref)
    translator = Translator.load(folder)
    model = translator.model.to(inference_device())
    max_pieces = model.config.max_length - 1  # </s> takes one position
    encoded = encode(
        text,
        translator.tokenizer,
        model.config.max_length,
        target_tokenizer=translator.target_tokenizer,
    )
    if encoded.left_out:
        raise CorpusError(
            f"{encoded.left_out} pairs of {src} and {ref} have no visible character or more than "
            f"{max_pieces:,} pieces: remove them."
        )
    loss = mean_loss(model, encoded)
    if not math.isfinite(loss):
        raise CheckpointError(
            f"The model of {translator.folder} computes numbers that are not finite: take another "
            f"checkpoint."
        )
    started = time.perf_counter()
    translations = translate_all(
        encoded.source,
        lambda batch: [
            hypotheses[0]
            for hypotheses in beam_search(model, batch, beam_size=beam_size, alpha=alpha)
        ],
        translator.target_tokenizer,
        model.device,
        GPU_TOKENS if model.device.type == "cuda" else CPU_TOKENS,
        progress=lambda batches: tqdm(batches, unit="batch", disable=None),
    )
    seconds = time.perf_counter() - started
    measured = score(translations, text.target)
    result: Result = {
        "checkpoint": str(translator.folder),
        "weights": checksum_of_weights(translator.folder),
        "src": str(src),
        "ref": str(ref),
        "bleu": measured.bleu,
        "signature": measured.signature,
        "chrf": measured.chrf,
        "loss": loss,
        "perplexity": perplexity(loss),
        "beam": beam_size,
        "alpha": alpha,
        "sentences": len(text),
        "seconds": seconds,
    }
    if multi30k:
        from training.evaluation.moses import multi30k_bleu  # sacremoses is needed for this alone

        result["multi30k_bleu"], result["multi30k_signature"] = multi30k_bleu(
            translations, text.target
        )
    if metric:
        result["comet"] = metric.score(text.source, translations, text.target)
        result["comet_model"] = str(comet)
    return result


def _as_text(result: Result) -> str:
    setting = f"|beam:{result['beam']}|alpha:{result['alpha']:g}"
    lines = [
        f"BLEU {result['bleu']:.2f}  chrF {result['chrf']:.2f}  loss {result['loss']:.3f}  "
        f"perplexity {result['perplexity']:.2f}  "
        f"{result['sentences']:,} sentences in {result['seconds']:.0f} s",
        f"{result['signature']}{setting}",
    ]
    if "multi30k_bleu" in result:
        lines += [
            f"BLEU {result['multi30k_bleu']:.2f}  lower-cased, Moses tokens",
            f"{result['multi30k_signature']}{setting}",
        ]
    if "comet" in result:
        lines.append(f"COMET {result['comet']:.4f}  by {result['comet_model']}")
    return "\n".join(lines)
