"""MarianMT folders read here and in transformers."""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import machine
from benchmarks.huggingface import require_transformers
from tests.transformer.checkpoints.marian import marian_folder
from transformer import KINDS, Transformer, decoding, kinds
from transformer.checkpoints import checkpoint, marian
from transformer.checkpoints.marian import weights
from transformer.checkpoints.marian.tokenizer import MarianTokenizer
from transformer.cli import arguments
from transformer.config import BOS, EOS, PAD, UNK

SHAPES: dict[str, dict[str, Any]] = {
    "d_model 64, swish": {"d_model": 64, "layers": 2, "d_ff": 96, "h": 4},
    "d_model 64, gelu, stored positions": {
        "d_model": 64, "layers": 1, "d_ff": 96, "h": 2, "activation": "gelu",
        "positions": "formula",
    },
    "d_model 128, relu, separate vocabularies": {
        "d_model": 128, "layers": 3, "d_ff": 256, "h": 8, "activation": "relu", "separate": True,
    },
    "d_model 256, half precision, stored positions": {
        "d_model": 256, "layers": 3, "d_ff": 512, "h": 8, "dtype": torch.float16,
        "positions": "formula",
    },
    "d_model 512, 6 + 6 layers": {"d_model": 512, "layers": 6, "d_ff": 2048, "h": 8},
    "6 + 2 layers, 8 and 4 heads, unscaled, rows without a name": {
        "d_model": 64, "layers": 6, "d_ff": 96, "h": 8, "decoder": (2, 4, 64), "scaled": False,
        "spare_rows": 5,
    },
}  # fmt: skip
BEAM_SIZE, LONGEST = 4, 20
UNUSUAL = (
    "Mr. Baker lives at 12 Mill Lane.",
    "The lift is out of order again...",
    "“Nobody saw us,” she whispered.",
    "It's raining cats and dogs – take an umbrella.",
    "My cousin's café opens at 8:30 a.m. (not at 7)",
    "  Two   spaces   between   the   words  ",
    "The ½-price sale ends at ５ o'clock.",
    "GOOD MORNING EVERYBODY",
    "naïve, façade, Zoë, Dvořák",
    "We met in München near the Straße des 17. Juni.",
    "A 😀 for you, and 汉字 for me.",
    "email me: anna@example.org, x < y & y > z, so x | z",
    "One\u00a0two\u2009three spaces",
    "?",
)
"""Lines of which some have characters that the vocabulary has not."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks marian`."""
    parser = commands.add_parser("marian", help="MarianMT folders here and in transformers")
    parser.add_argument(
        "--inputs", type=arguments.whole_number(1), default=100, help="random inputs of each shape"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write a folder of each shape, read it by both libraries, and compare."""
    version = require_transformers()
    print(f"{machine.describe()}, transformers {version}")
    with tempfile.TemporaryDirectory() as place:
        for name, shape in SHAPES.items():
            folder = marian_folder.write(Path(place) / name, **shape)
            _compare(folder, name, options.inputs)
            if "positions" not in shape:  # which transformers does not store
                _save_again(folder)
                _compare(folder, f"{name}, saved by transformers", options.inputs)


def _save_again(folder: Path) -> None:
    """Let transformers write the weights and the configuration."""
    from transformers import MarianMTModel

    MarianMTModel.from_pretrained(folder, dtype="auto").save_pretrained(folder)


@torch.inference_mode()
def _compare(folder: Path, name: str, inputs: int) -> None:
    """Read a folder by both libraries and run random inputs through both."""
    from transformers import MarianMTModel, MarianTokenizer

    ours = marian.load(folder)
    theirs = MarianMTModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    source_numbers, target_numbers = _numbers(ours.tokenizer), _numbers(ours.target_tokenizer)
    both = [(id_, number) for id_, number in enumerate(target_numbers) if number >= 0]
    pieces = [id_ for id_, _ in both], [number for _, number in both]
    draw, largest, count = random.Random(0), dict[str, float](), Counter[str]()
    tokenizer = MarianTokenizer.from_pretrained(folder)
    source_side, target_side = ours.tokenizer, ours.target_tokenizer
    assert target_side is not None
    for line in UNUSUAL:
        read, given = source_side.encode(line), target_side.encode(line)
        numbers = [target_numbers[id_] for id_ in given]
        theirs_read, theirs_given = tokenizer(line), tokenizer(text_target=line)
        count["source"] += [source_numbers[id_] for id_ in (*read, EOS)] == theirs_read["input_ids"]
        count["target"] += [*numbers, target_numbers[EOS]] == theirs_given["input_ids"]
        text = tokenizer.decode(numbers, skip_special_tokens=True)
        known = [id_ for id_ in given if id_ != UNK]
        count["text"] += target_side.decode(known) == text
    for _ in range(inputs):
        source, target = _random_input(ours, draw)
        start = theirs.config.decoder_start_token_id
        expected = _forced(
            theirs,
            [source_numbers[id_] for id_ in source],
            [start, *(target_numbers[id_] for id_ in target)],
        )
        _update(largest, _differences(ours.model, source, [BOS, *target], expected, pieces))
        count["greedy"] += _equal(ours, theirs, source, 1)
        count["beam"] += _equal(ours, theirs, source, BEAM_SIZE)
    print(
        f"{name}: of {len(UNUSUAL)} lines the same pieces {count['source']} as a source and "
        f"{count['target']} as a target, the same text of them {count['text']}; largest "
        f"difference: {_listed(largest)}; of {inputs}: greedy equal "
        f"{count['greedy']}, beam equal {count['beam']}"
    )


def _forced(model: Any, source: Sequence[int], target: Sequence[int]) -> Any:
    """Run one teacher-forced pass of transformers."""
    return model(
        input_ids=torch.tensor([source]),
        decoder_input_ids=torch.tensor([target]),
        output_attentions=True,
    )


def _update(largest: dict[str, float], differences: dict[str, float]) -> None:
    for key, difference in differences.items():
        largest[key] = max(largest.get(key, 0.0), difference)


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{key} {value:.1e}" for key, value in values.items())


def _differences(
    ours: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    theirs: Any,
    pieces: tuple[Sequence[int], Sequence[int]],
) -> dict[str, float]:
    """Measure the largest absolute difference of each kind of value in a forced pass.

    `source` has its end and `target` its start, in ids of ours; `theirs` is the output of
    `transformers` with attention. `pieces` are those that both libraries know, by our ids and by
    theirs.
    """
    ids = torch.tensor([source])
    logits, cache = ours.run_with_cache(
        ids, torch.tensor([target]), names=lambda name: name.endswith("hook_pattern")
    )
    own_logits, their_logits = logits[0][:, pieces[0]], theirs.logits[0][:, pieces[1]]
    values = {
        "encoder states": (
            ours.encode(ids)[0],
            weights.halves_to_pairs(theirs.encoder_last_hidden_state[0], 1),
        ),
        "logits": (own_logits, their_logits),
        "log P": (own_logits.log_softmax(-1), their_logits.log_softmax(-1)),
    }
    attentions = theirs.encoder_attentions, theirs.decoder_attentions, theirs.cross_attentions
    for kind, layers in zip(KINDS, attentions, strict=True):
        own = [cache[f"{kinds.attention_name(kind, n)}.hook_pattern"] for n in range(len(layers))]
        values[f"{kind} weights"] = torch.cat(own), torch.cat(layers)
    return {name: _largest(*both) for name, both in values.items()}


def _largest(first: torch.Tensor, second: torch.Tensor) -> float:
    return float(np.abs(first.double().numpy() - second.double().numpy()).max())


def _random_input(ours: checkpoint.Checkpoint, draw: random.Random) -> tuple[list[int], list[int]]:
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


def _equal(ours: checkpoint.Checkpoint, theirs: Any, source: list[int], beam_size: int) -> bool:
    """Return whether both searches find the same translation."""
    numbers = _numbers(ours.target_tokenizer)
    best = decoding.beam_search(
        ours.model, torch.tensor([source]), beam_size=beam_size, alpha=0, max_length=LONGEST
    )[0][0]
    written = theirs.generate(
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
    end = written.index(numbers[EOS]) + 1 if numbers[EOS] in written else len(written)
    return [numbers.index(number) for number in written[:end]] == list(best.tokens)
