"""Tokens that BLEU counts: by the target language, or as the user chooses."""

import re

import sacrebleu

from transformer.errors import ConfigError

DEFAULT, CHARACTERS = "13a", "char"
NAMES = (DEFAULT, "intl", "zh", "ja-mecab", "ko-mecab", CHARACTERS, "none")
"""Those of sacreBLEU that need no model."""

# 13a takes what spaces separate for words, of which these scripts have a few to a sentence
_OF_LANGUAGE = {
    **dict.fromkeys(("Chinese", "yue", "wuu", "nan", "lzh"), "zh"),
    "Japanese": "ja-mecab",
    "Korean": "ko-mecab",
    **dict.fromkeys(("Thai", "Lao", "Khmer", "Burmese", "bo", "bod", "dz", "dzo"), CHARACTERS),
}
_EXTRAS = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}


def tokens_of(language: str) -> tuple[str, str]:
    """Choose the tokens for a language by its name or code, and a sentence on an unusual choice."""
    name = _OF_LANGUAGE.get(re.split("[-_]", language)[0], DEFAULT)
    if name == DEFAULT:
        return name, ""
    if not _is_installed(name):
        return CHARACTERS, (
            f"BLEU of {language} counts characters (char): for words ({name}) run pip install "
            f"'{_EXTRAS[name]}'."
        )
    counted = {CHARACTERS: "characters", "zh": "each Chinese character"}.get(name, "words")
    return name, f"BLEU of {language} counts {counted} ({name})."


def require_tokens(name: str) -> None:
    """Raise ConfigError if the package of these tokens is not installed."""
    if not _is_installed(name):
        raise ConfigError(
            f"The tokens {name} are not installed: run pip install '{_EXTRAS[name]}', or choose "
            f"others with --tokenize."
        )


def _is_installed(name: str) -> bool:
    try:
        sacrebleu.BLEU(tokenize=name)
    except RuntimeError:  # sacreBLEU's, of a package that it needs
        return False
    return True
