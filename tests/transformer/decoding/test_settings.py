"""Settings of a search are kept, for one caller alone; what it cannot take gives a sentence."""

import math
import re
from typing import Any

import numpy as np
import pytest

from transformer import InputError, SearchSettings

TEXT = "The dog waits beside the river."


@pytest.mark.parametrize(
    ("prefix", "beam_size"),
    [("Ein kleiner Vog", 1), (" Ein  kleiner Vogel ", 4), ("D", 4), (["▁D", "i", "e"], 1)],
)
def test_a_forced_prefix_is_kept_and_scored_as_any_translation(translator, prefix, beam_size):
    translation = translator.translate(TEXT, prefix=prefix, beam_size=beam_size, alpha=1.5)
    begin = (
        "Die" if isinstance(prefix, list) else " ".join(prefix.split()) + " " * (prefix[-1] == " ")
    )
    for candidate in translation.candidates:
        hypothesis = candidate.hypothesis
        pieces = [piece.text for piece in candidate.pieces]
        assert "".join(pieces).startswith("▁" + begin.replace(" ", "▁"))
        scored = translator.score(TEXT, pieces, alpha=1.5)
        assert scored.pieces == candidate.pieces
        assert scored.log_probs == pytest.approx(hypothesis.log_probs, abs=1e-4)
        assert scored.log_prob == pytest.approx(hypothesis.log_prob, abs=1e-4)
        assert scored.score == pytest.approx(hypothesis.score, abs=1e-4)
        assert scored.ended == hypothesis.complete
    forced = translation.prefix
    assert forced == translation.best.pieces[: len(forced)]
    inside = "".join(piece.text for piece in forced)
    assert len(inside) - len(forced[-1].text) < len(begin) + 1 <= len(inside)
    assert (
        translator.translate(TEXT, **translation.settings.arguments).candidates
        == translation.candidates
    )


def test_the_tree_is_kept_where_it_is_asked_for(translator):
    assert translator.translate(TEXT).tree is None
    translation = translator.translate(TEXT, prefix="Der", tree=True)
    assert translation.tree is not None
    assert translation.tree.prefix(translation.tree.best) == translation.best.hypothesis.tokens
    assert translation.tree.nodes[translation.tree.best].score == translation.best.hypothesis.score


def test_fewer_candidates_are_the_best_of_all_and_the_length_is_kept(translator):
    every = translator.translate(TEXT, beam_size=6)
    for n in (1, 2, 6):
        translation = translator.translate(TEXT, beam_size=6, n_best=n)
        assert len(translation.candidates) == n
        assert translation.best.hypothesis.score >= every.best.hypothesis.score - 1e-5
    assert len(translator.translate(TEXT, max_length=1).best.pieces) == 1
    short = translator.translate(TEXT, max_length=3)
    assert max(len(candidate.pieces) for candidate in short.candidates) == 3
    assert "within 3 pieces, the given limit" in " ".join(short.notices)


REFUSED = {
    "An unknown character": (
        {"prefix": "Der 😀 ж"},
        "cannot write “😀”, “ж”: leave",
    ),
    "The end as text": ({"prefix": "Der </s>"}, "forced prefix ends the sentence"),
    "A special piece": ({"prefix": ["<s>", "▁D"]}, "has <s>, which is never written"),
    "The unknown piece": ({"prefix": ["<unk>"]}, "cannot write"),
    "Half a piece": ({"prefix": ["\ud83d"]}, "is not a piece"),
    "A long prefix": ({"prefix": "Der " * 80}, "pieces, but the translation may have at most 6"),
    "Two words": ({"forbidden": ["der Hund"]}, "“der Hund” cannot be forbidden"),
    "A number as words": ({"forbidden": 5}, "list of forbidden words cannot be 5: give a list"),
    "Words as one text": ({"forbidden": "Hund"}, "are one text, “Hund”: give a list"),
    "No beam": ({"beam_size": 0}, "beam of 0 finds nothing"),
    "Half a beam": ({"beam_size": 2.5}, "beam size is 2.5: it must be a whole number"),
    "An absurd α": ({"alpha": math.inf}, "α is inf"),
    "A large length": ({"max_length": 257}, "from 1 to 256"),
    "More than the beam": ({"n_best": 5}, "cannot find the 5 best: ask for 1 to 4"),
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_done_is_one_sentence(translator, arguments, sentence):
    for call in (translator.translate, translator.stream, translator.trace):
        with pytest.raises(InputError) as caught:
            call(TEXT, **arguments)  # of stream, before a first part is asked for
        assert sentence in str(caught.value)


def test_every_continuation_forbidden_is_one_sentence(translator):
    texts = translator.tokenizer.forbidden([]).texts
    words = {re.findall(r"\w+", "Hund" + text)[0] for text in texts}  # “Hund” is one of them
    pieces = [piece.text for piece in translator.tokenizer.pieces("Hund")]
    with pytest.raises(InputError, match="Every continuation is forbidden: forbid fewer"):
        translator.translate(TEXT, prefix=pieces, forbidden=words, max_length=len(pieces) + 1)


def test_a_blank_prefix_and_no_words_are_a_free_search(translator):
    free = translator.translate(TEXT)
    blank: list[str | list[str]] = ["", " \n", []]
    for prefix in blank:
        translation = translator.translate(TEXT, prefix=prefix, forbidden=[])
        assert (translation.candidates, translation.prefix) == (free.candidates, ())


def test_equal_settings_are_equal_whatever_their_numbers_are():
    numpy: dict[str, Any] = {
        "beam_size": np.int64(4),
        "alpha": np.float32(0.5),
        "n_best": np.int8(2),
    }
    assert SearchSettings(**numpy) == SearchSettings(4, 0.5, n_best=2)
    assert hash(SearchSettings(prefix=["▁D"], forbidden=["Hund"])) == hash(
        SearchSettings(prefix=("▁D",), forbidden=("Hund",))
    )
