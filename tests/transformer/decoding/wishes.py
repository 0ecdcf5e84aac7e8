"""Forced and forbidden text for the tiny models, whose pieces get texts here."""

from transformer.config import EOS
from transformer.decoding import NEVER_WRITTEN, Constraints
from transformer.text.prefix import TextPrefix
from transformer.text.words import ForbiddenWords, words_in

SPECIAL = ("\0", "\0", "\0", "\0")


def forbid(words, texts, start=(), looks_ahead=False):
    given = ForbiddenWords.from_words(words, (*SPECIAL, *texts))
    return Constraints(tuple(start), given, looks_ahead=looks_ahead)


def begin(text, texts, words=()):
    vocab = (*SPECIAL, *texts)
    prefix = TextPrefix(text, vocab, (*NEVER_WRITTEN, EOS))
    return Constraints((), ForbiddenWords.from_words(words, vocab), prefix)


def text_of(tokens, texts):
    return "".join(texts[token - 4] for token in tokens if token != EOS)


def words_of(tokens, texts):
    return {match.group().strip() for match in words_in(text_of(tokens, texts))}
