"""Alignment by two models, one for each direction, whose links are combined (Och & Ney 2003)."""

import heapq
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple, get_args

from transformer import choices, errors
from transformer.analysis import alignment
from transformer.analysis.alignment_settings import (
    MAX_BYTES,
    AlignmentSettings,
    GoldFigures,
    read_alignment,
)
from transformer.analysis.gold_links import Link
from transformer.analysis.stored import checksum_of_weights
from transformer.arrays import Singles
from transformer.files import documents
from transformer.text import languages
from transformer.trace import AttentionTrace
from transformer.translation.loaded_model import LoadedModel
from transformer.translator import Translator

FILE = "both_directions.json"

Rule = Literal["intersection", "union", "grow-diag", "product"]
"""Links of both models; of either; those of both, and those of either that extend them; or the
pairs that are each other's strongest by the product of both models' shares."""
RULES: tuple[Rule, ...] = get_args(Rule)

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


@choices.check_choices
@dataclass(frozen=True)
class BothSettings:
    """The maps of two models that align words, and the rule that combines their links."""

    forward: AlignmentSettings  # of the model that translates
    reverse: AlignmentSettings  # of the model that translates its language back
    rule: Rule
    # its error on the lines of a gold set that chose neither map nor rule; None: never measured
    gold: GoldFigures | None = None

    def describe(self) -> str:
        """Describe the settings in one line, layers and heads from 1."""
        maps = f"{self.forward.describe_map()}; back by {self.reverse.describe_map()}"
        if self.gold is None:
            return f"{maps}; {self.rule}; never measured on gold links"
        return (
            f"{maps}; {self.rule}; AER {self.gold.aer:.1f} on the {self.gold.sentences:,} even "
            f"lines of {self.gold.name}, whose odd lines chose maps and rule"
        )

    def to_json(self, reverse: LoadedModel) -> str:
        """Format the text that `read_both` reads, for this model of the other direction."""
        values = asdict(self) | {"weights": checksum_of_weights(reverse.folder)}
        return json.dumps(values, indent=2) + "\n"


@dataclass(frozen=True)
class _Stored(BothSettings):
    """The settings in a file, with the SHA-256 of the reverse model's weights."""

    weights: documents.Name = ""


def read_both(loaded: LoadedModel, reverse: LoadedModel) -> BothSettings:
    """Read what was measured with this reverse model; else intersect the links of both models."""
    path = loaded.folder / FILE
    stored = documents.read_document(path, _Stored, MAX_BYTES) if path.is_file() else None
    if stored is None or stored.weights != checksum_of_weights(reverse.folder):
        return BothSettings(read_alignment(loaded), read_alignment(reverse), "intersection")
    stored.forward.require_map(loaded.model.config, path)
    stored.reverse.require_map(reverse.model.config, path)
    return BothSettings(stored.forward, stored.reverse, stored.rule, stored.gold)


class BothShares(NamedTuple):
    """The shares from which both models take their links, each `[target word, source word]`."""

    forward: Singles
    reverse: Singles  # of the model of the other direction, turned


@choices.check_choices
def align_both(
    translator: Translator,
    reverse: Translator,
    trace: AttentionTrace,
    settings: BothSettings | None = None,
    *,
    words: alignment.Words = "pieces",
) -> tuple[alignment.WordPair, ...]:
    """Pair the words of a translation with those of its source, by two models.

    Args:
        translator: the model that made the trace.
        reverse: the model of the other direction; it reads the translation and scores the source.
        trace: the trace of the sentence and its translation.
        settings: the maps and the rule; by default, those of the checkpoint.
        words: how words are counted, as for `align`.

    Returns:
        The pairs, in the order of the translation; the strength is the mean of both models' shares.

    Raises:
        InputError: if the second model is not of the other direction, or if the models number the
            words differently; as for `align`.
        CheckpointError: as for `align`.
    """
    chosen = read_both(translator, reverse) if settings is None else settings
    shares = both_shares(translator, reverse, trace, chosen, words=words)
    return combine(shares, chosen, chosen.rule)


@choices.check_choices
def both_shares(
    translator: Translator,
    reverse: Translator,
    trace: AttentionTrace,
    chosen: BothSettings,
    *,
    words: alignment.Words = "pieces",
) -> BothShares:
    """Compute the shares from which `align_both` takes its links; see `align_both`."""
    require_reverse(translator.languages, reverse.languages)
    forward = alignment.aligned_shares(translator, trace, chosen.forward, words=words)
    if not forward.size:  # nothing was written, and the second model has nothing to read
        return BothShares(forward, forward)
    back = reverse.trace(trace.target, target=trace.source)
    turned = alignment.aligned_shares(reverse, back, chosen.reverse, words=words).T
    if forward.shape != turned.shape:
        (target, source), (read, written) = forward.shape, turned.shape
        raise errors.InputError(
            f"The two models count different words, {source} and {written} in the source, {target} "
            f"and {read} in the translation: their links cannot be combined."
        )
    return BothShares(forward, turned)


def require_reverse(ours: languages.Languages, theirs: languages.Languages) -> None:
    """Raise InputError if two models are known not to translate in opposite directions."""
    sides = ((ours.source, theirs.target), (ours.target, theirs.source))
    if any(here and there and here != there for here, there in sides):
        raise errors.InputError(
            f"The second model translates {theirs.name('source')} to {theirs.name('target')}: "
            f"choose one that translates {ours.name('target')} to {ours.name('source')}."
        )


@choices.check_choices
def combine(shares: BothShares, chosen: BothSettings, rule: Rule) -> tuple[alignment.WordPair, ...]:
    """Combine the links of both models by a rule; see `align_both`."""
    if rule == "product":
        pairs = alignment.strongest(shares.forward * shares.reverse, "mutual")
        links = frozenset(pair[:2] for pair in pairs)
    else:
        links = combined_links(*links_of_models(shares, chosen), rule)
    means = (shares.forward + shares.reverse) / 2
    return tuple(
        alignment.WordPair(source, target, float(means[target, source]))
        for source, target in sorted(links, key=lambda link: (link[1], link[0]))
    )


def links_of_models(
    shares: BothShares, chosen: BothSettings
) -> tuple[frozenset[Link], frozenset[Link]]:
    """Return the links of each model alone, source word first: forward, then reverse."""
    forward = alignment.strongest(shares.forward, chosen.forward.links)
    reverse = alignment.strongest(shares.reverse.T, chosen.reverse.links)
    turned = frozenset((pair.target, pair.source) for pair in reverse)
    return frozenset(pair[:2] for pair in forward), turned


@choices.check_choices
def combined_links(
    forward: Collection[Link],
    reverse: Collection[Link],
    rule: Literal["intersection", "union", "grow-diag"],
) -> frozenset[Link]:
    """Combine the links of two alignments by a rule."""
    both = frozenset(forward).intersection(reverse)
    either = frozenset(forward).union(reverse)
    if rule == "grow-diag":
        return _grow_diag(both, either)
    return both if rule == "intersection" else either


def _grow_diag(both: frozenset[Link], either: frozenset[Link]) -> frozenset[Link]:
    """Extend the intersection by neighbours in the union (Koehn, Och & Marcu 2003).

    A neighbour, the diagonal ones too, is added if one of its two words has no link yet. As there,
    passes over all links in their order are made until nothing is added; since a link that was
    refused stays so, each is visited once, in the pass in which that order comes to it.
    """
    links = set(both)
    sources, targets = ({link[side] for link in links} for side in (0, 1))
    visits = [(0, link) for link in sorted(links)]  # the pass, and the link: a heap
    while visits:
        number, link = heapq.heappop(visits)
        for step in _NEIGHBOURS:
            new = link[0] + step[0], link[1] + step[1]
            is_free = new[0] not in sources or new[1] not in targets
            if new in either and new not in links and is_free:
                links.add(new)
                sources.add(new[0])
                targets.add(new[1])
                heapq.heappush(visits, (number + (new < link), new))
    return frozenset(links)
