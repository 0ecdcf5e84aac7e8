"""MarianMT folders here and in `transformers`: random ones, and the export of our own model.

Random weights are the harder case: no head is sharp, so that no difference hides behind a zero.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.machine import describe
from benchmarks.marian_export import compare_export
from benchmarks.marian_folders import SHAPES, write_folder
from benchmarks.marian_pass import largest_differences
from transformer import InputError
from transformer.checkpoints import marian
from transformer.checkpoints.checkpoint import Checkpoint
from transformer.checkpoints.marian.tokenizer import MarianTokenizer
from transformer.cli.arguments import whole_number
from transformer.config import BOS, EOS, PAD, UNK
from transformer.decoding import Hypothesis, beam_search
from transformer.files.installed import ASSETS

BEAM_SIZE, LONGEST = 4, 20
_TIE = 1e-4
"""Log-probabilities of two translations, in nats, that float32 cannot tell apart."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks marian`."""
    parser = commands.add_parser("marian", help="MarianMT folders here and in transformers")
    parser.add_argument(
        "--inputs", type=whole_number(1), default=100, help="random inputs of each shape"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write a folder of each shape, read it by both libraries, and compare.

    Raises:
        InputError: if `transformers` is not installed.
    """
    try:
        import transformers
    except ImportError as error:
        raise InputError(
            "transformers is not installed: install the extra bench, pip install '.[bench]'."
        ) from error
    print(f"{describe()}, transformers {transformers.__version__}")
    print(compare_export())
    lines = (ASSETS / "examples.txt").read_text("utf-8").splitlines()
    with tempfile.TemporaryDirectory() as place:
        for name, shape in SHAPES.items():
            folder = write_folder(Path(place) / name, shape, lines)
            print(compare(folder, name, options.inputs))


@dataclass(frozen=True)
class Comparison:
    """One folder read by both libraries.

    Args:
        name: of its shape.
        inputs: how many were compared.
        largest: absolute difference of each kind of value.
        greedy: inputs with the same greedy translation.
        beam: inputs with the same translation by beam search at α = 0.
        cut: others, where theirs is more probable because the limit of length cut it off: here,
            translations that end come before those that do not.
        ties: others, whose two translations are as probable as each other.
        ours, theirs: others, where this library found the more probable one, and where not.
    """

    name: str
    inputs: int
    largest: Mapping[str, float]
    greedy: int
    beam: int
    cut: int
    ties: int
    ours: int
    theirs: int

    def __str__(self) -> str:
        values = ", ".join(f"{what} {value:.1e}" for what, value in self.largest.items())
        return (
            f"{self.name}: largest difference: {values}; of {self.inputs}: greedy equal "
            f"{self.greedy}, beam equal {self.beam} (else theirs without an end {self.cut}, "
            f"equally probable {self.ties}, ours more probable {self.ours}, theirs {self.theirs})"
        )


@torch.inference_mode()
def compare(folder: Path, name: str, inputs: int) -> Comparison:
    """Read a folder by both libraries and run random inputs through both."""
    from transformers import MarianMTModel

    ours = marian.load(folder)
    theirs = MarianMTModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    draw, largest, counts = random.Random(0), dict[str, float](), dict[str, int]()
    for _ in range(inputs):
        source, target = _random_input(ours, draw)
        for what, difference in _differences(ours, theirs, source, target).items():
            largest[what] = max(largest.get(what, 0), difference)
        counts["greedy"] = counts.get("greedy", 0) + (_verdict(ours, theirs, source, 1) == "equal")
        verdict = _verdict(ours, theirs, source, BEAM_SIZE)
        counts[verdict] = counts.get(verdict, 0) + 1
    verdicts = (
        counts.get(verdict, 0) for verdict in ("greedy", "equal", "cut", "tie", "ours", "theirs")
    )
    return Comparison(name, inputs, largest, *verdicts)


def _random_input(ours: Checkpoint, draw: random.Random) -> tuple[list[int], list[int]]:
    """Our ids of a source with its end, and of a translation."""
    config = ours.model.config
    sizes = config.source_vocab_size or config.vocab_size, config.vocab_size
    source, target = (
        [draw.randrange(4, size) for _ in range(draw.randint(3, 24))] for size in sizes
    )
    return [*source, EOS], target


def _numbers(tokenizer: Any) -> list[int]:
    """Marian's number of each of our ids; -1 for `<s>`."""
    assert isinstance(tokenizer, MarianTokenizer)
    vocabulary = tokenizer.vocabulary
    return [vocabulary.numbers.get(text, -1) for text in vocabulary.texts]


def _differences(
    ours: Checkpoint, theirs: Any, source: list[int], target: list[int]
) -> dict[str, float]:
    """The largest absolute difference of each kind of value in one teacher-forced pass."""
    of_source, of_target = _numbers(ours.tokenizer), _numbers(ours.target_tokenizer)
    start = theirs.config.decoder_start_token_id
    expected = theirs(
        input_ids=torch.tensor([[of_source[id_] for id_ in source]]),
        decoder_input_ids=torch.tensor([[start, *(of_target[id_] for id_ in target)]]),
        output_attentions=True,
    )
    known = [id_ for id_, number in enumerate(of_target) if number >= 0]
    pieces = known, [of_target[id_] for id_ in known]
    return largest_differences(ours.model, source, [BOS, *target], expected, pieces)


def _verdict(ours: Checkpoint, theirs: Any, source: list[int], beam_size: int) -> str:
    """Whose translation is more probable: "equal" where it is one and the same."""
    numbers = _numbers(ours.target_tokenizer)
    best = beam_search(
        ours.model, torch.tensor([source]), beam_size=beam_size, alpha=0, max_length=LONGEST
    )[0][0]
    found = theirs.generate(
        torch.tensor([[_numbers(ours.tokenizer)[id_] for id_ in source]]),
        num_beams=beam_size,
        do_sample=False,
        length_penalty=0.0,
        early_stopping=True,  # at K hypotheses, as ours; by default it looks on for better ones
        max_new_tokens=LONGEST,
        bad_words_ids=[[numbers[PAD]], [numbers[UNK]]],
        forced_eos_token_id=None,
    )[0].tolist()[1:]
    # behind its end theirs is filled up with <pad>
    end = found.index(numbers[EOS]) + 1 if numbers[EOS] in found else len(found)
    theirs_ids = [numbers.index(number) for number in found[:end]]
    if theirs_ids == list(best.tokens):
        return "equal"
    if best.complete and EOS not in theirs_ids:
        return "cut"
    difference = best.log_prob - _log_prob(ours, source, theirs_ids)
    if abs(difference) < _TIE:
        return "tie"
    return "ours" if difference > 0 else "theirs"


def _log_prob(ours: Checkpoint, source: list[int], written: list[int]) -> float:
    logits = ours.model(torch.tensor([source]), torch.tensor([[BOS, *written[:-1]]]))[0]
    log_p = logits.log_softmax(-1)[range(len(written)), written]
    return Hypothesis(tuple(written), tuple(log_p.tolist()), 0.0).log_prob
