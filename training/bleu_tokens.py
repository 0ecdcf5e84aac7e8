"""Tokens that BLEU counts: by the language that is written, or as somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass

import sacrebleu

from transformer.errors import ConfigError

DEFAULT, CHARACTERS = "13a", "char"
NAMES = (DEFAULT, "intl", "zh", "ja-mecab", "ko-mecab", CHARACTERS, "none")
"""Those of sacreBLEU that need no model."""

# 13a takes what blanks part for words, of which these scripts have a few to a sentence
_OF_LANGUAGE = {
    **dict.fromkeys(("Chinese", "yue", "wuu", "nan", "lzh"), "zh"),
    "Japanese": "ja-mecab",
    "Korean": "ko-mecab",
    **dict.fromkeys(("Thai", "Lao", "Khmer", "Burmese", "bo", "bod", "dz", "dzo"), CHARACTERS),
}
_EXTRAS = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}


@dataclass(frozen=True)
class BleuTokens:
    """A tokenizer of sacreBLEU, and a sentence on why it is that one; "" for the usual one."""

    name: str
    reason: str = ""


def tokens_of(language: str) -> BleuTokens:
    """Choose the tokens for a target language, by its English name, else its code."""
    name = _OF_LANGUAGE.get(language, DEFAULT)
    if name == DEFAULT:
        return BleuTokens(DEFAULT)
    if not _is_installed(name):
        return BleuTokens(
            CHARACTERS,
            f"BLEU of {language} counts characters (char): for words ({name}) run pip install "
            f"'{_EXTRAS[name]}'.",
        )
    counted = {CHARACTERS: "characters", "zh": "each Chinese character"}.get(name, "words")
    return BleuTokens(name, f"BLEU of {language} counts {counted} ({name}).")


def chosen(name: str) -> BleuTokens:
    """Return the tokens of this name.

    Raises:
        ConfigError: if their package is not installed; it says how it would be.
    """
    if not _is_installed(name):
        raise ConfigError(
            f"The tokens {name} are not installed: run pip install '{_EXTRAS[name]}', or choose "
            f"others with --tokenize."
        )
    return BleuTokens(name)


def _is_installed(name: str) -> bool:
    try:
        sacrebleu.BLEU(tokenize=name)
    except RuntimeError:  # sacreBLEU's, of a package that it needs
        return False
    return True
