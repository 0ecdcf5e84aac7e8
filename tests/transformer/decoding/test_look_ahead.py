"""What a search sees of the next piece: so it writes no word that nobody would."""

import itertools
import math
from functools import partial

import pytest
import torch

from tests.transformer.decoding.tiny import SOURCES, batch, build, next_log_probs
from tests.transformer.decoding.wishes import SPECIAL, forbid
from transformer.config import EOS
from transformer.decoding import NEVER_WRITTEN, beam_search
from transformer.decoding.look_ahead import ForcedLookAhead
from transformer.text.words import ForbiddenWords


def test_it_is_what_the_model_finds_probable_after_the_prefix():
    model = build(vocab_size=12)
    look_ahead = ForcedLookAhead(model, SOURCES[0])
    for tokens in ((), (5,), (5, 6, 4)):
        log_p = look_ahead(tokens)
        expected = next_log_probs(model, SOURCES[0], tokens)
        assert {n: float(log_p[n]) for n in expected} == pytest.approx(expected, abs=1e-5)
        assert set(range(12)) - set(expected) == set(NEVER_WRITTEN)


TEXTS = [" a", "b", " c", ".", "-", " d", "e", "f"]


@pytest.mark.parametrize("K", [1, 3])
def test_with_a_look_ahead_a_forbidden_word_is_made_longer_only_where_the_model_would(K):
    pushed = longer = 0
    for seed, word in itertools.product(range(4), ("a", "d", ".")):
        model = build(vocab_size=12, ending=-1, seed=seed)
        for source in SOURCES[:2]:

            def search(look_aheads, model=model, source=source, word=word):
                wish = forbid([word], TEXTS, look_aheads=look_aheads)
                (found,) = beam_search(
                    model, torch.tensor([source]), beam_size=K, max_extra=2, constraints=wish
                )
                return found[0]

            def forced(h, model=model, source=source, word=word):
                """How often a longer word is begun where the model would rather end it."""
                words = ForbiddenWords.from_words([word], (*SPECIAL, *TEXTS))
                found = [0, 0]
                for n in range(1, len(h.tokens)):
                    open_word = words.open_word(h.tokens[:n])
                    if words.completes(open_word, EOS):
                        p = {
                            piece: math.exp(log_p)
                            for piece, log_p in next_log_probs(model, source, h.tokens[:n]).items()
                        }
                        last = n + 1 == len(source) + 2
                        ended = sum(p[i] for i in p if words.completes(open_word, i, last))
                        found[ended >= sum(p.values()) / 2] += 1
                return found

            kept, wrong = forced(search(partial(ForcedLookAhead, model)))
            assert not wrong
            longer += kept
            pushed += forced(search(None))[1]
    assert pushed or K > 1  # without it
    assert longer


def _same(look_ahead, _source):
    return look_ahead


@pytest.mark.parametrize("K", [1, 3])
def test_each_sentence_of_a_batch_looks_ahead_in_its_own(K):
    differ = 0
    for seed, word in itertools.product(range(3), ("a", "d", ".")):
        model = build(vocab_size=12, ending=-1, seed=seed)

        def search(sources, look_aheads, model=model, word=word):
            wish = forbid([word], TEXTS, look_aheads=look_aheads)
            found = beam_search(model, batch(sources), beam_size=K, max_extra=3, constraints=wish)
            return [[h.tokens for h in one] for one in found]

        ahead = partial(ForcedLookAhead, model)
        alone = [search([source], ahead)[0] for source in SOURCES]
        assert search(SOURCES, ahead) == alone
        first = ahead(SOURCES[0])
        differ += search(SOURCES, partial(_same, first)) != alone
    assert differ  # what the first sentence's would say of the others
