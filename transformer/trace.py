"""The attention of one forward pass: every head's weights, with the tokens they belong to."""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor

from transformer.config import BOS, EOS
from transformer.decoding.fast_step import FastDecoder, Patterns
from transformer.errors import CheckpointError, InputError
from transformer.kinds import KINDS, Kind, attention_name
from transformer.model import Transformer
from transformer.npz import TooLargeError, read_arrays
from transformer.tokenizer import SPECIAL, Piece

Weights: TypeAlias = npt.NDArray[np.float32]

# what NumPy, zipfile and json raise on a file that is cut, damaged or of another format
_FORMAT_ERRORS = (
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    RuntimeError,
    OverflowError,
    zipfile.BadZipFile,
    zlib.error,
)

MAX_BYTES = 2**30
"""Of a file that is loaded, unpacked; that of 512 × 512 pieces in the bundled model has 113 MB."""


class Labels(NamedTuple):
    """The tokens along the two axes of a map."""

    queries: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AttentionTrace:
    """The attention of one sentence pair in one teacher-forced pass.

    Position i of the decoder reads `decoder_tokens[i]` and writes `target_tokens[i]`: the same
    sequence, one step apart (§3.1, "shifted right").

    Args:
        source: the text as it was typed.
        target: the translation that was found or given.
        source_pieces: what the encoder reads, `</s>` last.
        target_pieces: what the decoder writes, `</s>` last unless the limit came first.
        encoder_self: `[layer, head, source, source]`, float32; each row sums to 1.
        decoder_self: `[layer, head, target, target]`, zero above the diagonal.
        cross: `[layer, head, target, source]`.
        log_probs: `[target]`, natural logarithm of the probability of each written piece.
    """

    source: str
    target: str
    source_pieces: tuple[Piece, ...]
    target_pieces: tuple[Piece, ...]
    encoder_self: Weights
    decoder_self: Weights
    cross: Weights
    log_probs: Weights

    @property
    def source_tokens(self) -> tuple[str, ...]:
        """What the encoder reads."""
        return tuple(piece.text for piece in self.source_pieces)

    @property
    def target_tokens(self) -> tuple[str, ...]:
        """What the decoder writes at each position."""
        return tuple(piece.text for piece in self.target_pieces)

    @property
    def decoder_tokens(self) -> tuple[str, ...]:
        """What the decoder reads at each position: `<s>`, then the token before."""
        return (SPECIAL[BOS], *self.target_tokens[:-1])

    def weights(self, kind: Kind) -> Weights:
        """All weights of one kind, `[layer, head, query, key]`."""
        weights: Weights = getattr(self, kind)
        return weights

    def labels(self, kind: Kind, queries: Literal["reads", "writes"] | None = None) -> Labels:
        """The tokens along the axes of one kind of map.

        Args:
            queries: name a decoder position by the token that it reads or by the one that it
                writes; by default, by the one that it writes where the keys are the source,
                and by the one that it reads where the keys are its own inputs.
        """
        if kind == "encoder_self":
            return Labels(self.source_tokens, self.source_tokens)
        if queries is None:
            queries = "writes" if kind == "cross" else "reads"
        rows = self.target_tokens if queries == "writes" else self.decoder_tokens
        return Labels(rows, self.source_tokens if kind == "cross" else self.decoder_tokens)

    def to_frame(self) -> pd.DataFrame:
        """One row for each weight: kind, layer, head, positions, tokens, weight; all from 0."""
        return pd.concat([self._frame(kind) for kind in KINDS], ignore_index=True)

    def _frame(self, kind: Kind) -> pd.DataFrame:
        weights, labels = self.weights(kind), self.labels(kind)
        layer, head, query, key = (axis.ravel() for axis in np.indices(weights.shape))
        return pd.DataFrame(
            {
                "kind": kind,
                "layer": layer,
                "head": head,
                "query": query,
                "key": key,
                "query_token": np.array(labels.queries, dtype=object)[query],
                "key_token": np.array(labels.keys, dtype=object)[key],
                "weight": weights.ravel(),
            }
        )

    def save(self, path: str | Path) -> None:
        """Write everything to an NPZ file, which `load` and plain NumPy read."""
        words = {
            "source": self.source,
            "target": self.target,
            "source_pieces": [[p.id, p.text, p.word] for p in self.source_pieces],
            "target_pieces": [[p.id, p.text, p.word] for p in self.target_pieces],
        }
        arrays: dict[str, Any] = {kind: self.weights(kind) for kind in KINDS}
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file, **arrays, log_probs=self.log_probs, words=np.array(json.dumps(words))
            )

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int = MAX_BYTES) -> AttentionTrace:
        """Read what `save` wrote.

        Args:
            max_bytes: size up to which the file is read, packed and unpacked.

        Raises:
            CheckpointError: if the file is not such a trace, or larger.
        """
        path = Path(path)
        try:
            arrays = read_arrays(path, (*KINDS, "log_probs", "words"), max_bytes=max_bytes)
            words = json.loads(str(arrays.pop("words")))
            read = cls(
                source=words["source"],
                target=words["target"],
                source_pieces=_pieces(words["source_pieces"]),
                target_pieces=_pieces(words["target_pieces"]),
                **arrays,
            )
            read._require_consistent()
            return read
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror or error}.") from error
        except TooLargeError as error:
            raise CheckpointError(f"{path} cannot be read: {error}.") from error
        except _FORMAT_ERRORS as error:
            raise CheckpointError(f"{path} is not a trace that was saved here.") from error

    def _require_consistent(self) -> None:
        """Raise ValueError unless each array has the shape that the pieces give it, and numbers."""
        "".join((self.source, self.target, *self.source_tokens, *self.target_tokens)).encode()
        source, target = len(self.source_pieces), len(self.target_pieces)
        layers, heads = self.cross.shape[:2]
        shapes = {
            "encoder_self": (layers, heads, source, source),
            "decoder_self": (layers, heads, target, target),
            "cross": (layers, heads, target, source),
            "log_probs": (target,),
        }
        for name, shape in shapes.items():
            array: Weights = getattr(self, name)
            if array.dtype != np.float32 or array.shape != shape or not array.size:
                raise ValueError(
                    f"{name} is {array.dtype} of {array.shape}, not float32 of {shape}"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds what is no number")


def _pieces(rows: list[list[Any]]) -> tuple[Piece, ...]:
    """Pieces from their JSON; raises TypeError or ValueError if they are none."""
    pieces = tuple(Piece(int(number), "" + text, int(word)) for number, text, word in rows)
    words = [piece.word for piece in pieces]
    if not set(words) <= set(range(len(words))) or words != sorted(words):
        raise ValueError("the words of the pieces are out of order")
    return pieces


@torch.inference_mode()
def trace(
    model: Transformer,
    source: str,
    target: str,
    source_pieces: list[Piece],
    target_pieces: list[Piece],
) -> AttentionTrace:
    """Run the model once over a sentence pair and keep the weights of every head.

    What a decoder position looks at depends on earlier positions alone, so one pass over the
    whole translation gives what each step of the search saw.

    Args:
        source_pieces: ending with `</s>`.
        target_pieces: what the decoder is to write.

    Raises:
        InputError: if a side is empty or longer than the model accepts.
    """
    if not source_pieces or not target_pieces:
        raise InputError("There is nothing to trace: give a sentence and its translation.")
    written = [piece.id for piece in target_pieces]
    read = [BOS, *written[:-1]]
    logits, patterns = _patterns(
        model,
        torch.tensor([[piece.id for piece in source_pieces]], device=model.device),
        torch.tensor([read], device=model.device),
    )
    log_p = logits[0].float().log_softmax(-1)  # [target, vocab]
    return AttentionTrace(
        source=source,
        target=target,
        source_pieces=tuple(source_pieces),
        target_pieces=tuple(target_pieces),
        **{kind: torch.cat(of).float().cpu().numpy() for kind, of in patterns.items()},
        log_probs=log_p[torch.arange(len(written)), written].cpu().numpy(),
    )


def _patterns(
    model: Transformer, source: Tensor, read: Tensor
) -> tuple[Tensor, dict[Kind, list[Tensor]]]:
    """Logits `[1, target, vocab]`, and the weights of each layer, `[1, head, query, key]`.

    Args:
        source: `[1, source]` token ids.
        read: `[1, target]` token ids that the decoder reads.
    """
    if FastDecoder.serves(model):
        patterns = Patterns()
        logits = FastDecoder(model, source, 1, patterns).start(read)
        return logits, {kind: patterns.of(kind) for kind in KINDS}
    logits, cache = model.run_with_cache(
        source, read, names=lambda name: name.endswith("hook_pattern")
    )
    names = {
        kind: [f"{attention_name(kind, n)}.hook_pattern" for n in range(model.config.N)]
        for kind in KINDS
    }
    return logits, {kind: [cache[name] for name in of] for kind, of in names.items()}


def with_end(pieces: list[Piece]) -> list[Piece]:
    """Append `</s>`, a word of its own."""
    return [*pieces, Piece(EOS, SPECIAL[EOS], pieces[-1].word + 1 if pieces else 0)]
