"""The attention of one forward pass: every head's weights, with the tokens they belong to."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from transformer.choices import require_choice
from transformer.errors import InputError
from transformer.kinds import KINDS, ROWS, Kind, Row
from transformer.text.languages import Languages
from transformer.traces.fields import MAX_BYTES, TraceFields

if TYPE_CHECKING:
    import pandas as pd


class Labels(NamedTuple):
    """The tokens along the two axes of a map."""

    queries: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class AttentionTrace(TraceFields):
    """The attention of one pass over a sentence pair or a text, in our model or an external one.

    Make one with `Translator.trace`, `from_arrays`, `from_huggingface` or `load`. For its fields,
    see `TraceFields`.
    """

    @classmethod
    def from_fields(cls, fields: TraceFields) -> "AttentionTrace":
        """Make a trace of the fields that a builder returned."""
        return cls(**vars(fields))

    @classmethod
    def from_arrays(
        cls,
        *,
        encoder_self: Any = None,
        decoder_self: Any = None,
        cross: Any = None,
        source_tokens: Sequence[str] | None = None,
        target_tokens: Sequence[str] | None = None,
        decoder_tokens: Sequence[str] | None = None,
        source: str = "",
        target: str = "",
        languages: Languages | None = None,
        second_start: int | None = None,
        normalized: bool = True,
    ) -> "AttentionTrace":
        """Make a trace from the weights of any model, for one to three kinds, and their tokens.

        Give each kind as an array `[layer, head, query, key]`, or as a sequence of
        `[head, query, key]`, in which layers can have different head counts and None is a layer
        without attention. Arrays of NumPy or torch in any precision and lists of numbers are
        accepted; the trace stores float32.

        Args:
            encoder_self: weights over `source_tokens` on both axes.
            decoder_self: weights over `decoder_tokens` on both axes, with or without a causal mask.
            cross: weights from the decoder's positions to `source_tokens`.
            source_tokens: the tokens that the encoder reads. Parts of words are recognised by the
                marks of their tokenizer (`▁`, `Ġ`, `##`, `@@`, `</w>`); without any, each token is
                a word.
            target_tokens: the tokens that the decoder writes at each position.
            decoder_tokens: the tokens that the decoder reads at each position; with teacher
                forcing, `target_tokens` shifted right by one (§3.1).
            source: the source text; by default, joined from the tokens.
            target: the target text; by default, joined from the tokens.
            languages: the two languages; by default, unnamed.
            second_start: the position in `source_tokens` at which the second text of a pair
                begins: the explorer then offers its four parts, such as first → second.
            normalized: whether to refuse values below 0 and rows that sum to more than 1, which no
                softmax gives; otherwise `notes` names them.

        Raises:
            InputError: if there are no weights; if the tokens do not fit the arrays; if a value is
                no number or no weight. If a row sums to less than 1, `notes` says so.
        """
        from transformer.traces.from_arrays import TraceOptions, fields_of_arrays

        options = TraceOptions(
            tokens=source_tokens,
            target_tokens=target_tokens,
            decoder_tokens=decoder_tokens,
            source=source,
            target=target,
            languages=languages,
            second_start=second_start,
            normalized=normalized,
        )
        given: dict[Kind, Any] = {
            "encoder_self": encoder_self, "decoder_self": decoder_self, "cross": cross,
        }  # fmt: skip
        return cls.from_fields(fields_of_arrays(given, options))

    @classmethod
    def from_huggingface(
        cls,
        outputs: Any,
        tokens: Any = None,
        decoder_tokens: Any = None,
        *,
        tokenizer: Any = None,
        target_tokens: Any = None,
        attention_mask: Any = None,
        decoder_attention_mask: Any = None,
        index: int | None = None,
        kinds: Collection[Kind] | None = None,
        source: str = "",
        target: str = "",
        languages: Languages | None = None,
        second_start: int | None = None,
        config: Any = None,
        normalized: bool = True,
    ) -> "AttentionTrace":
        """Make a trace from the outputs of a model of the library transformers.

        The model needs `set_attn_implementation("eager")`, `output_attentions=True` and attentions
        `[batch, head, query, key]`; for others, use `from_arrays`. Tokens are texts, or ids and a
        `tokenizer`; of one sentence or of each of a batch::

            AttentionTrace.from_huggingface(bert(**inputs), inputs, tokenizer=tokenizer)
            AttentionTrace.from_huggingface(t5.generate(**inputs, …), inputs, tokenizer=tokenizer)

        Args:
            outputs: of a forward pass, as a ModelOutput (`return_dict=True`) or a dictionary of its
                fields, or the attentions of one stack alone; or of `generate` with
                `return_dict_in_generate=True`, greedy, sampled or with a beam, whose steps become
                one map for each head.
            tokens: what the encoder reads, or a model of one stack; or the model's inputs by name,
                with `input_ids`, `attention_mask`, `decoder_input_ids`, `token_type_ids`. Without
                any, the positions are numbered, as frames of sound are.
            decoder_tokens: what the decoder of an encoder-decoder reads in a forward pass. Of
                `generate`, the whole sequence, which `outputs` hold as ids.
            tokenizer: of transformers; also says which tokens are special.
            target_tokens: what the decoder writes at each position of a forward pass, if known.
            attention_mask: 0 where the tokens are padding, which is cut off.
            decoder_attention_mask: likewise, of `decoder_tokens`.
            index: of the sentence in the batch, or of the sequence that was generated, from 0.
            kinds: those that are read; all that are there unless given. A model of one stack whose
                rows see later ones is read as an encoder, and by `["decoder_self"]` as a decoder.
            source: the text; put together from the tokens unless given.
            target: likewise, of the decoder.
            languages: of the two sides; unnamed unless given.
            second_start: the position in `tokens`, padding included, at which the second text of a
                pair begins, in a model that is an encoder; found in `token_type_ids` where these
                are among the inputs.
            config: `model.config`, of a model of one stack: which layers have attention, in a
                hybrid model, and which look at an image, in Mllama. By default, the cache in the
                outputs tells the former.
            normalized: as in `from_arrays`.

        Raises:
            InputError: if there are no weights in it, as with fused attention; if it is a batch
                without an `index`; if tokens, mask and weights do not fit each other.
        """
        from transformer.traces.from_arrays import TraceOptions
        from transformer.traces.from_huggingface import fields_of_outputs

        options = TraceOptions(
            tokens=tokens,
            decoder_tokens=decoder_tokens,
            tokenizer=tokenizer,
            target_tokens=target_tokens,
            attention_mask=attention_mask,
            decoder_attention_mask=decoder_attention_mask,
            index=index,
            kinds=kinds,
            source=source,
            target=target,
            languages=languages,
            second_start=second_start,
            config=config,
            normalized=normalized,
        )
        return cls.from_fields(fields_of_outputs(outputs, options))

    def labels(self, kind: Kind, queries: Row | None = None) -> Labels:
        """Return the tokens along the axes of one kind of map.

        Args:
            kind: the kind of attention.
            queries: whether to name a decoder position by the token that it reads or that it
                writes. By default, it is named by what it writes in `cross`, by what it reads in
                `decoder_self`, and by the known token if only one is known.

        Raises:
            InputError: if the requested tokens are unknown; if there is no such kind or choice of
                `queries`.
        """
        require_choice("kind", kind, KINDS)
        if queries is not None:
            require_choice("queries", queries, ROWS)
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

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each weight: kind, layer, head, positions (from 0), tokens, weight."""
        import pandas as pd  # a machine that trains need not have it

        frames = [pd.DataFrame(self._columns(kind)) for kind in self.kinds]
        return pd.concat(frames, ignore_index=True)

    def _columns(self, kind: Kind) -> dict[str, Any]:
        weights, labels = self.weights(kind), self.labels(kind)
        layers, heads = np.nonzero(self.existing_heads(kind))
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
        from transformer.traces import npz

        npz.write(self, path)

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int = MAX_BYTES) -> "AttentionTrace":
        """Read what `save` wrote.

        Args:
            path: the NPZ file.
            max_bytes: size up to which the file is read, packed and unpacked.

        Raises:
            CheckpointError: if the file is not such a trace, or larger.
        """
        from transformer.traces import npz

        return cls.from_fields(npz.read(path, max_bytes=max_bytes))
