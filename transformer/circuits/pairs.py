"""Minimal pairs: which heads carry what tells two sentences apart.

Two sentences differ in one thing, and so do their translations: "The dog sleeps" and "The dogs
sleep", "schläft" and "schlafen". A head is patched when its output on the first sentence is
replaced by that on the second. What the log-odds of the two words then lose is how much of the
difference the head carries (activation patching: Vig et al. 2020, Wang et al. 2022). So is the
residual stream after a layer, at some positions (Meng et al. 2022).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor

from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.teacher_forcing import Progress
from transformer.circuits.stream import StackName
from transformer.config import BOS, TransformerConfig
from transformer.corpus.measured import LeftOut
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

    sites: tuple[Head, ...] | tuple[Site, ...]
    lost: Floats  # `[pair, site]`, NaN where a pair has no such position
    control: Floats  # `[pair, site]`, patched from another pair's first sentence
    whole: Floats  # `[pair]`, what they lose from the first sentence to the second

    def means(self) -> Interval:
        """Average over the pairs that have a site, `[site]`, with the interval of a bootstrap."""
        means = np.full((3, len(self.sites)), np.nan)
        has_site = ~np.isnan(self.lost)
        for rows in np.unique(has_site.T, axis=0):
            if count := int(rows.sum()):
                columns = (rows == has_site.T).all(1)
                values, weights = self.lost[rows][:, columns], resampled_weights(count, SEED)
                means[:, columns] = mean_interval(values, weights, np.ones(count))
        return Interval(*means)

    def p(self) -> Floats:
        """Test each site against the control, `[site]`, corrected for all sites (Holm 1979)."""
        return holm(permutation_p(np.nan_to_num(self.lost - self.control), SEED))

    def of_pairs(self, rows: Sequence[int]) -> "PatchedPairs":
        """Return those of some pairs."""
        lost, control, whole = (values[rows] for values in (self.lost, self.control, self.whole))
        return replace(self, lost=lost, control=control, whole=whole)


@dataclass(frozen=True, eq=False)
class MeasuredPairs:
    """The pairs that could be patched, and the others with the reason, by line from 1."""

    pairs: tuple[MinimalPair, ...]
    heads: PatchedPairs
    stream: PatchedPairs
    left_out: tuple[LeftOut, ...]

    def in_group(self, group: str) -> "MeasuredPairs":
        """Return those of a group; "" is all of them."""
        rows = [n for n, pair in enumerate(self.pairs) if group in ("", pair.group)]
        pairs = tuple(self.pairs[row] for row in rows)
        heads, stream = (patched.of_pairs(rows) for patched in (self.heads, self.stream))
        return replace(self, pairs=pairs, heads=heads, stream=stream)


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
            f"{len(encoded)} of {count:,} pairs can be patched, and two are the least. "
            f"Line {number:,}: {reason}"
        )
    heads, stream = patch_pairs(
        translator.model,
        encoded,
        lambda done, total: progress(count + round(2 * count * done / total), 3 * count),
    )
    return MeasuredPairs(tuple(named), heads, stream, tuple(left_out))


def effects_table(patched: PatchedPairs) -> pd.DataFrame:
    """Return one row a site: its place from 1, the log-odds that it carries, control, p (Holm).

    The stream has `pairs`, how many have such a position.
    """
    table = pd.DataFrame([site._asdict() for site in patched.sites])
    numbers = [name for name in ("layer", "head") if name in table]
    table[numbers] += 1
    pairs = (~np.isnan(patched.lost)).sum(0)
    control = np.where(pairs, np.nansum(patched.control, 0) / np.maximum(pairs, 1), np.nan)
    values = dict(zip((LOST, "low", "high"), patched.means(), strict=True))
    table = table.assign(**values, control=control, p=patched.p())
    return table if "head" in table else table.assign(pairs=pairs)


def pairs_table(measured: MeasuredPairs) -> pd.DataFrame:
    """Return one row a pair: its texts, and the log-odds lost from first to second sentence."""
    return pd.DataFrame(
        [(pair.group, *pair.sentences, *pair.words) for pair in measured.pairs],
        columns=["group", "first sentence", "second sentence", "first word", "second word"],
    ).assign(**{LOST: measured.heads.whole})


def all_sites(config: TransformerConfig) -> list[Site]:
    """List the sites of the stream by stack, layer and positions."""
    layers: dict[StackName, int] = {"encoder": config.N, "decoder": config.decoder.N}
    return [
        Site(stack, layer, positions)
        for stack, names in POSITIONS.items()
        for layer in range(layers[stack])
        for positions in names
    ]


@torch.inference_mode()
def patch_pairs(
    model: Transformer, pairs: Sequence[EncodedPair], progress: Progress | None = None
) -> tuple[PatchedPairs, PatchedPairs]:
    """Patch each head of each pair alone, and each site of the stream.

    The control takes the values on the first sentence of the next pair: other words without the
    difference. `progress` is called after each pair.
    """
    if len(pairs) < 2:
        raise InputError("One pair has no control: give two pairs or more.")
    heads, stream = all_heads(model.config), all_sites(model.config)
    sites: list[Head | Site] = [*heads, *stream]
    lost, control = np.full((2, len(pairs), len(sites)), np.nan)
    whole = np.zeros(len(pairs))
    for number, pair in enumerate(pairs):
        other = pairs[(number + 1) % len(pairs)].sources[0]
        before, changed = (_log_odds(model, pair, source)[0] for source in pair.sources)
        whole[number] = before - changed
        groups = position_groups(*pair.sources)
        for result, donor in ((lost, pair.sources[1]), (control, other)):
            values = _outputs(model, donor, pair.target)
            places = aligned_positions(pair.sources[0], donor)
            patches = {
                column: patch
                for column, site in enumerate(sites)
                if (patch := _patch(site, places, groups, len(pair.target))) is not None
            }
            for start in range(0, len(patches), ROWS):
                part = [*patches][start : start + ROWS]
                with model.hooks(_hooks([patches[column] for column in part], values)):
                    after = _log_odds(model, pair, pair.sources[0], len(part))
                result[number, part] = before - after
        absent = np.isnan(lost[number] + control[number])
        lost[number, absent] = control[number, absent] = np.nan
        if progress:
            progress(number + 1, len(pairs))
    end = len(heads)
    return (
        PatchedPairs(tuple(heads), lost[:, :end], control[:, :end], whole),
        PatchedPairs(tuple(stream), lost[:, end:], control[:, end:], whole),
    )


def position_groups(first: Sequence[int], second: Sequence[int]) -> dict[str, set[int]]:
    """Group the positions of the first sentence that the second has, by those that differ."""
    groups: dict[str, set[int]] = {name: set() for name in POSITIONS["encoder"]}
    before, differing, after, end = groups.values()
    equal = before
    for to, from_ in aligned_positions(first, second):
        if to != from_ or first[to] != second[from_]:  # one has a subword more, or another
            equal = after
        same = first[to] == second[from_]
        (end if to == len(first) - 1 else equal if same else differing).add(to)
    return groups


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
    """Return the z of every head, `[head, query, d_v]`, and the stream, by hook point."""
    _, cache = model.run_with_cache(
        torch.tensor([source], device=model.device),
        torch.tensor([target], device=model.device),
        names=lambda name: name.endswith((".hook_z", AFTER_LAYER)),
    )
    return {name: value[0] for name, value in cache.items()}


class _Patch(NamedTuple):
    name: str  # of the hook point
    to: tuple[int | list[int] | slice, ...]  # index of what is replaced in one row of a batch
    from_: tuple[int | list[int] | slice, ...]  # of what replaces it


def _patch(
    site: Head | Site,
    places: Sequence[tuple[int, int]],
    groups: Mapping[str, set[int]],
    steps: int,
) -> _Patch | None:
    """Find what a site replaces at the paired positions; None if it has none of them."""
    index: tuple[int, ...] = ()
    if isinstance(site, Site):
        name = f"{site.stack}.layers.{site.layer}{AFTER_LAYER}"
        if site.stack == "encoder":
            places = [pair for pair in places if pair[0] in groups[site.positions]]
        else:  # both read the same prefix
            last = steps - 1
            places = [(n, n) for n in (range(last) if site.positions == "earlier" else [last])]
    else:
        name, index = f"{attention_name(site.kind, site.layer)}.hook_z", (site.head,)
        if site.kind != "encoder_self":
            places = [(n, n) for n in range(steps)]
    if not places:
        return None
    to, from_ = (list(side) for side in zip(*places, strict=True))
    return _Patch(name, (*index, to), (*index, from_))


def _hooks(patches: Sequence[_Patch], values: Mapping[str, Tensor]) -> dict[str, Hook]:
    """Make the hooks that apply one patch in each row of a batch."""

    def hook(value: Tensor, name: str) -> Tensor:
        value = value.clone()
        for row, patch in enumerate(patches):
            if patch.name == name:
                value[(row, *patch.to)] = values[name][patch.from_]
        return value

    return dict.fromkeys((patch.name for patch in patches), hook)
