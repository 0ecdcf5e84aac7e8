"""The attention of one forward pass: every head's weights, with the tokens they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from transformer import special_tokens
from transformer.config import BOS, EOS
from transformer.errors import InputError, quoted
from transformer.given_traces import GivenTraces
from transformer.kinds import KINDS, Kind, require_kind
from transformer.languages import OURS, Languages
from transformer.special_tokens import SpecialTokens
from transformer.tokenizer import SPECIAL, Piece

if TYPE_CHECKING:
    import pandas as pd

Weights: TypeAlias = npt.NDArray[np.float32]

MAX_BYTES = 2**31
"""Of a file that is loaded, unpacked: 24 layers of 16 heads over 512 tokens have 0.4 GB of each
kind, 512 × 512 pieces 25 MB of all three for each layer of eight heads."""


class Labels(NamedTuple):
    """The tokens along the two axes of a map."""

    queries: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AttentionTrace(GivenTraces):
    """The attention of one pass of a model over its tokens: ours, or anybody's.

    Position i of the decoder reads `decoder_tokens[i]` and writes `target_tokens[i]`: the same
    sequence, one step apart (§3.1, "shifted right"). A kind of attention that a model does not have
    has no layers: `cross` is `[0, 0, target, source]` for a model that is an encoder alone.

    Args:
        source: the text as it was typed.
        target: the translation that was found or given.
        source_pieces: what the encoder reads, with `</s>` where the model reads it.
        target_pieces: what the decoder writes; none where that is not known.
        encoder_self: `[layer, head, source, source]`, float32; each row sums to 1, or `notes` says
            that it does not.
        decoder_self: `[layer, head, target, target]`, zero above the diagonal if `causal`.
        cross: `[layer, head, target, source]`.
        log_probs: `[target]`, natural logarithm of the probability of each written piece; `[0]`
            where that is not known.
        languages: of the two sides, unnamed where they are not known.
        read_pieces: what the decoder reads; None where this is `<s>` and then what it wrote; none
            where it is not known.
        head_counts: the heads of each layer, of a kind whose layers differ in it; what the array
            has beyond them is 0.
        special: the tokens that stand for no text.
        causal: whether a decoder position sees only itself and what stands before it.
        second_start: the source position at which the second text of a pair begins, as an encoder
            such as BERT reads two; None where there is one.
        notes: sentences that whoever sees the weights should read.
    """

    source: str
    target: str
    source_pieces: tuple[Piece, ...]
    target_pieces: tuple[Piece, ...]
    encoder_self: Weights
    decoder_self: Weights
    cross: Weights
    log_probs: Weights
    languages: Languages = OURS
    read_pieces: tuple[Piece, ...] | None = None
    head_counts: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict)
    special: SpecialTokens = special_tokens.OURS
    causal: bool = True
    second_start: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that are there, in the order of `KINDS`."""
        return tuple(kind for kind in KINDS if len(self.weights(kind)))

    @property
    def source_tokens(self) -> tuple[str, ...]:
        """What the encoder reads."""
        return tuple(piece.text for piece in self.source_pieces)

    @property
    def target_tokens(self) -> tuple[str, ...]:
        """What the decoder writes at each position; none where that is not known."""
        return tuple(piece.text for piece in self.target_pieces)

    @property
    def decoder_pieces(self) -> tuple[Piece, ...]:
        """What the decoder reads at each position: `<s>`, then the piece before, unless given."""
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
        """Whether it is known what the decoder writes at each position."""
        return bool(self.target_pieces)

    @property
    def reads_known(self) -> bool:
        """Whether it is known what the decoder reads at each position."""
        return bool(self.decoder_pieces)

    def weights(self, kind: Kind) -> Weights:
        """All weights of one kind, `[layer, head, query, key]`."""
        weights: Weights = getattr(self, kind)
        return weights

    def head_count(self, kind: Kind) -> tuple[int, ...]:
        """The number of heads of each layer."""
        layers, heads = self.weights(kind).shape[:2]
        return self.head_counts.get(kind, (heads,) * layers)

    def has_head(self, kind: Kind) -> npt.NDArray[np.bool_]:
        """Which heads of the array are there, `[layer, head]`."""
        counts = np.array(self.head_count(kind), dtype=int)
        return np.arange(self.weights(kind).shape[1]) < counts[:, None]

    def labels(self, kind: Kind, queries: Literal["reads", "writes"] | None = None) -> Labels:
        """The tokens along the axes of one kind of map.

        Args:
            queries: name a decoder position by the token that it reads or by the one that it
                writes; by default, by the one that it writes where the keys are the source,
                and by the one that it reads where the keys are its own inputs; by the one that is
                known where only one of them is.

        Raises:
            InputError: if that is asked for which is not known; if there is no such kind or choice
                of `queries`.
        """
        require_kind(kind)
        if queries not in (None, "reads", "writes"):
            raise InputError(
                f"The rows cannot be named by {quoted(queries)}: choose reads, writes or None."
            )
        if kind == "encoder_self":
            return Labels(self.source_tokens, self.source_tokens)
        asked = queries is not None
        if queries is None:
            by_writing = self.writes_known if kind == "cross" else not self.reads_known
            queries = "writes" if by_writing else "reads"
        rows = self.target_tokens if queries == "writes" else self.decoder_tokens
        if asked and not rows:
            raise InputError(
                f"It is not known what the decoder {queries} at each position of this trace: name "
                f"the rows by what it {'reads' if queries == 'writes' else 'writes'}."
            )
        return Labels(rows, self.source_tokens if kind == "cross" else self.decoder_tokens)

    def to_frame(self) -> pd.DataFrame:
        """One row for each weight: kind, layer, head, positions, tokens, weight; all from 0."""
        import pandas as pd  # a machine that trains need not have it

        frames = [pd.DataFrame(self._columns(kind)) for kind in self.kinds]
        return pd.concat(frames, ignore_index=True)

    def _columns(self, kind: Kind) -> dict[str, Any]:
        weights, labels = self.weights(kind), self.labels(kind)
        layers, heads = np.nonzero(self.has_head(kind))
        cells = np.indices(weights.shape[2:]).reshape(2, -1)
        size = cells.shape[1]
        query, key = (np.tile(axis, len(layers)) for axis in cells)
        return {
            "kind": kind,
            "layer": np.repeat(layers, size),
            "head": np.repeat(heads, size),
            "query": query,
            "key": key,
            "query_token": np.array(labels.queries, dtype=object)[query],
            "key_token": np.array(labels.keys, dtype=object)[key],
            "weight": weights[layers, heads].ravel(),
        }

    def save(self, path: str | Path) -> None:
        """Write everything to an NPZ file, which `load` and plain NumPy read."""
        from transformer import trace_file

        trace_file.write(self, path)

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int = MAX_BYTES) -> AttentionTrace:
        """Read what `save` wrote.

        Args:
            max_bytes: size up to which the file is read, packed and unpacked.

        Raises:
            CheckpointError: if the file is not such a trace, or larger.
        """
        from transformer import trace_file

        return trace_file.read(path, max_bytes=max_bytes)


def with_end(pieces: list[Piece]) -> list[Piece]:
    """Append `</s>`, a word of its own."""
    return [*pieces, Piece(EOS, SPECIAL[EOS], pieces[-1].word + 1 if pieces else 0)]
