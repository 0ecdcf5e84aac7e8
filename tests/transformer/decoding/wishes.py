"""Forced and forbidden text for the tiny models, whose pieces get texts here."""

from transformer import config, decoding
from transformer.text.prefix import TextPrefix
from transformer.text.words import ForbiddenWords, words_in

SPECIAL = ("\0", "\0", "\0", "\0")


def forbid(words, texts, start=(), looks_ahead=False):
    given = ForbiddenWords.from_words(words, (*SPECIAL, *texts))
    return decoding.Constraints(tuple(start), given, looks_ahead=looks_ahead)


def begin(text, texts, words=()):
    vocab = (*SPECIAL, *texts)
    prefix = TextPrefix(text, vocab, (*decoding.NEVER_WRITTEN, config.EOS))
    return decoding.Constraints((), ForbiddenWords.from_words(words, vocab), prefix)


def text_of(tokens, texts):
    return "".join(texts[token - 4] for token in tokens if token != config.EOS)


def words_of(tokens, texts):
    return {match.group().strip() for match in words_in(text_of(tokens, texts))}
