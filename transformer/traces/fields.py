"""Fields of an attention trace, as its builders return them and its files hold them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from transformer.arrays import Bools, Singles
from transformer.config import BOS
from transformer.errors import quoted, shortened
from transformer.kinds import KINDS, Kind
from transformer.text import special_tokens
from transformer.text.languages import OURS, Languages, Side
from transformer.text.special_tokens import SpecialTokens
from transformer.text.tokenizer import SPECIAL, Piece

MAX_BYTES = 2**31
"""Of the weights of a trace: 24 layers of 16 heads over 512 tokens have 0.4 GB of each kind,
512 × 512 pieces 25 MB of all three for each layer of eight heads."""

MAX_LAYERS = MAX_HEADS = 1_024  # layers of a kind of attention, and heads of a layer


@dataclass(frozen=True, eq=False, repr=False)
class TraceFields:
    """Weights of every head in one pass of a model, with their tokens.

    Position i of the decoder reads `decoder_tokens[i]` and writes `target_tokens[i]`: the same
    sequence, one step apart (§3.1, "shifted right"). A kind of attention that the model does not
    have has no layers: without a decoder, `cross` is `[0, 0, target, source]`.

    Args:
        source: the text as typed.
        target: the translation, from the search or given.
        source_pieces: the pieces that the encoder reads, with `</s>` if the model reads it.
        target_pieces: the pieces that the decoder writes; empty if unknown.
        encoder_self: `[layer, head, source, source]`, float32; each row sums to 1, otherwise
            `notes` says so.
        decoder_self: `[layer, head, target, target]`, zero above the diagonal if `causal`.
        cross: `[layer, head, target, source]`.
        log_probs: `[target]`, the natural logarithm of the probability of each written piece;
            `[0]` if unknown.
        languages: the two languages; unnamed if unknown.
        read_pieces: the pieces that the decoder reads; None for `<s>` and then the written pieces;
            empty if unknown.
        head_counts: the number of heads of each layer, for a kind whose layers differ in it; the
            rest of the array is 0. A layer without attention, as in a hybrid model, has 0.
        special: the special tokens.
        causal: whether a decoder position sees only itself and earlier positions.
        second_start: the source position at which the second text of a pair begins, in an encoder
            such as BERT; None for a single text.
        notes: sentences to show beside the weights.
    """

    source: str
    target: str
    source_pieces: tuple[Piece, ...]
    target_pieces: tuple[Piece, ...]
    encoder_self: Singles
    decoder_self: Singles
    cross: Singles
    log_probs: Singles
    languages: Languages = OURS
    read_pieces: tuple[Piece, ...] | None = None
    head_counts: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict)
    special: SpecialTokens = special_tokens.OURS
    causal: bool = True
    second_start: int | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Name the texts and the shapes: the weights themselves fill many screens."""
        texts = [f"{side}={quoted(shortened(getattr(self, side), 60))}" for side in get_args(Side)]
        shapes = [f"{kind}={[*self.weights(kind).shape]}" for kind in self.kinds]
        return f"{type(self).__name__}({', '.join(texts + shapes)})"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that are there, in the order of `KINDS`."""
        return tuple(kind for kind in KINDS if len(self.weights(kind)))

    @property
    def source_tokens(self) -> tuple[str, ...]:
        """Tokens that the encoder reads."""
        return tuple(piece.text for piece in self.source_pieces)

    @property
    def target_tokens(self) -> tuple[str, ...]:
        """Tokens that the decoder writes at each position; empty if unknown."""
        return tuple(piece.text for piece in self.target_pieces)

    @property
    def decoder_pieces(self) -> tuple[Piece, ...]:
        """Pieces that the decoder reads: `<s>`, then the piece written before, unless given."""
        if self.read_pieces is not None:
            return self.read_pieces
        shifted = (Piece(p.id, p.text, p.word + 1) for p in self.target_pieces[:-1])
        return (Piece(BOS, SPECIAL[BOS], 0), *shifted) if self.target_pieces else ()

    @property
    def decoder_tokens(self) -> tuple[str, ...]:
        """The texts of `decoder_pieces`."""
        return tuple(piece.text for piece in self.decoder_pieces)

    @property
    def writes_known(self) -> bool:
        """True if the tokens that the decoder writes are known."""
        return bool(self.target_pieces)

    @property
    def reads_known(self) -> bool:
        """True if the tokens that the decoder reads are known."""
        return bool(self.decoder_pieces)

    def weights(self, kind: Kind) -> Singles:
        """Return the weights of one kind, `[layer, head, query, key]`."""
        weights: Singles = getattr(self, kind)
        return weights

    def head_count(self, kind: Kind) -> tuple[int, ...]:
        """Return the number of heads of each layer."""
        layers, heads = self.weights(kind).shape[:2]
        return self.head_counts.get(kind, (heads,) * layers)

    def existing_heads(self, kind: Kind) -> Bools:
        """Mark the heads of the array that exist, `[layer, head]`."""
        counts = np.array(self.head_count(kind), dtype=int)
        return np.arange(self.weights(kind).shape[1]) < counts[:, None]
