"""headlight evaluate bleu: translate a held-out text, and compare with its references."""

import argparse
import json
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sacrebleu
from tqdm import tqdm

from training import bleu_tokens, devices, validation
from training.data import corpus, encoded_text
from training.evaluation.measurement import add_paths, read_held_out, target_language
from transformer import Translator
from transformer.analysis import stored
from transformer.cli import command
from transformer.cli.arguments import number, whole_number
from transformer.decoding import ALPHA, BEAM_SIZE, beam_search, settings
from transformer.text import languages

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
    lowered = "also print the BLEU of papers on Multi30k: lower-cased, Moses tokens"
    add("--multi30k", action="store_true", help=lowered)
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
    result: Result = {
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
    if options.multi30k:
        result["multi30k_bleu"], result["multi30k_signature"] = multi30k_bleu(
            translations, text.target, languages.code_of_name(language) or "en", further
        )
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
    return "\n".join(lines)


def moses_tokens(lines: Sequence[str], language: str = "de") -> list[str]:
    """Lower-case each line and split it into tokens, as in Multi30k's own `lc.norm.tok` files."""
    # needed for this alone
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer, tokenizer = MosesPunctNormalizer(lang=language), MosesTokenizer(lang=language)
    return [
        str(tokenizer.tokenize(normalizer.normalize(line.lower()), return_str=True))
        for line in lines
    ]


def multi30k_bleu(
    translations: Sequence[str],
    references: Sequence[str],
    language: str = "de",
    further: Sequence[Sequence[str]] = (),
) -> tuple[float, str]:
    """Compute BLEU, and its signature, on lower-cased Moses tokens, as papers on Multi30k do."""
    # force: sacreBLEU would warn that the text is tokenised, which it is meant to be
    bleu = sacrebleu.BLEU(lowercase=True, tokenize="none", force=True)
    texts = [moses_tokens(text, language) for text in (translations, references, *further)]
    value = bleu.corpus_score(texts[0], texts[1:]).score
    tokens = f"tok:moses-{language}-sacremoses-{version('sacremoses')}"
    return value, str(bleu.get_signature()).replace("tok:none", tokens)
