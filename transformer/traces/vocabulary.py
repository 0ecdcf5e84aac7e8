"""Tokenizers of other libraries: names of ids, special tokens, the whole vocabulary."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from transformer.errors import InputError
from transformer.traces.external_tokens import checked_tokens


class Vocabulary:
    """A tokenizer of transformers or of another library: all that is asked of it.

    An object with `convert_ids_to_tokens`, a processor that has such a tokenizer, a
    tokenizers.Tokenizer, SentencePieceProcessor or tiktoken.Encoding, or None.
    """

    def __init__(self, tokenizer: Any = None) -> None:
        inner = getattr(tokenizer, "tokenizer", None)
        if not hasattr(tokenizer, "convert_ids_to_tokens") and inner is not None:
            tokenizer = inner
        self._tokenizer = None if tokenizer is None else _adapted(tokenizer)

    def texts(self, ids: Sequence[int], side: str) -> tuple[str, ...]:
        """Return the tokens of ids; a `side` of another name than “source” is of the target."""
        if self._tokenizer is None:
            raise InputError(
                f"The tokens of the {side} are ids, and there is no tokenizer to name them: give "
                f"tokenizer=, or the tokens as texts."
            )
        try:
            names = self._tokenizer.convert_ids_to_tokens([*ids])
        except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"The tokenizer does not know all ids of the {side}: give the one of this model."
            ) from error
        if side == "source":
            names = [
                self._source_names.get(id_, name) for id_, name in zip(ids, names, strict=True)
            ]
        if None in names:
            raise InputError(
                f"The tokenizer has no token {ids[names.index(None)]}, which is one of the {side}: "
                f"give the tokenizer of this model."
            )
        return checked_tokens(names, side)

    @cached_property
    def _source_names(self) -> Mapping[int, str]:
        """The source's tokens by id: where a Marian has two vocabularies, ids name the target's."""
        encoder = self._get("encoder")
        return {n: text for text, n in encoder.items()} if isinstance(encoder, Mapping) else {}

    @property
    def added(self) -> Collection[str]:
        """The tokens that were added to the vocabulary as text."""
        return getattr(self._tokenizer, "get_added_vocab", tuple)()

    @property
    def special(self) -> frozenset[str]:
        """Tokens that stand for no text; an unknown word and a mask stand for some."""
        every = self._get("all_special_tokens", ())
        text = {self._get("unk_token"), self._get("mask_token")}
        structure = {self._get(f"{name}_token") for name in ("bos", "eos", "sep", "cls", "pad")}
        return frozenset(
            token
            for token in every
            if (token not in text or token in structure) and not token.startswith("<extra_id_")
        )

    @property
    def ends(self) -> frozenset[str]:
        """The tokens among these that end a sentence or stand between two."""
        tokens = (self._get("eos_token"), self._get("sep_token"))
        return frozenset(token for token in tokens if token is not None)

    def every(self) -> Iterable[str]:
        """List all tokens, if the tokenizer has such a list."""
        return getattr(self._tokenizer, "get_vocab", tuple)()

    def end_of(self, generated: Sequence[int]) -> int:
        """Count the generated ids that are the sequence, and no padding after it."""
        end, pad = self._get("eos_token_id"), self._get("pad_token_id")
        if end in generated:
            return generated.index(end) + 1
        length = len(generated)
        while length > 1 and pad is not None and generated[length - 1] == pad:
            length -= 1
        return length

    def _get(self, name: str, default: Any = None) -> Any:
        return getattr(self._tokenizer, name, default)


def _adapted(tokenizer: Any) -> Any:
    """Give the tokenizer of another library the names that those of transformers have."""
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return tokenizer
    if hasattr(tokenizer, "id_to_token"):  # tokenizers.Tokenizer
        added = [*tokenizer.get_added_tokens_decoder().values()]
        unknown = getattr(tokenizer.model, "unk_token", None)
        return SimpleNamespace(
            convert_ids_to_tokens=lambda ids: [tokenizer.id_to_token(id_) for id_ in ids],
            get_vocab=tokenizer.get_vocab,
            get_added_vocab=lambda: [token.content for token in added],
            all_special_tokens=[token.content for token in added if token.special],
            unk_token=unknown,
        )
    if hasattr(tokenizer, "get_piece_size"):  # SentencePieceProcessor
        every = range(tokenizer.get_piece_size())
        return SimpleNamespace(
            convert_ids_to_tokens=tokenizer.id_to_piece,
            get_vocab=lambda: tokenizer.id_to_piece([*every]),
            all_special_tokens=[tokenizer.id_to_piece(n) for n in every if tokenizer.is_control(n)],
            eos_token_id=tokenizer.eos_id(),
        )
    if hasattr(tokenizer, "decode_single_token_bytes"):  # tiktoken.Encoding
        special = tokenizer.special_tokens_set

        def name(id_: int) -> bytes | str:
            content = bytes(tokenizer.decode_single_token_bytes(id_))
            text = content.decode(errors="replace")
            return text if text in special else content

        return SimpleNamespace(
            convert_ids_to_tokens=lambda ids: [name(id_) for id_ in ids],
            all_special_tokens=special,
        )
    raise InputError(
        f"A {type(tokenizer).__name__} cannot name ids, having no convert_ids_to_tokens: give the "
        f"tokenizer of the model, or tokens as texts."
    )
