"""The doors through which anybody's weights become a trace: the arguments, and what they mean."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer.kinds import Kind
    from transformer.languages import Languages
    from transformer.trace import AttentionTrace


class GivenTraces:
    """Of `AttentionTrace`, the ways to make one of what another program computed."""

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
    ) -> AttentionTrace:
        """Anybody's weights, of one, two or all three kinds, with the tokens of their axes.

        A kind is an array `[layer, head, query, key]`, or a sequence of `[head, query, key]` whose
        numbers of heads may differ: of NumPy or torch in any precision, or lists of numbers. They
        are kept in float32.

        Args:
            encoder_self: over `source_tokens` on both axes.
            decoder_self: over `decoder_tokens` on both axes, with a causal mask or without.
            cross: from the decoder's positions to `source_tokens`.
            source_tokens: what the encoder reads. Pieces of words are recognised by the marks of
                their tokenizer (`▁`, `Ġ`, `##`, `@@`, `</w>`); without any, each is a word.
            target_tokens: what the decoder writes at each position.
            decoder_tokens: what it reads there, of which `decoder_self` is; in a model that is
                trained with teacher forcing, `target_tokens` one step later (§3.1).
            source: the text; put together from the tokens unless given.
            target: likewise, of the decoder.
            languages: of the two sides; unnamed unless given.
            second_start: the position in `source_tokens` at which the second text of a pair
                begins: the explorer then offers its four parts, such as first → second.

        Raises:
            InputError: if there is no weight at all; if the tokens do not fit the arrays; if there
                is a value that is no number. Rows that do not sum to 1, and values below 0, stand
                in `notes`.
        """
        from transformer import given_arrays

        return given_arrays.trace_of(
            {"encoder_self": encoder_self, "decoder_self": decoder_self, "cross": cross},
            source_tokens=source_tokens,
            target_tokens=target_tokens,
            decoder_tokens=decoder_tokens,
            source=source,
            target=target,
            languages=languages,
            second_start=second_start,
        )

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
    ) -> AttentionTrace:
        """What a model of the library transformers looked at, in a pass or while it generated.

        The model needs `attn_implementation="eager"` and `output_attentions=True`. Tokens are
        texts, or ids and a `tokenizer`; of one sentence or of each of a batch.

            AttentionTrace.from_huggingface(bert(**inputs), inputs, tokenizer=tokenizer)
            AttentionTrace.from_huggingface(t5.generate(**inputs, …), inputs, tokenizer=tokenizer)

        Args:
            outputs: of a forward pass, as a ModelOutput or a tuple, or its attentions alone; or of
                `generate` with `return_dict_in_generate=True`, greedy, sampled or with a beam,
                whose steps become one map for each head.
            tokens: what the encoder reads, or a model of one stack; or the model's inputs by name,
                with `input_ids`, `attention_mask`, `decoder_input_ids`, `token_type_ids`. Without
                any, the positions are numbered, as frames of sound are.
            decoder_tokens: what the decoder of an encoder-decoder reads in a forward pass. Of
                `generate`, the whole sequence, which `outputs` hold as ids.
            tokenizer: has `convert_ids_to_tokens`; also says which tokens are special.
            target_tokens: what the decoder writes at each position of a forward pass, if known.
            attention_mask: 0 where the tokens are padding, which is cut off.
            decoder_attention_mask: likewise, of `decoder_tokens`.
            index: of the sentence in the batch, or of the sequence that was generated, from 0.
            kinds: those that are read; all that are there unless given.
            source: the text; put together from the tokens unless given.
            target: likewise, of the decoder.
            languages: of the two sides; unnamed unless given.
            second_start: the position in `tokens`, padding included, at which the second text of a
                pair begins, in a model that is an encoder; found in `token_type_ids` where these
                are among the inputs.

        Raises:
            InputError: if there are no weights in it, as with fused attention; if it is a batch
                without an `index`; if tokens, mask and weights do not fit each other.
        """
        from transformer import huggingface

        return huggingface.trace_of(
            outputs,
            tokens,
            decoder_tokens,
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
        )
