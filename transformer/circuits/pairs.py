"""Minimal pairs: which heads carry what tells two sentences apart.

Two sentences differ in one thing, and so do their translations: "The dog sleeps" and "The dogs
sleep", "schläft" and "schlafen". A head is patched when its output on the first sentence is
replaced by that on the second. What the log-odds of the two words then lose is how much of the
difference the head carries (activation patching: Vig et al. 2020, Wang et al. 2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor

from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.teacher_forcing import Progress
from transformer.config import BOS
from transformer.corpus.resampling import (
    Floats,
    Interval,
    holm,
    mean_interval,
    permutation_p,
    resampled_weights,
)
from transformer.errors import InputError
from transformer.files.lines import decode_lines
from transformer.hooks import Hook
from transformer.kinds import attention_name
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.translator import Translator

BUNDLED_PAIRS = Path(__file__).with_name("minimal-pairs.tsv")
"""Forty pairs, English and German: number, gender, tense and negation."""

MAX_PAIRS, MAX_SUBWORDS = 1_000, 128
ROWS = 24
"""Patched heads at once."""
SEED = 1
LOST = "log-odds lost"


class MinimalPair(NamedTuple):
    """Two sentences, the words of their translations that differ, and what they differ in."""

    sentences: tuple[str, str]
    words: tuple[str, str]
    group: str = ""


class EncodedPair(NamedTuple):
    """A pair as the model reads it: up to the step at which the two words part."""

    sources: tuple[list[int], list[int]]  # token ids of each sentence
    target: list[int]  # what the decoder reads: `<s>`, and all that both translations share
    pieces: tuple[int, int]  # the first piece in which the words differ


@dataclass(frozen=True, eq=False)
class PatchedPairs:
    """Losses of the log-odds of each pair with each head of the first sentence patched, in nats."""

    heads: tuple[Head, ...]
    lost: Floats  # `[pair, head]`
    control: Floats  # `[pair, head]`, patched from another pair's first sentence
    whole: Floats  # `[pair]`, what they lose from the first sentence to the second

    def means(self) -> Interval:
        """Average over pairs, `[head]`, with the interval of a bootstrap over them."""
        pairs = len(self.lost)
        return mean_interval(self.lost, resampled_weights(pairs, SEED), np.ones(pairs))

    def p(self) -> Floats:
        """Test each head against the control, `[head]`, corrected for all heads (Holm 1979)."""
        return holm(permutation_p(self.lost - self.control, SEED))


@dataclass(frozen=True, eq=False)
class MeasuredPairs:
    """The pairs that could be patched, and the others with the reason, by line from 1."""

    pairs: tuple[MinimalPair, ...]
    patched: PatchedPairs
    left_out: tuple[tuple[int, str], ...]

    def in_group(self, group: str) -> "MeasuredPairs":
        """Return those of a group; "" is all of them."""
        rows = [n for n, pair in enumerate(self.pairs) if group in ("", pair.group)]
        lost, control, whole = (
            values[rows] for values in (self.patched.lost, self.patched.control, self.patched.whole)
        )
        patched = PatchedPairs(self.patched.heads, lost, control, whole)
        return MeasuredPairs(tuple(self.pairs[row] for row in rows), patched, self.left_out)


def read_pairs(data: bytes) -> list[MinimalPair]:
    """Read pairs from tab-separated lines: two sentences, two words, and a group if there is one.

    Raises:
        InputError: naming the line, if it is no such line.
    """
    pairs = []
    for number, line in enumerate(decode_lines(data, MAX_PAIRS), start=1):
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) not in (4, 5) or not all(fields[:4]):
            raise InputError(
                f"Line {number:,} has {len(fields)} fields, of which the first four must hold two "
                f"sentences and two words: separate them with tabs."
            )
        pairs.append(
            MinimalPair((fields[0], fields[1]), (fields[2], fields[3]), "".join(fields[4:]))
        )
    if not pairs:
        raise InputError("There is no pair: give two sentences and two words, separated by tabs.")
    return pairs


def encode_pair(translator: Translator, pair: MinimalPair) -> EncodedPair:
    """Find where the two words part in the model's translation of the first sentence.

    Raises:
        InputError: if the translation has no such word, or the pair does not differ or is too long.
    """
    for name, texts in (("sentences", pair.sentences), ("words", pair.words)):
        if texts[0] == texts[1]:
            raise InputError(f"Its two {name} are equal: there is nothing to patch.")
    sources = tuple(
        [piece.id for piece in translator.reader.text(sentence)] for sentence in pair.sentences
    )
    if (longest := max(map(len, sources))) > MAX_SUBWORDS:
        raise InputError(
            f"It has {longest:,} subwords, and at most {MAX_SUBWORDS} are patched: shorten it."
        )
    tokenizer = translator.target_tokenizer
    translation = translator.translate(pair.sentences[0]).text
    words = translation.split()
    places = [n for n, word in enumerate(words) if word.strip(".,!?") == pair.words[0]]
    if not places:
        raise InputError(
            f"The model translates “{pair.sentences[0]}” as “{translation}”, without the word "
            f"“{pair.words[0]}”: choose a word of it."
        )
    changed = list(words)
    changed[places[0]] = words[places[0]].replace(*pair.words)
    first, second = (tokenizer.encode(" ".join(text)) for text in (words, changed))
    parts = (n for n, ids in enumerate(zip(first, second, strict=False)) if ids[0] != ids[1])
    if (step := next(parts, None)) is None:
        raise InputError("Its two words are the same subwords of the model: choose others.")
    return EncodedPair((sources[0], sources[1]), [BOS, *first[:step]], (first[step], second[step]))


def aligned_positions(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Pair the positions of two sentences of token ids from both ends.

    What they share at the beginning and at the end is paired, and what lies between from the left
    as long as both have a piece there.
    """
    shortest = min(len(first), len(second))
    differs = (n for n in range(shortest) if first[n] != second[n])
    head = next(differs, shortest)
    tail = 0
    while tail < shortest - head and first[-1 - tail] == second[-1 - tail]:
        tail += 1
    left = shortest - tail
    return [(n, n) for n in range(left)] + [
        (len(first) - n, len(second) - n) for n in range(tail, 0, -1)
    ]


def measure_pairs(
    translator: Translator,
    pairs: Sequence[MinimalPair],
    progress: Progress = lambda _done, _total: None,
) -> MeasuredPairs:
    """Patch each head of each pair whose word is in the model's translation; name the others.

    Raises:
        InputError: if fewer than two pairs are left.
    """
    translator.model.require_no_dropout()
    named, encoded, left_out = list[MinimalPair](), list[EncodedPair](), list[tuple[int, str]]()
    count = len(pairs)
    for number, pair in enumerate(pairs, start=1):
        try:
            encoded.append(encode_pair(translator, pair))
            named.append(pair)
        except InputError as error:
            left_out.append((number, str(error)))
        progress(number, 3 * count)  # a translation takes less than the patches
    if len(encoded) < 2 and left_out:
        number, reason = left_out[0]
        raise InputError(
            f"{len(encoded)} of {count:,} pairs can be patched, and two are the least. "
            f"Line {number:,}: {reason}"
        )
    patched = patch_pairs(
        translator.model,
        encoded,
        lambda done, total: progress(count + round(2 * count * done / total), 3 * count),
    )
    return MeasuredPairs(tuple(named), patched, tuple(left_out))


def effects_table(patched: PatchedPairs) -> pd.DataFrame:
    """Return one row a head: its place from 1, the log-odds that it carries, control, p (Holm)."""
    means = patched.means()
    return pd.DataFrame(
        {
            "kind": [head.kind for head in patched.heads],
            "layer": [head.layer + 1 for head in patched.heads],
            "head": [head.head + 1 for head in patched.heads],
            LOST: means.value,
            "low": means.low,
            "high": means.high,
            "control": patched.control.mean(0),
            "p": patched.p(),
        }
    )


def pairs_table(measured: MeasuredPairs) -> pd.DataFrame:
    """Return one row a pair: its texts, and the log-odds lost from first to second sentence."""
    return pd.DataFrame(
        [(pair.group, *pair.sentences, *pair.words) for pair in measured.pairs],
        columns=["group", "first sentence", "second sentence", "first word", "second word"],
    ).assign(**{LOST: measured.patched.whole})


@torch.inference_mode()
def patch_pairs(
    model: Transformer, pairs: Sequence[EncodedPair], progress: Progress | None = None
) -> PatchedPairs:
    """Patch each head of each pair alone.

    The control replaces a head's output by that on the first sentence of the next pair: other words
    without the difference. `progress` is called after each pair.
    """
    if len(pairs) < 2:
        raise InputError("One pair has no control: give two pairs or more.")
    heads = all_heads(model.config)
    lost, control = np.zeros((2, len(pairs), len(heads)))
    whole = np.zeros(len(pairs))
    for number, pair in enumerate(pairs):
        other = pairs[(number + 1) % len(pairs)].sources[0]
        before, changed = (_log_odds(model, pair, source)[0] for source in pair.sources)
        whole[number] = before - changed
        for result, donor in ((lost, pair.sources[1]), (control, other)):
            values = _outputs(model, donor, pair.target)
            places = aligned_positions(pair.sources[0], donor)
            for start in range(0, len(heads), ROWS):
                part = heads[start : start + ROWS]
                with model.hooks(_patches(part, values, places)):
                    after = _log_odds(model, pair, pair.sources[0], len(part))
                result[number, start : start + ROWS] = before - after
        if progress:
            progress(number + 1, len(pairs))
    return PatchedPairs(tuple(heads), lost, control, whole)


def _log_odds(
    model: Transformer, pair: EncodedPair, source: Sequence[int], rows: int = 1
) -> npt.NDArray[np.float64]:
    """Compute log P(first word) − log P(second) where they part, `[row]`, alike but for hooks."""
    ids = torch.tensor([source], device=model.device).expand(rows, -1)
    target = torch.tensor([pair.target], device=model.device).expand(rows, -1)
    mask = padding_mask(ids)
    decoded = model.decode(target, model.encode(ids, mask), mask)
    logits = model.logits(decoded[:, -1])
    first, second = pair.pieces
    odds: npt.NDArray[np.float64] = (logits[:, first] - logits[:, second]).double().cpu().numpy()
    return odds


def _outputs(model: Transformer, source: Sequence[int], target: Sequence[int]) -> dict[str, Tensor]:
    """Return the z of every head of one sentence, `[head, query, d_v]`, by hook point."""
    _, cache = model.run_with_cache(
        torch.tensor([source], device=model.device),
        torch.tensor([target], device=model.device),
        names=lambda name: name.endswith(".hook_z"),
    )
    return {name: value[0] for name, value in cache.items()}


def _patches(
    heads: Sequence[Head], values: dict[str, Tensor], places: Sequence[tuple[int, int]]
) -> dict[str, Hook]:
    """Make the hooks that patch one head in each row of a batch, at the paired positions."""
    rows: dict[str, list[tuple[int, Head]]] = {}
    for row, head in enumerate(heads):
        rows.setdefault(f"{attention_name(head.kind, head.layer)}.hook_z", []).append((row, head))
    to, from_ = (list(side) for side in zip(*places, strict=True))

    def hook(value: Tensor, name: str) -> Tensor:
        value = value.clone()
        for row, head in rows[name]:
            if head.kind == "encoder_self":
                value[row, head.head, to] = values[name][head.head, from_]
            else:  # both read the same prefix
                value[row, head.head] = values[name][head.head]
        return value

    return dict.fromkeys(rows, hook)
