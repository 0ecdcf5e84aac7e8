"""headlight evaluate bleu: translate a held-out text, and compare with its references."""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from training import bleu_tokens, devices, validation
from training.data import corpus, encoded_text
from training.evaluation.measurement import add_paths, read_held_out, target_language
from transformer import Translator
from transformer.analysis import stored
from transformer.cli import command
from transformer.cli.arguments import number, whole_number
from transformer.decoding import ALPHA, BEAM_SIZE, beam_search, settings

CPU_TOKENS, GPU_TOKENS = 2_000, 16_000  # padded source pieces that are searched at one time

Result = dict[str, float | int | str]


def add_arguments(commands: Any) -> None:
    """Register `headlight evaluate bleu`."""
    parser = commands.add_parser("bleu", help="sacreBLEU (cased), chrF, loss, perplexity")
    parser.set_defaults(run=run)
    add_paths(parser, src="source text, one sentence per line")
    add = parser.add_argument
    several = "reference translation, line by line; several for BLEU and chrF, of which the first "
    several += "gives loss and perplexity"
    add("--ref", type=Path, nargs="+", action="extend", required=True, help=several)
    beam = whole_number(1, settings.MAX_BEAM_SIZE)
    add("--beam", type=beam, default=BEAM_SIZE, help="beam size; 1 is greedy")
    penalty = f"length penalty, from 0 to {settings.MAX_ALPHA}"
    add("--alpha", type=number(0, settings.MAX_ALPHA), default=ALPHA, help=penalty)
    cut = "tokenizer of BLEU, as sacreBLEU names it; default: by target language (zh, ja-mecab or "
    cut += "ko-mecab, characters for text without spaces, otherwise 13a)"
    add("--tokenize", choices=bleu_tokens.NAMES, help=cut)
    add("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    result = bleu(options)
    print(json.dumps(result) if options.json else _as_text(result))


def bleu(options: argparse.Namespace) -> Result:
    """Translate a file and compare it with its reference, on a GPU or on all cores, in float32."""
    src, ref, beam_size, alpha = options.src, options.ref, options.beam, options.alpha
    if options.tokenize:
        bleu_tokens.require_tokens(options.tokenize)
    text = read_held_out(src, ref[0])
    further = [read_held_out(src, other).target for other in ref[1:]]
    translator = Translator.load(options.checkpoint)
    language = target_language(translator.languages, text.source)
    tokens, reason = bleu_tokens.tokens_of(language)
    if reason and not options.tokenize:
        command.say(reason)
    model = translator.model.to(devices.inference_device())
    max_pieces = model.config.max_length - 1  # </s> takes one position
    encoded = encoded_text.encode(
        text,
        translator.tokenizer,
        model.config.max_length,
        target_tokenizer=translator.target_tokenizer,
    )
    if encoded.left_out:
        raise corpus.CorpusError(
            f"{encoded.left_out} pairs of {src} and {ref[0]} have no visible character or more "
            f"than {max_pieces:,} pieces: remove them."
        )
    loss = validation.mean_loss(model, encoded)
    translator.require_finite([loss])
    started = time.perf_counter()
    translations = validation.translate_all(
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
    measured = validation.score(translations, text.target, options.tokenize or tokens, further)
    return {
        "checkpoint": str(translator.folder),
        "weights": stored.checksum_of_weights(translator.folder),
        "src": str(src),
        "ref": ", ".join(map(str, ref)),
        "bleu": measured.bleu,
        "signature": measured.signature,
        "chrf": measured.chrf,
        "loss": loss,
        "perplexity": validation.perplexity(loss),
        "beam": beam_size,
        "alpha": alpha,
        "sentences": len(text),
        "seconds": seconds,
    }


def _as_text(result: Result) -> str:
    return (
        f"BLEU {result['bleu']:.2f}  chrF {result['chrf']:.2f}  loss {result['loss']:.3f}  "
        f"perplexity {result['perplexity']:.2f}  "
        f"{result['sentences']:,} sentences in {result['seconds']:.0f} s\n"
        f"{result['signature']}|beam:{result['beam']}|alpha:{result['alpha']:g}"
    )
