"""Made-up parallel text of any size: lengths of real sentences, words as frequent as real words."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from training.data.corpus import SOURCE, TARGET
from training.data.encoded_text import spans

WORDS = 300_000  # of each language
CHUNK = 100_000  # pairs that are made at one time
MEAN_LOG, SPREAD, LONGEST = 3.0, 0.6, 120  # of the number of words: about 24 on average
SYLLABLES = [a + b + c for a in "bdfghklmnprstvw" for b in "aeiou" for c in ("", "n", "r", "s")]


class MadeLanguage:
    """Words of some syllables, of which the nth is used in proportion to 1/(n + 2.7).

    Args:
        seed: of its words.
    """

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        # frequent words are short
        syllables = 1 + (np.log(np.arange(WORDS) + 2) / 5 + random.random(WORDS)).astype(int)
        parts = random.integers(len(SYLLABLES), size=syllables.sum()).tolist()
        ends = np.cumsum(syllables).tolist()
        words = [
            "".join(SYLLABLES[p] for p in parts[end - n : end]) + " "
            for end, n in zip(ends, syllables.tolist(), strict=True)
        ]
        self._letters = np.frombuffer("".join(words).encode(), np.uint8)
        self._lengths = np.array([len(word) for word in words])
        self._starts = np.cumsum(self._lengths) - self._lengths
        share = 1 / (np.arange(WORDS) + 2.7)
        self._until = np.cumsum(share / share.sum())

    def text(self, lengths: NDArray[np.int64], random: np.random.Generator) -> bytes:
        """Lines of so many words each."""
        words = np.searchsorted(self._until[:-1], random.random(int(lengths.sum())))
        letters = self._letters[spans(self._starts[words], self._lengths[words])]
        last = np.cumsum(lengths) - 1  # word of each line
        letters[np.cumsum(self._lengths[words])[last] - 1] = ord("\n")
        return letters.tobytes()


def write_text(prefix: Path, pairs: int, seed: int) -> None:
    """Write `prefix.en` and `prefix.de`, whose lines have about the same number of words."""
    random = np.random.default_rng(seed)
    languages = MadeLanguage(1), MadeLanguage(2)
    with ExitStack() as stack:
        files = [
            stack.enter_context(Path(f"{prefix}.{name}").open("wb")) for name in (SOURCE, TARGET)
        ]
        for start in tqdm(range(0, pairs, CHUNK), "made-up text", disable=None):
            count = min(CHUNK, pairs - start)
            drawn = random.lognormal(MEAN_LOG, SPREAD, count)
            for language, file in zip(languages, files, strict=True):
                about = drawn * random.normal(1, 0.1, count)
                lengths = np.clip(about.round(), 1, LONGEST).astype(np.int64)
                file.write(language.text(lengths, random))
