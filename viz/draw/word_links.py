"""Word ↔ word between a sentence and its translation: data for `viz/browser/word_links`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from transformer import config
from transformer.text import tokenizer
from transformer.text.languages import Languages, Side
from viz.draw import formatting, labels, palette, wire
from viz.draw.caption import LENS_NAMES

if TYPE_CHECKING:
    from transformer.analysis.alignment import WordPair
    from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures
    from transformer.analysis.source_share import SourceShares

TITLE = "Which words belong together"
NOTE = (
    "The wider a link, the stronger. {dashed}Hover over a word for its numbers; click to keep them."
)
DASHED = "a weaker, one-sided match"


def word_texts(pieces: Sequence[tokenizer.Piece]) -> list[str]:
    """Return the words of a sentence as typed, by number, without the final `</s>`."""
    words = groupby((p for p in pieces if p.id != config.EOS), key=lambda piece: piece.word)
    texts = ("".join(piece.text for piece in word) for _, word in words)
    # a word that is a space and nothing else still needs a label
    return [text.replace(tokenizer.WORD_START, " ").strip() or "␣" for text in texts]


def error_text(gold: GoldFigures) -> str:
    """Describe the error of links that was measured on gold text, and which text that is."""
    sentences = formatting.counted(gold.sentences, "hand-aligned sentence")
    return (
        f"{gold.aer:.0f} % alignment error on {sentences} ({gold.name}); the map was chosen on "
        f"them, so expect more elsewhere"
    )


def map_text(settings: AlignmentSettings) -> str:
    """Name the map that links are read from, with its lens unless it is the weights."""
    layer, lens = settings.layer, settings.lens
    place = (
        f"all cross-attention heads of layer {layer + 1}"
        if settings.head is None
        else labels.named_head("cross", layer, settings.head)
    )
    return place if lens == "weights" else f"{place} (lens: {LENS_NAMES[lens]})"


def encode_links(
    source: Sequence[str],
    target: Sequence[str],
    pairs: Sequence[WordPair],
    *,
    title: str = TITLE,
    mutual: Collection[WordPair],
    made_by: str,
    languages: Languages,
    dashed: str = DASHED,
    shares: SourceShares | None = None,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode the words of both sentences, and a link for each pair.

    Pairs are numbers of words from 0, each with a strength of 0 or more. Those
    that are not `mutual` are dashed, and `dashed` explains that. `made_by` is layer, head, row and
    lens in a line. `shares`, by words and maybe with `</s>`, become a bar under each word.
    """
    sides = {side: languages.name(side) for side in get_args(Side)}
    message: dict[str, Any] = {
        "title": title,
        "madeBy": made_by,
        "note": NOTE.format(dashed=f"Dashed: {dashed}. " if {*pairs} - {*mutual} else ""),
        "color": palette.COLOR["cross"],
        "source": list(source),
        "target": list(target),
        "languages": [*map(labels.capitalised, sides.values())],
        "links": [{**pair._asdict(), "mutual": pair in mutual} for pair in pairs],
        "shares": shares
        and {
            "source": shares.used[: len(source)].astype(np.float32),
            "target": shares.from_source[: len(target)].astype(np.float32),
            "onSinks": shares.on_sinks[: len(target)].astype(np.float32),
        },
    }
    return wire.encode_picture("word_links", caption, message)
