"""A tokenizer of transformers: names of ids, special tokens, the whole vocabulary."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from unicodedata import category

from transformer.errors import InputError
from transformer.traces.external_tokens import checked_tokens


class Vocabulary:
    """A tokenizer of transformers, or a processor that has one: all that is asked of it."""

    def __init__(self, tokenizer: Any = None) -> None:
        if not hasattr(tokenizer, "convert_ids_to_tokens"):
            tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        if tokenizer is not None and not hasattr(tokenizer, "convert_ids_to_tokens"):
            raise InputError(
                f"A {type(tokenizer).__name__} cannot name ids, having no convert_ids_to_tokens: "
                f"give the tokenizer of the model, or tokens as texts."
            )
        self._tokenizer = tokenizer

    def texts(self, ids: Sequence[int], side: str) -> tuple[str, ...]:
        """Return the tokens of ids; a `side` of another name than “source” is of the target."""
        if self._tokenizer is None:
            raise InputError(
                f"The tokens of the {side} are ids, and there is no tokenizer to name them: give "
                f"tokenizer=, or the tokens as texts, of generate as decoder_tokens."
            )
        try:
            names = self._tokenizer.convert_ids_to_tokens([*ids])
        except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"The tokenizer does not know all ids of the {side}: give the one of this model."
            ) from error
        encoder = self._get("encoder")
        if side == "source" and isinstance(encoder, Mapping):
            # of a Marian tokenizer, whose ids belong to its target vocabulary
            source = {number: text for text, number in encoder.items()}
            names = [source.get(id_, name) for id_, name in zip(ids, names, strict=True)]
        if None in names:
            raise InputError(
                f"The tokenizer has no token {ids[names.index(None)]}, which is one of the {side}: "
                f"give the tokenizer of this model."
            )
        return tuple(map(_readable, checked_tokens(names, side)))

    @property
    def added(self) -> Collection[str] | None:
        """The tokens that were added to the vocabulary as text; None where that is not known."""
        return getattr(self._tokenizer, "get_added_vocab", lambda: None)()

    @property
    def special(self) -> frozenset[str]:
        """Tokens that stand for no text; an unknown word and a mask stand for some."""
        every = self._get("all_special_tokens", ())
        text = {self._get("unk_token"), self._get("mask_token")}
        structure = {self._get(f"{name}_token") for name in ("bos", "eos", "sep", "cls", "pad")}
        return frozenset(
            _readable(token)
            for token in every
            if (token not in text or token in structure) and not token.startswith("<extra_id_")
        )

    @property
    def ends(self) -> frozenset[str]:
        """The tokens among these that end a sentence or stand between two."""
        tokens = (self._get("eos_token"), self._get("sep_token"))
        return frozenset(_readable(token) for token in tokens if token is not None)

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


def _readable(token: str) -> str:
    """Name a character without a form, as the special tokens of CANINE are, by its number."""
    return f"<U+{ord(token):04X}>" if len(token) == 1 and category(token) == "Co" else token
