"""Settings of a search are kept, for one caller alone; what it cannot take gives a sentence."""

import math
import re
from typing import Any

import numpy as np
import pytest

from transformer import InputError, SearchSettings, Translator, decoding
from transformer.files import installed

TEXT = "The dog waits beside the river."


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load()


@pytest.fixture(scope="module")
def free(bundled) -> list[tuple[str, str, decoding.Hypothesis]]:
    """English sentences, and what the free greedy search writes for each."""
    lines = (installed.ASSETS / "examples.txt").read_text("utf-8").splitlines()[:8]
    rows = [[piece.id for piece in bundled.reader.text(line)] for line in lines]
    results = [hypotheses[0] for hypotheses in bundled.search(rows, SearchSettings(beam_size=1))]
    texts = [bundled.target_tokenizer.decode(hypothesis.tokens) for hypothesis in results]
    return list(zip(lines, texts, results, strict=True))


def own_words(text):
    """Words; one with a hyphen or an apostrophe in it is one word."""
    return re.findall(r"\w+(?:['’-]\w+)*", text)


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize(
    "prefix",
    ["Der", "Ein kleiner Vog", " Ein  kleiner Vogel ", "Der Hund s", "D", ["▁D", "i", "e"]],
    ids=str,
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


@pytest.mark.slow
def test_a_text_prefix_finds_what_the_free_search_writes_wherever_it_is_cut(bundled, free):
    same = 0
    for number, (line, text, _) in enumerate(free[:4]):
        prefix = text[: 2 + number * len(text) // 10]
        translation = bundled.translate(line, beam_size=1, prefix=prefix)
        assert translation.text.startswith(prefix.strip())
        same += translation.text == text
    assert same >= 3  # a greedy search may take another cut where two are about as probable


@pytest.mark.slow
def test_a_words_own_translation_never_has_it_once_it_is_forbidden(bundled, free):
    for number, (line, text, _) in enumerate(free[:4]):
        words = own_words(text)
        word = words[number % len(words)]
        rewritten = bundled.translate(line, beam_size=1, forbidden=[word]).text
        assert rewritten
        assert word not in own_words(rewritten), (line, word, rewritten)


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
    "The end as a piece": ({"prefix": ["▁D", "</s>"]}, "forced prefix ends the sentence"),
    "A special piece": ({"prefix": ["<s>", "▁D"]}, "has <s>, which is never written"),
    "The unknown piece": ({"prefix": ["<unk>"]}, "cannot write"),
    "No piece": ({"prefix": ["▁Nirgendwo"]}, "“▁Nirgendwo” is no piece"),
    "Half a piece": ({"prefix": ["\ud83d"]}, "is no piece"),
    "Half a character": ({"prefix": "D\ud83d"}, "prefix has a broken character at position 2"),
    "A long prefix": ({"prefix": "Der " * 80}, "pieces, but the translation may have at most 6"),
    "Forbidden itself": ({"prefix": "Der Hund im", "forbidden": ["Hund"]}, "“Hund”, which is forb"),
    "An empty word": ({"forbidden": ["Hund", " "]}, "one word at a time"),
    "Two words": ({"forbidden": ["der Hund"]}, "“der Hund” cannot be forbidden"),
    "A character that no text has": ({"forbidden": ["\0"]}, "cannot be forbidden"),
    "A number as words": ({"forbidden": 5}, "list of forbidden words cannot be 5: give a list"),
    "None as a prefix": ({"prefix": None}, "forced prefix cannot be None: give a text, or a list"),
    "Numbers as pieces": ({"prefix": [5, 6]}, "forced prefix cannot be [5, 6]"),
    "Words as one text": ({"forbidden": "Hund"}, "are one text, “Hund”: give a list"),
    "No beam": ({"beam_size": 0}, "beam of 0 finds nothing"),
    "A large beam": ({"beam_size": 10_000}, "beam of 10,000 is too large: it may be at most 64"),
    "Half a beam": ({"beam_size": 2.5}, "beam size is 2.5: it must be a whole number"),
    "A text as α": ({"alpha": "0.6"}, "α is '0.6': it must be a number"),
    "Half a best": ({"n_best": 1.5}, "number of best translations is 1.5"),
    "No α": ({"alpha": math.nan}, "α is nan: it must be a number from 0 to 10"),
    "An absurd α": ({"alpha": math.inf}, "α is inf"),
    "No length": ({"max_length": 0}, "maximum length is 0"),
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
