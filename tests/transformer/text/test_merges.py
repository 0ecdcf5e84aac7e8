"""The pair that a piece was joined from, against byte-pair encoding of whole words."""

import math
from itertools import pairwise

import pytest

from tests.transformer.checkpoints.marian import marian_folder
from transformer import Translator
from transformer.files.installed import ASSETS
from transformer.text.merges import last_pair


def joined(word, tokenizer):
    """Encode a word; return its pieces and, for each, the two it was joined from."""
    parts: list[str] = [*word]
    pairs: dict[str, tuple[str, str]] = {}
    while True:
        scores = [tokenizer.score(first + second) for first, second in pairwise(parts)] or [
            -math.inf
        ]
        if max(scores) == -math.inf:
            return [(part, pairs.get(part)) for part in parts]
        n = scores.index(max(scores))
        pairs[parts[n] + parts[n + 1]] = (parts[n], parts[n + 1])
        parts[n : n + 2] = [parts[n] + parts[n + 1]]


@pytest.mark.parametrize(
    ("model", "file"), [("bundled", "examples.txt"), ("reverse_bundled", "examples-de.txt")]
)
def test_the_pairs_are_those_of_encoding_the_whole_word(model, file, request) -> None:
    tokenizer = request.getfixturevalue(model).tokenizer
    assert tokenizer.joins_pairs
    seen = 0
    for line in (ASSETS / file).read_text().splitlines()[::4]:
        own = [
            (piece, pair) for word in line.split() for piece, pair in joined(f"▁{word}", tokenizer)
        ]
        pieces = [piece.text for piece in tokenizer.pieces(line)]
        assert [piece for piece, _ in own] == pieces
        for piece, pair in own:
            assert last_pair(piece, tokenizer.score) == pair
            seen += pair is not None
    assert seen > 200


def test_what_is_no_piece_was_not_joined(bundled) -> None:
    score = bundled.tokenizer.score
    assert score("☃x") == -math.inf
    for text in ("☃x", "☃☃☃", "▁", "", "qzxj"):
        assert last_pair(text, score) is None


def test_a_marian_folder_has_scores_of_its_own_pieces(tmp_path) -> None:
    translator = Translator.load(marian_folder.write(tmp_path / "m", separate=True))
    for tokenizer, lines in (
        (translator.tokenizer, marian_folder.SOURCE),
        (translator.target_tokenizer, marian_folder.TARGET),
    ):
        assert not tokenizer.joins_pairs
        for piece in tokenizer.pieces(lines[0]):
            assert tokenizer.score(piece.text) < 0
