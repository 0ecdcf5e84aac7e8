"""Word ↔ word between a sentence and its translation: data for `viz/browser/word_links`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer import config
from transformer.text import tokenizer
from viz.draw import formatting, labels, wire
from viz.draw.caption import LENS_NAMES

if TYPE_CHECKING:
    from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures
    from transformer.analysis.source_share import SourceShares

TITLE = "Which words belong together"


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
    trace: str | Mapping[str, Any],
    about: Mapping[str, Any],
    links: Sequence[Mapping[str, Any]],
    *,
    title: str = TITLE,
    made_by: str,
    dashed: str = "",
    shares: SourceShares | None = None,
    parts: Sequence[str] = (),
) -> bytes:
    """Encode `links`, as `trace_message.word_links` returns them, of a trace or its name.

    `dashed` explains those that are not mutual. `made_by` is layer, head, row and lens in a line,
    and `parts` stand in the caption. `shares`, by words and maybe with `</s>`, become a bar under
    each word.
    """
    return wire.encode({
        "component": "word_links",
        "trace": trace,
        "about": about,
        "links": list(links),
        "title": title,
        "madeBy": made_by,
        "dashed": dashed,
        "shares": shares
        and {
            "source": shares.used.astype(np.float32),
            "target": shares.from_source.astype(np.float32),
            "onSinks": shares.on_sinks.astype(np.float32),
        },
        "parts": list(parts),
    })  # fmt: skip
