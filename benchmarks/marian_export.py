"""A checkpoint of ours exported to MarianMT's layout, in `transformers` and here."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.marian_pass import largest_differences
from transformer import Translator
from transformer.checkpoints.export import marian
from transformer.config import BOS, EOS
from transformer.decoding import MAX_EXTRA
from transformer.files.installed import ASSETS, BUNDLED

EVERYDAY = (
    "Where did you put the scissors?",
    "I'll be back at half past seven.",
    "The bread is still warm.",
    "We ran out of milk yesterday.",
    "Can I pay by card?",
    "My phone's battery is almost empty.",
    "She isn't coming, is she?",
    "Turn off the oven before you leave!",
    "There were 24 people in the waiting room.",
    "He paid 3.50 for a coffee and a bun.",
    "Mr. Baker lives at 12 Mill Lane.",
    "The lift is out of order again...",
    "“Nobody saw us,” she whispered.",
    "It's raining cats and dogs – take an umbrella.",
    "Do you prefer tea or coffee (with milk)?",
    "My cousin's café opens at 8:30 a.m.",
    "  Two   spaces   between   the   words  ",
    "The ½-price sale ends at ５ o'clock.",
    "GOOD MORNING EVERYBODY",
    "naïve, façade, Zoë, Dvořák",
    "We met in München near the Straße des 17. Juni.",
    "A 😀 for you, and 汉字 for me.",
    "email me: anna@example.org",
    "x < y & y > z, so x | z",
    "One\u00a0two\u2009three spaces",
    "Yes.",
    "?",
)
"""Lines as people write them, of which some have characters that the vocabulary has not."""


@dataclass(frozen=True)
class ExportComparison:
    """One checkpoint here, and its export in `transformers`.

    Args:
        sentences: how many were compared.
        pieces: of them, those with the same pieces in both tokenizers.
        largest: absolute difference of each kind of value, in float32.
        exact: the same in float64, where rounding does not hide what is different.
        greedy: sentences with the same greedy translation, as text.
        beam: likewise by beam search, whose length penalties differ.
    """

    sentences: int
    pieces: int
    largest: dict[str, float]
    exact: dict[str, float]
    greedy: int
    beam: int

    def __str__(self) -> str:
        return (
            f"export of our own: of {self.sentences} sentences the same pieces {self.pieces}; "
            f"largest difference in float32: {_listed(self.largest)}; in float64: "
            f"{_listed(self.exact)}; greedy equal {self.greedy}, by the search of its own "
            f"generation_config.json equal {self.beam}"
        )


@torch.inference_mode()
def compare_export(checkpoint: Path = BUNDLED) -> ExportComparison:
    """Export a checkpoint, read it by `transformers`, and translate everyday lines in both."""
    from transformers import MarianMTModel, MarianTokenizer

    ours = Translator.load(checkpoint)
    lines = [*EVERYDAY, *(ASSETS / "examples.txt").read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "export"
        marian.write(marian.load_to_export(checkpoint), folder)
        loaded: Any = MarianMTModel.from_pretrained(
            folder, attn_implementation="eager", output_loading_info=True
        )
        model, loading = loaded
        unread = {what: names for what, names in loading.items() if names}
        assert not unread, f"transformers did not find its own names: {unread}"
        tokenizer = MarianTokenizer.from_pretrained(folder)
    model.eval()
    passes: list[tuple[list[int], tuple[int, ...]]] = []
    pieces = greedy = beam = 0
    for line in lines:
        given = tokenizer(line, return_tensors="pt")
        source = [*ours.tokenizer.encode(line), EOS]
        pieces += given["input_ids"][0].tolist() == source
        best = ours.translate(line, beam_size=1)
        passes.append((source, best.best.hypothesis.tokens))
        longest = 1 + len(source) + MAX_EXTRA  # the start is counted
        alone = model.generate(**given, num_beams=1, do_sample=False, max_length=longest)
        greedy += tokenizer.decode(alone[0], skip_special_tokens=True) == best.text
        searched = tokenizer.decode(model.generate(**given)[0], skip_special_tokens=True)
        beam += searched == ours.translate(line).text
    largest = _largest_of(ours, model, passes)
    ours.model.double()
    exact = _largest_of(ours, model.double(), passes)
    return ExportComparison(len(lines), pieces, largest, exact, greedy, beam)


def _largest_of(
    ours: Translator, theirs: Any, passes: Sequence[tuple[list[int], tuple[int, ...]]]
) -> dict[str, float]:
    """The largest absolute difference of each kind of value in any teacher-forced pass."""
    largest: dict[str, float] = {}
    for source, written in passes:
        for what, found in _differences(ours, theirs, source, written).items():
            largest[what] = max(largest.get(what, 0.0), found)
    return largest


def _differences(
    ours: Translator, theirs: Any, source: list[int], written: tuple[int, ...]
) -> dict[str, float]:
    """Those of one pass."""
    target = [BOS, *written]
    expected = theirs(
        input_ids=torch.tensor([source]),
        decoder_input_ids=torch.tensor([target]),
        output_attentions=True,
    )
    every = range(ours.model.config.vocab_size)
    return largest_differences(ours.model, source, target, expected, (every, every))


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{what} {value:.1e}" for what, value in values.items())
