"""Alignment of the words of a translation with those of its source, by cross-attention.

A row of cross-attention can be read as the word that the decoder has just read or as the one that
it is about to write, one step apart (Garg et al. 2019, Chen et al. 2020, Kobayashi et al. 2020):
which layer, row and lens says most differs from model to model, so it is measured on gold links.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from transformer import choices, errors, kinds
from transformer.analysis import alignment_settings, lenses, teacher_forcing
from transformer.analysis.lenses import decomposition
from transformer.arrays import Singles
from transformer.config import EOS
from transformer.text.tokenizer import WORD_START, Piece, Tokenizer
from transformer.trace import AttentionTrace
from transformer.translator import Translator

Words = Literal["pieces", "typed"]
"""Words as the pieces number them, punctuation apart; or as `str.split()` cuts the text."""

NO_WORD = -1  # the word of `</s>`


class WordPair(NamedTuple):
    """A word of the translation and the one of the source that it comes from."""

    source: int  # numbers of the words, from 0
    target: int  # numbers of the words, from 0
    strength: float  # the share of the target word's row on the source word, 0 to 1


@choices.check_choices
def align(
    translator: Translator,
    trace: AttentionTrace,
    settings: alignment_settings.AlignmentSettings | None = None,
    *,
    words: Words = "pieces",
) -> tuple[WordPair, ...]:
    """Pair the words of a translation with those of its source.

    Args:
        translator: the model with its tokenizers.
        trace: the trace of the sentence and its translation.
        settings: the map, and the rule for its pairs; by default, those of the checkpoint.
        words: how words are counted: "pieces" makes punctuation a word of its own; "typed" splits
            at spaces, as gold links and other programs do.

    Returns:
        The pairs, in the order of the translation. A word of the translation can have no partner,
        and a word of the source several.

    Raises:
        InputError: if the model has no such layer or head, the lens has no heads, or the trace does
            not fit the model.
        CheckpointError: if the weights are so large that the result is not finite.
    """
    lenses.require_loaded(translator)
    chosen = alignment_settings.read_alignment(translator) if settings is None else settings
    return strongest(aligned_shares(translator, trace, chosen, words=words), chosen.links)


@choices.check_choices
def aligned_shares(
    translator: Translator,
    trace: AttentionTrace,
    chosen: alignment_settings.AlignmentSettings,
    *,
    words: Words = "pieces",
) -> Singles:
    """Compute the shares from which `align` takes the strongest, `[target word, source word]`."""
    lenses.require_loaded(translator)
    values = cross_values(translator, trace, chosen.lens, heads=chosen.head is not None)
    choices.require_number("layer", chosen.layer, len(values))
    choices.require_number("head", chosen.head or 0, values.shape[1])
    source, target = word_numbers(translator, trace, words)
    return word_shares(values[chosen.layer, chosen.head or 0], source, target, chosen.row)


def cross_values(
    translator: Translator, trace: AttentionTrace, name: lenses.LensName, *, heads: bool
) -> Singles:
    """Compute cross-attention through a lens, `[layer, head, query, key]`, or one head a layer.

    The norm of a layer is that of its heads' summed vectors (Kobayashi et al. 2020, §5).
    """
    if name == "norm" and not heads:
        measure = decomposition.block_measure(decomposition.norms_of_layer)
        norms = teacher_forcing.measure_layers(measure, translator.model, trace, ["cross"])["cross"]
        lenses.require_finite(norms, name, translator)
        return norms[:, None].astype(np.float32)
    values = lenses.lens(name, translator, trace, "cross")
    if name in lenses.HAS_HEADS:
        return values if heads else values.sum(1, keepdims=True)
    if heads:
        raise errors.InputError(f"The lens {name} does not tell heads apart: align by all heads.")
    return values[:, None]


@choices.check_choices
def word_numbers(
    translator: Translator, trace: AttentionTrace, words: Words
) -> tuple[list[int], list[int]]:
    """Return the number of each piece's word, of source and translation; `NO_WORD` at `</s>`."""
    if words == "typed":
        return (
            _typed_words(translator.tokenizer, trace.source, trace.source_pieces),
            _typed_words(translator.target_tokenizer, trace.target, trace.target_pieces),
        )
    sides = (trace.source_pieces, trace.target_pieces)
    source, target = ([NO_WORD if p.id == EOS else p.word for p in pieces] for pieces in sides)
    return source, target


def _typed_words(tokenizer: Tokenizer, text: str, pieces: Sequence[Piece]) -> list[int]:
    """Return the number in `text.split()` of the word that each piece is from.

    The normalisation of SentencePiece (NFKC) makes several words of some that were typed as one,
    such as `´a`, and none of others; no piece spans a space, so each word gives its own pieces.
    """
    own = [
        (piece.id, number)
        for number, word in enumerate(text.split())
        for piece in tokenizer.pieces(word)
        if _is_visible(piece)
    ]
    if [piece.id for piece in pieces if _is_visible(piece)] != [id_ for id_, _ in own]:
        return _written_words(pieces)
    numbers: list[int] = []
    word = NO_WORD
    for piece in reversed(pieces):  # a space alone belongs to the word after it
        if _is_visible(piece):
            word = own.pop()[1]
        numbers.append(word)
    return numbers[::-1]


def _written_words(pieces: Sequence[Piece]) -> list[int]:
    """Count the words as `_typed_words`, for pieces that need not be the tokenizer's choice."""
    numbers: list[int] = []
    word, is_empty = 0, True
    for piece in pieces:
        if piece.text.startswith(WORD_START) and not is_empty:
            word, is_empty = word + 1, True
        is_empty = is_empty and not _is_visible(piece)
        numbers.append(word)
    end = len(numbers)
    while end and not _is_visible(pieces[end - 1]):  # `</s>`, and a space before it
        end -= 1
    return numbers[:end] + [NO_WORD] * (len(numbers) - end)


def _is_visible(piece: Piece) -> bool:
    """Return whether a piece is part of a word, and neither `</s>` nor a space alone."""
    return piece.id != EOS and piece.text.strip(WORD_START) != ""


@choices.check_choices
def word_shares(
    values: Singles, source: Sequence[int], target: Sequence[int], row: kinds.Row
) -> Singles:
    """Sum over a key word's pieces, average over a query word's: `[target word, source word]`.

    `values` are `[query, key]`, of any lens. `source` has the word of each key, or `NO_WORD`, whose
    share is left out; `target` that of each written piece, which position i writes and i + 1 reads.
    """
    rows = lenses.as_rows(values)[1 if row == "reads" else 0 :]
    queries = _one_hot(target)[: len(rows)]  # [query, target word]
    pieces = np.maximum(queries.sum(0), 1)[:, None]
    return queries.T @ rows[: len(queries)] @ _one_hot(source) / pieces


def _one_hot(words: Sequence[int]) -> Singles:
    """Encode the words as `[piece, word]`, 1 where the piece is of the word."""
    numbers = np.array(words, dtype=np.int64)
    return (numbers[:, None] == np.arange(max(words) + 1)).astype(np.float32)


@choices.check_choices
def strongest(shares: Singles, links: alignment_settings.Links) -> tuple[WordPair, ...]:
    """Pair each target word with the source word of the largest of its shares, if any is above 0.

    `mutual` keeps the pairs in which the target word is also the one that has the largest share of
    the source word: the intersection of both directions (Och & Ney 2003).
    """
    if not shares.size:
        return ()
    best_source, best_target = shares.argmax(1), shares.argmax(0)
    return tuple(
        WordPair(int(source), target, float(shares[target, source]))
        for target, source in enumerate(best_source)
        if shares[target, source] > 0 and (links == "each" or best_target[source] == target)
    )


def pharaoh(pairs: Iterable[WordPair]) -> str:
    """Format pairs in the Pharaoh format: source-target, from 0, separated by spaces."""
    return " ".join(f"{pair.source}-{pair.target}" for pair in sorted(pairs))
