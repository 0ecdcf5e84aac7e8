"""Forced and forbidden text for the tiny models, whose pieces get texts here."""

from transformer.config import EOS
from transformer.decoding import NEVER_WRITTEN, Constraints
from transformer.decoding.constraints import ForbiddenText
from transformer.text.prefix import TextPrefix
from transformer.text.words import ForbiddenWords, words_in

SPECIAL = ("\0", "\0", "\0", "\0")


def forbid(words, texts, start=(), look_aheads=None):
    given = ForbiddenWords.from_words(words, (*SPECIAL, *texts))
    return Constraints(tuple(start), ForbiddenText(given, None, look_aheads))


def begin(text, texts, words=(), look_aheads=None):
    vocab = (*SPECIAL, *texts)
    prefix = TextPrefix(text, vocab, (*NEVER_WRITTEN, EOS))
    return Constraints(
        forbidden=ForbiddenText(ForbiddenWords.from_words(words, vocab), prefix, look_aheads)
    )


def text_of(tokens, texts):
    return "".join(texts[token - 4] for token in tokens if token != EOS)


def words_of(tokens, texts):
    return {match.group().strip() for match in words_in(text_of(tokens, texts))}
