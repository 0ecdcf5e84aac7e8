"""python -m training.evaluate: how good a checkpoint is on a text it has not seen."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tqdm import tqdm

from training.corpus import CorpusError, ParallelText, encode, read_lines
from training.validation import mean_loss, perplexity, score, translate_all
from transformer import HeadlightError, Translator
from transformer.decoding import ALPHA, BEAM_SIZE, beam_search


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    try:
        result = bleu(options.checkpoint, options.src, options.ref, options.beam, options.alpha)
    except HeadlightError as error:
        print(f"training.evaluate: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(result))
    else:
        print(
            f"BLEU {result['bleu']:.2f}  chrF {result['chrf']:.2f}  "
            f"loss {result['loss']:.3f}  perplexity {result['perplexity']:.2f}  "
            f"{result['sentences']:,} sentences in {result['seconds']:.0f} s\n"
            f"{result['signature']}|beam:{options.beam}|alpha:{options.alpha}"
        )
    return 0


def bleu(
    folder: Path | None, src: Path, ref: Path, beam_size: int, alpha: float
) -> dict[str, float | int | str]:
    """Translate a file and compare it with its reference.

    Raises:
        HeadlightError: one sentence on what is wrong.
    """
    sources, references = read_lines(src), read_lines(ref)
    if len(sources) != len(references):
        raise CorpusError(
            f"{src} has {len(sources):,} lines and {ref} has {len(references):,}: "
            f"each line must stand beside its translation."
        )
    translator = Translator.load(folder)
    model, tokenizer = translator.model, translator.tokenizer
    most = model.config.max_length - 1
    encoded = encode(ParallelText(sources, references), tokenizer, most + 1)
    if encoded.left_out:
        raise CorpusError(
            f"{encoded.left_out} pairs of {src} and {ref} are empty or longer than {most} pieces: "
            f"take them out."
        )
    started = time.perf_counter()
    translations = translate_all(
        encoded.source,
        lambda batch: [
            found[0] for found in beam_search(model, batch, beam_size=beam_size, alpha=alpha)
        ],
        tokenizer,
        model.device,
        progress=lambda batches: tqdm(batches, unit="batch", disable=None),
    )
    seconds = time.perf_counter() - started
    result = score(translations, references)
    loss = mean_loss(model, encoded)
    return {
        "bleu": result.bleu,
        "chrf": result.chrf,
        "signature": result.signature,
        "loss": loss,
        "perplexity": perplexity(loss),
        "sentences": len(sources),
        "seconds": seconds,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="bleu")
    command = commands.add_parser("bleu", help="sacreBLEU (13a, cased), chrF, loss, perplexity")
    command.add_argument("--checkpoint", type=Path, help="the bundled one unless given")
    command.add_argument("--src", type=Path, required=True, help="English, one sentence a line")
    command.add_argument("--ref", type=Path, required=True, help="German, one sentence a line")
    command.add_argument("--beam", type=int, default=BEAM_SIZE)
    command.add_argument("--alpha", type=float, default=ALPHA, help="length penalty")
    command.add_argument("--json", action="store_true", help="one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
