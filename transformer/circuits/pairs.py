"""Minimal pairs: which heads carry what tells two sentences apart.

Two sentences differ in one thing, and so do their translations: "The dog sleeps" and "The dogs
sleep", "schläft" and "schlafen". A head is patched when its output on the first sentence is
replaced by that on the second. What the log-odds of the two words then lose is how much of the
difference the head carries (activation patching: Vig et al. 2020, Wang et al. 2022). The residual
stream after a layer is patched in the same way, at some positions (Meng et al. 2022).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.teacher_forcing import Progress, no_progress
from transformer.arrays import Floats
from transformer.circuits.stream import StackName, query_stream
from transformer.config import BOS, TransformerConfig
from transformer.corpus.measured import LeftOut, places_table
from transformer.corpus.resampling import holm, mean_interval, permutation_p, resampled_weights
from transformer.errors import InputError
from transformer.files.lines import decode_lines
from transformer.hooks import Hook
from transformer.kinds import attention_name
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.translator import Translator

BUNDLED_PAIRS = {
    language: Path(__file__).with_name(f"minimal-pairs-{language}.tsv")
    for language in ("English", "German")
}
"""Forty pairs by the language of their sentences: number, gender, tense and negation."""

MAX_PAIRS, MAX_SUBWORDS = 1_000, 128
ROWS = 24
"""Patches at once."""
SEED = 1
LOST = "log-odds lost"
AFTER_LAYER = ".feed_forward_norm.hook_normalised"

POSITIONS: dict[StackName, tuple[str, ...]] = {
    "encoder": ("before", "differing", "after", "</s>"),
    "decoder": ("earlier", "last"),
}
"""Groups of positions of each stack: in the encoder by the subwords that differ, in the decoder by
the one that predicts the word."""


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


class Site(NamedTuple):
    """The residual stream after a layer, counted from 0, at a group of `POSITIONS`."""

    stack: StackName
    layer: int
    positions: str


@dataclass(frozen=True, eq=False)
class PatchedPairs:
    """Losses of the log-odds of each pair with each site of the first sentence patched, in nats."""

    sites: tuple[Head | Site, ...]
    lost: Floats  # `[pair, site]`, NaN where a pair has no such position
    control: Floats  # `[pair, site]`, patched from another pair's first sentence
    whole: Floats  # `[pair]`, what they lose from the first sentence to the second


@dataclass(frozen=True, eq=False)
class MeasuredPairs:
    """The pairs that could be patched, and the others with the reason, by number from 1."""

    pairs: tuple[MinimalPair, ...]
    patched: PatchedPairs
    left_out: tuple[LeftOut, ...]

    def in_group(self, group: str) -> "MeasuredPairs":
        """Return those of a group; "" is all of them."""
        rows = [n for n, pair in enumerate(self.pairs) if group in ("", pair.group)]
        lost, control, whole = (
            values[rows] for values in (self.patched.lost, self.patched.control, self.patched.whole)
        )
        patched = PatchedPairs(self.patched.sites, lost, control, whole)
        return MeasuredPairs(tuple(self.pairs[row] for row in rows), patched, self.left_out)


def read_pairs(data: bytes) -> list[MinimalPair]:
    """Read pairs from tab-separated lines: two sentences, two words, and a group if there is one.

    Blank lines are left out.

    Raises:
        InputError: if a line is not of this form; the error has its number.
    """
    pairs = []
    for number, line in enumerate(decode_lines(data, MAX_PAIRS), start=1):
        fields = [field.strip() for field in line.split("\t")]
        if not any(fields):
            continue
        if (count := len(fields)) not in (4, 5) or not all(fields[:4]):
            has = "an empty field" if count in (4, 5) else f"{count} field{'s' * (count > 1)}"
            raise InputError(
                f"Line {number:,} has {has}: give two sentences, two words and, if you like, a "
                f"group, separated by tabs."
            )
        pairs.append(
            MinimalPair((fields[0], fields[1]), (fields[2], fields[3]), "".join(fields[4:]))
        )
    if not pairs:
        raise InputError("There is no pair: give two sentences and two words, separated by tabs.")
    return pairs


def bundled_pairs(language: str) -> list[MinimalPair]:
    """Read the pairs of a language of `BUNDLED_PAIRS`."""
    return read_pairs(BUNDLED_PAIRS[language].read_bytes())


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
    if sources[0] == sources[1]:
        raise InputError("Its two sentences are the same subwords of the model: change one.")
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
    progress: Progress = no_progress,
) -> MeasuredPairs:
    """Patch heads and stream of each pair whose word is in the translation; name the others.

    Raises:
        InputError: if fewer than two pairs are left.
    """
    translator.model.require_no_dropout()
    named, encoded, left_out = list[MinimalPair](), list[EncodedPair](), list[LeftOut]()
    count = len(pairs)
    for number, pair in enumerate(pairs, start=1):
        try:
            encoded.append(encode_pair(translator, pair))
            named.append(pair)
        except InputError as error:
            left_out.append(LeftOut(number, str(error)))
        progress(number, 3 * count)  # a translation takes less than the patches
    if len(encoded) < 2 and left_out:
        number, reason = left_out[0]
        raise InputError(
            f"{len(encoded)} of {count:,} pairs can be patched, and at least two are needed. "
            f"Pair {number:,}: {reason}"
        )
    patched = patch_pairs(
        translator.model,
        encoded,
        lambda done, total, _now="": progress(count + round(2 * count * done / total), 3 * count),
    )
    return MeasuredPairs(tuple(named), patched, tuple(left_out))


def effects_table(patched: PatchedPairs, form: type[Head] | type[Site] = Head) -> pd.DataFrame:
    """Return one row a head, or a site of the stream with how many `pairs` have it.

    Each has its place from 1, the mean of the log-odds that it carries with the interval of a
    bootstrap over the pairs that have it, the control, and p against it, corrected for all of them.
    """
    columns = [n for n, site in enumerate(patched.sites) if isinstance(site, form)]
    lost, control = patched.lost[:, columns], patched.control[:, columns]
    means = np.full((4, len(columns)), np.nan)
    for column, is_known in enumerate(~np.isnan(lost.T)):
        if pairs := int(is_known.sum()):
            weights, ones = resampled_weights(pairs, SEED), np.ones(pairs)
            means[:3, column] = mean_interval(lost[is_known, column], weights, ones)
            means[3, column] = control[is_known, column].mean()
    table = places_table(patched.sites[n] for n in columns).assign(
        **dict(zip((LOST, "low", "high", "control"), means, strict=True)),
        p=holm(permutation_p(np.nan_to_num(lost - control), SEED)),
    )
    return table if form is Head else table.assign(pairs=(~np.isnan(lost)).sum(0))


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
    """Patch each head of each pair alone, and the stream at each site.

    The control takes the values on the first sentence of the next pair: other words without the
    difference. `progress` is called after each pair.
    """
    if len(pairs) < 2:
        raise InputError("One pair has no control: give two pairs or more.")
    sites = all_sites(model.config)
    patches = [_patch(site) for site in sites]
    lost, control = np.full((2, len(pairs), len(patches)), np.nan)
    whole = np.zeros(len(pairs))
    for number, pair in enumerate(pairs):
        other = pairs[(number + 1) % len(pairs)].sources[0]
        before, changed = (_log_odds(model, pair, source)[0] for source in pair.sources)
        whole[number] = before - changed
        for result, donor in ((lost, pair.sources[1]), (control, other)):
            values, places = _outputs(model, donor, pair.target), paired_places(pair, donor)
            columns = [n for n, (*_, name) in enumerate(patches) if places[name]]
            for start in range(0, len(columns), ROWS):
                part = columns[start : start + ROWS]
                with model.hooks(_hooks([patches[n] for n in part], values, places)):
                    after = _log_odds(model, pair, pair.sources[0], len(part))
                result[number, part] = before - after
        if progress:
            progress(number + 1, len(pairs))
    absent = np.isnan(lost + control)
    lost[absent] = control[absent] = np.nan
    return PatchedPairs(sites, lost, control, whole)


def all_sites(config: TransformerConfig) -> tuple[Head | Site, ...]:
    """List the heads of a model, then the sites of its stream by stack, layer and positions."""
    stream = (
        Site(stack, layer, positions)
        for stack, names in POSITIONS.items()
        for layer in range((config if stack == "encoder" else config.decoder).N)
        for positions in names
    )
    return *all_heads(config), *stream


_Patch: TypeAlias = tuple[str, tuple[int, ...], str]
"""A hook point, the index of a head there if it is one, and a name of `paired_places`."""


def _patch(site: Head | Site) -> _Patch:
    if isinstance(site, Site):
        return f"{site.stack}.layers.{site.layer}{AFTER_LAYER}", (), site.positions
    kind, layer, head = site
    return f"{attention_name(kind, layer)}.hook_z", (head,), query_stream(kind, layer)[0]


def paired_places(pair: EncodedPair, donor: Sequence[int]) -> dict[str, list[tuple[int, int]]]:
    """Pair the positions of the first sentence and of a donor, by stack and by `POSITIONS`."""
    first, second = pair.sources
    group, groups = "before", dict[int, str]()
    for to, from_ in aligned_positions(first, second):
        is_equal = first[to] == second[from_]
        if to != from_ or not is_equal:  # one has a subword more, or another
            group = "after"
        groups[to] = "</s>" if to == len(first) - 1 else group if is_equal else "differing"
    encoder = aligned_positions(first, donor)
    decoder = [(n, n) for n in range(len(pair.target))]  # both read the same prefix
    return {
        "encoder": encoder,
        "decoder": decoder,
        "earlier": decoder[:-1],
        "last": decoder[-1:],
        **{n: [p for p in encoder if groups.get(p[0]) == n] for n in POSITIONS["encoder"]},
    }


def _log_odds(
    model: Transformer, pair: EncodedPair, source: Sequence[int], rows: int = 1
) -> Floats:
    """Compute log P(first word) − log P(second) where they part, `[row]`; rows differ by hooks."""
    ids = torch.tensor([source], device=model.device).expand(rows, -1)
    target = torch.tensor([pair.target], device=model.device).expand(rows, -1)
    mask = padding_mask(ids)
    decoded = model.decode(target, model.encode(ids, mask), mask)
    logits = model.logits(decoded[:, -1])
    first, second = pair.pieces
    odds: Floats = (logits[:, first] - logits[:, second]).double().cpu().numpy()
    return odds


def _outputs(model: Transformer, source: Sequence[int], target: Sequence[int]) -> dict[str, Tensor]:
    """Return the z of every head, `[head, query, d_v]`, and the stream, by hook point."""
    _, cache = model.run_with_cache(
        torch.tensor([source], device=model.device),
        torch.tensor([target], device=model.device),
        names=lambda name: name.endswith((".hook_z", AFTER_LAYER)),
    )
    return {name: value[0] for name, value in cache.items()}


def _hooks(
    patches: Sequence[_Patch],
    values: Mapping[str, Tensor],
    places: Mapping[str, Sequence[tuple[int, int]]],
) -> dict[str, Hook]:
    """Make the hooks that apply one patch in each row of a batch."""

    def hook(value: Tensor, name: str) -> Tensor:
        value = value.clone()
        for row, (point, head, positions) in enumerate(patches):
            if point == name:
                to, from_ = torch.tensor(places[positions]).T
                value[(row, *head, to)] = values[name][(*head, from_)]
        return value

    return dict.fromkeys((point for point, *_ in patches), hook)
