"""BLEU as papers on Multi30k report it: lower-cased, on tokens of the Moses scripts.

The steps are those of the set's own `lc.norm.tok` files: lower case, plain punctuation, tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import sacrebleu
from sacremoses import MosesPunctNormalizer, MosesTokenizer


def moses_tokens(lines: Sequence[str], language: str = "de") -> list[str]:
    """Each line lower-cased and split into tokens, separated by single spaces."""
    normalizer, tokenizer = MosesPunctNormalizer(lang=language), MosesTokenizer(lang=language)
    return [
        str(tokenizer.tokenize(normalizer.normalize(line.lower()), return_str=True))
        for line in lines
    ]


def multi30k_bleu(
    translations: Sequence[str], references: Sequence[str], language: str = "de"
) -> tuple[float, str]:
    """BLEU of the whole text on lower-cased Moses tokens, and its signature."""
    # force: sacreBLEU would warn that the text is tokenised, which it is meant to be
    bleu = sacrebleu.BLEU(lowercase=True, tokenize="none", force=True)
    value = bleu.corpus_score(
        moses_tokens(translations, language), [moses_tokens(references, language)]
    ).score
    tokens = f"tok:moses-{language}-sacremoses-{version('sacremoses')}"
    return value, str(bleu.get_signature()).replace("tok:none", tokens)
