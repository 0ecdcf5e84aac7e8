"""Weights of any model as a trace: arrays and tokens are checked and put together."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from transformer.arrays import Singles
from transformer.choices import check_choices
from transformer.errors import InputError, quoted
from transformer.kinds import KIND_TITLES, KINDS, Kind, axes
from transformer.text.languages import Languages
from transformer.text.special_tokens import SpecialTokens
from transformer.text.tokenizer import Piece
from transformer.traces import external_tokens, notes
from transformer.traces.fields import MAX_BYTES, MAX_HEADS, MAX_LAYERS, TraceFields
from transformer.traces.vocabulary import Vocabulary

Given: TypeAlias = Mapping[Kind, Any]
"""What was given for each kind; None for one that is not there."""

_MAX_NUMBERS = MAX_BYTES // np.dtype(np.float32).itemsize
_ROUNDING = 1e-6


@check_choices
@dataclass(frozen=True, kw_only=True)
class TraceOptions:
    """All that is given beside the weights, as `AttentionTrace.from_huggingface` names it."""

    tokens: Any = None
    decoder_tokens: Any = None
    target_tokens: Any = None
    source: str = ""
    target: str = ""
    languages: Languages | None = None
    second_start: Any = None
    tokenizer: Any = None
    attention_mask: Any = None
    decoder_attention_mask: Any = None
    index: Any = None
    kinds: Collection[Kind] | None = None
    config: Any = None
    normalized: bool = True


def fields_of_arrays(
    given: Given, options: TraceOptions, vocabulary: Vocabulary | None = None
) -> TraceFields:
    """Check arrays and tokens and combine them.

    `given` has the weights of each kind, `[layer, head, query, key]`, or a list in which None
    stands for a layer without weights. Options of a tokenizer or a batch are not read.
    """
    vocabulary = vocabulary or Vocabulary()
    languages = options.languages
    if languages is not None and not isinstance(languages, Languages):
        raise InputError(
            f"The languages are {quoted(languages)}: give Languages(source, target), two names."
        )
    kinds = [kind for kind in KINDS if given.get(kind) is not None]
    if not kinds:
        raise InputError(
            "There are no weights to make a trace of: give encoder_self, decoder_self or cross."
        )
    layers = {kind: _layers_of(given[kind], kind) for kind in kinds}
    texts, writes, reads = (
        external_tokens.checked_tokens(() if tokens is None else tokens, side)
        for tokens, side in (
            (options.tokens, "source"),
            (options.target_tokens, "target"),
            (options.decoder_tokens, "decoder"),
        )
    )
    known = SpecialTokens.among((*texts, *writes, *reads), vocabulary.special, vocabulary.ends)
    has_texts = options.tokens is not None  # frames of sound have none
    if has_texts:
        sources = external_tokens.pieces_of(texts, known, vocabulary.every, vocabulary.added)
    else:
        both = (*layers.get("encoder_self", ()), *layers.get("cross", ()))
        sources = external_tokens.number_positions(both[0].shape[2] if both else 0)
    targets, decoders, whole = _decoder_pieces(writes, reads, known, vocabulary)
    _require_fitting(layers, sources, targets, decoders)
    if options.normalized:
        _require_weights(layers)
    arrays: dict[Any, Any] = {
        kind: _stacked(layers.get(kind, []), *axes(kind, len(sources), len(decoders or targets)))
        for kind in KINDS
    }
    counts = {kind: tuple(map(len, per_layer)) for kind, per_layer in layers.items()}
    causal = not any(np.triu(layer, 1).any() for layer in layers.get("decoder_self", ()))
    return TraceFields(
        source=_text(options.source, "source")
        or (external_tokens.text_of(sources, known) if has_texts else ""),
        target=_text(options.target, "target") or external_tokens.text_of(whole, known),
        source_pieces=sources,
        target_pieces=targets,
        **arrays,
        log_probs=np.zeros(0, np.float32),
        languages=languages or Languages("", ""),
        read_pieces=decoders,
        head_counts={
            kind: per_layer for kind, per_layer in counts.items() if len(set(per_layer)) > 1
        },
        special=known,
        causal=causal,
        second_start=_checked_start(options.second_start, layers, len(sources)),
        notes=notes.notes_on(layers),
    )


def _decoder_pieces(
    writes: Sequence[str],
    reads: Sequence[str],
    special: SpecialTokens,
    vocabulary: Vocabulary,
) -> tuple[tuple[Piece, ...], tuple[Piece, ...], tuple[Piece, ...]]:
    """Return the pieces that the decoder writes, those that it reads, and those of its text."""

    def pieces(tokens: Sequence[str]) -> tuple[Piece, ...]:
        return external_tokens.pieces_of(tokens, special, vocabulary.every, vocabulary.added)

    if not writes or reads[1:] != writes[:-1] or len(reads) != len(writes):
        written, read = pieces(writes), pieces(reads)
        return written, read, written or read
    # one text, one step apart: what is written first may be the rest of a word that was read
    whole = pieces((*reads, writes[-1]))
    first = whole[1].word
    written = tuple(Piece(piece.id, piece.text, piece.word - first) for piece in whole[1:])
    return written, whole[:-1], whole


def _layers_of(given: Any, kind: Kind) -> list[Singles]:
    """Convert the layers of one kind, each `[head, query, key]`, to float32 and check them."""
    title = KIND_TITLES[kind]
    if isinstance(given, np.ndarray) and given.dtype == object:  # as NumPy stores a list of layers
        given = given.tolist()
    in_layers = isinstance(given, (list, tuple))
    whole = given if in_layers else as_array(given, title)
    if not in_layers and whole.ndim != 4:
        raise InputError(
            f"The {title} has {_axes_of(whole)}, and not 4: give [layer, head, query, key] of "
            f"a single sentence, or a list of [head, query, key]."
        )
    if not len(whole):
        raise InputError(f"The {title} is empty: leave out a kind that has no layers.")
    if len(whole) > MAX_LAYERS:
        raise InputError(
            f"The {title} has {len(whole):,} layers, and up to {MAX_LAYERS:,} are kept: give fewer."
        )
    _require_bounded(title, sum(math.prod(getattr(layer, "shape", ())) for layer in whole))
    gaps = any(layer is not None for layer in whole)
    layers = {
        n: as_array(layer, f"{title} of layer {n}")
        for n, layer in enumerate(whole, start=1)
        if not (gaps and layer is None)
    }
    for number, layer in layers.items():
        if layer.ndim != 3:
            raise InputError(
                f"The {title} of layer {number} has {_axes_of(layer)}, and not 3: give "
                f"[head, query, key] for each layer, of a single sentence."
            )
        if not layer.size:
            raise InputError(
                f"The {title} of layer {number} is empty, of shape {[*layer.shape]}: leave out "
                f"a kind of attention that has no weights."
            )
        if len(layer) > MAX_HEADS:
            raise InputError(
                f"The {title} of layer {number} has {len(layer):,} heads, and up to {MAX_HEADS:,} "
                f"are kept: give fewer."
            )
        _require_finite(layer, f"{title} L{number}")
    shapes = [layer.shape for layer in layers.values()]
    _require_bounded(title, len(whole) * math.prod(map(max, zip(*shapes, strict=True))))
    absent = np.zeros((0, *shapes[0][1:]), np.float32)
    return [layers.get(number, absent) for number in range(1, len(whole) + 1)]


def _require_bounded(name: str, count: int) -> None:
    """Raise InputError if there are more numbers than `load` reads, before they are copied."""
    if count > _MAX_NUMBERS:
        raise InputError(
            f"The {name} would be {count:,} numbers, and up to {_MAX_NUMBERS:,} are kept: give "
            f"fewer layers, or a shorter sentence."
        )


def as_array(given: Any, name: str) -> Singles:
    """Convert NumPy, torch or lists of any precision to float32; copies only where needed."""
    _require_bounded(name, math.prod(getattr(given, "shape", ())))
    try:
        if hasattr(given, "detach"):  # torch: NumPy has no bfloat16
            array = np.asarray(given.detach().cpu().float().numpy())
        elif isinstance(given, (list, tuple)) and any(hasattr(item, "detach") for item in given):
            array = np.stack([as_array(item, name) for item in given])
        else:
            values = np.asarray(given)
            if values.dtype.kind in "OSUMmc":
                raise TypeError(f"it is of {values.dtype}")
            with np.errstate(over="ignore"):  # what becomes infinite is refused with its place
                array = values.astype(np.float32, copy=False)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:  # or a RecursionError
        raise InputError(
            f"The {name} is not an array of numbers: give NumPy or torch arrays, or lists of "
            f"numbers in rows of equal length."
        ) from error
    return array


def _axes_of(array: Singles) -> str:
    return f"{array.ndim} {'axis' if array.ndim == 1 else 'axes'}, {[*array.shape]}"


def _require_finite(layer: Singles, where: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(layer.sum()):  # one that is not would make the sum so
            return
    finite = np.isfinite(layer)
    if not finite.all():  # the sum alone may be too large
        head, query, key = (int(at[0]) for at in np.nonzero(~finite))
        raise InputError(
            f"The {where} H{head + 1} holds {layer[head, query, key]} in row {query + 1}, column "
            f"{key + 1}: a weight is a finite number, so look where the model computes it."
        )


def _require_weights(layers: Mapping[Kind, Sequence[Singles]]) -> None:
    """Raise InputError if there are values below 0, or rows beyond 1, as no softmax gives them."""
    for kind, maps in layers.items():
        for number, layer in enumerate(maps, start=1):
            with np.errstate(over="ignore", invalid="ignore"):
                sums = layer.sum(-1)
            if layer.size and layer.min() < -_ROUNDING:
                head, query, _ = np.unravel_index(layer.argmin(), layer.shape)
                place = f"holds {layer.min():.3g}"
            elif sums.size and sums.max() > 1 + notes.TOLERANCE:
                head, query = np.unravel_index(sums.argmax(), sums.shape)
                place = f"sums to {sums.max():.3g}"
            else:
                continue
            raise InputError(
                f"The {KIND_TITLES[kind]} L{number} H{head + 1} {place} in row {query + 1}, and "
                f"weights are from 0 to 1 in all: give what the softmax returns, without dropout, "
                f"or normalized=False to draw other numbers."
            )


def _require_fitting(
    layers: Mapping[Kind, Sequence[Singles]],
    source: Sequence[Piece],
    target: Sequence[Piece],
    decoder: Sequence[Piece],
) -> None:
    """Raise InputError unless every layer has the axes that the tokens give it."""
    if target and decoder and len(target) != len(decoder):
        raise InputError(
            f"The decoder has {len(decoder)} tokens that it reads and {len(target)} that it "
            f"writes: give one of each for every position, the same sequence one step apart."
        )
    named: dict[Kind, Any] = {"decoder_self": decoder, "cross": decoder or target}
    for kind, tokens in named.items():
        if kind in layers and not tokens:
            raise InputError(
                f"There are no tokens for the rows of {KIND_TITLES[kind]}: give decoder_tokens, "
                f"what the decoder reads at each position; cross-attention can do with "
                f"target_tokens, what it writes there."
            )
    for kind, kind_layers in layers.items():
        wanted = axes(kind, len(source), len(decoder or target))
        for number, layer in enumerate(kind_layers, start=1):
            if layer.shape[1:] != wanted:
                rows, columns = layer.shape[1:]
                raise InputError(
                    f"{KIND_TITLES[kind].capitalize()} L{number} has {rows} rows and {columns} "
                    f"columns, but tokens for {wanted[0]} and {wanted[1]}: give one token for each "
                    f"row and column, and a row for each token that attends."
                )


def _checked_start(start: Any, layers: Mapping[Kind, Any], count: int) -> int | None:
    """Check the position at which the second text of a pair begins, among `count` tokens."""
    if start is None:
        return None
    if "encoder_self" not in layers:
        raise InputError(
            "A pair of texts is looked at in encoder self-attention, which is not there: leave out "
            "second_start."
        )
    whole = isinstance(start, (int, np.integer)) and not isinstance(start, bool)
    if not whole or not 0 < start < count:
        raise InputError(
            f"The second text of {count:,} tokens cannot begin at {quoted(start)}: give "
            f"second_start from 1 to {count - 1}, with the first token at 0."
        )
    return int(start)


def _stacked(layers: Sequence[Singles], rows: int, columns: int) -> Singles:
    """Stack layers to `[layer, head, query, key]`; absent heads of a layer are zeros."""
    heads = max(map(len, layers), default=0)
    stacked = np.zeros((len(layers), heads, rows, columns), np.float32)
    for place, layer in zip(stacked, layers, strict=True):
        place[: len(layer)] = layer
    return stacked


def _text(text: object, side: str) -> str:
    if not isinstance(text, str):
        raise InputError(f"The text of the {side} is {quoted(text)}: give a string.")
    external_tokens.require_whole_characters(text, f"The text of the {side}")
    return text
