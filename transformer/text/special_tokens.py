"""Tokens that stand for no text: beginnings and ends, separators, padding, names of languages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from transformer.config import BOS, EOS
from transformer.text.tokenizer import SPECIAL

# `<s>`, `[CLS]`, `<|endoftext|>`; languages as MarianMT, NLLB, mBART, M2M100 and MADLAD name them
_LOOKS_SPECIAL = re.compile(
    r"</?(?:s|pad|bos|eos|cls|sep|start_of_turn|end_of_turn)>|\[(?:CLS|SEP|PAD|BOS|EOS)\]"
    r"|<\|[^|\s]+\|>|>>[^<>\s]*<<|[a-z]{2,3}_(?:[A-Z]{2}|[A-Z][a-z]{3})|__[a-z]{2,3}__|<2[a-z_]+>",
    re.ASCII,
)
_LOOKS_LIKE_END = re.compile(
    r"</s>|<eos>|<sep>|\[(?:SEP|EOS)\]|<end_of_turn>"
    r"|<\|(?:endoftext|end_of_text|im_end|eot_id|end|eom_id)\|>",
    re.ASCII,
)


@dataclass(frozen=True)
class SpecialTokens:
    """The special tokens of one trace, as they stand along its axes."""

    tokens: frozenset[str]  # no unknown word and no mask, which stand for text
    ends: frozenset[str]  # those that end a sentence or separate two: `</s>`, `[SEP]`

    @classmethod
    def among(
        cls, tokens: Iterable[str], known: Iterable[str] = (), ends: Iterable[str] = ()
    ) -> "SpecialTokens":
        """Select the tokens that are written as special ones, or that a tokenizer knows as such."""
        every, known_ends = frozenset(tokens), frozenset(ends)
        special = {t for t in every if looks_special(t)} | (every & frozenset(known))
        return cls(
            frozenset(special),
            frozenset(t for t in special if t in known_ends or _LOOKS_LIKE_END.fullmatch(t)),
        )


def looks_special(token: str) -> bool:
    """Return whether a token is written as the special tokens of common models are."""
    return _LOOKS_SPECIAL.fullmatch(token) is not None


OURS = SpecialTokens(frozenset({SPECIAL[BOS], SPECIAL[EOS]}), frozenset({SPECIAL[EOS]}))
"""Special tokens of the models that this program runs."""
