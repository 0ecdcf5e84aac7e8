"""Forced pieces are written, and all else is as it was."""

import pytest

from tests.transformer.decoding.tiny import SOURCES, batch, build, next_log_probs
from transformer.config import EOS, PAD
from transformer.decoding import Constraints, beam_search, length_penalty
from transformer.errors import InputError


@pytest.mark.parametrize("K", [1, 4])
def test_a_forced_prefix_is_kept_and_scored_as_teacher_forcing_scores_it(K):
    model, prefix = build(ending=1, vocab_size=12), (9, 4, 10)
    results = beam_search(
        model, batch(SOURCES), beam_size=K, constraints=Constraints(prefix=prefix), max_extra=6
    )
    for source, hypotheses in zip(SOURCES, results, strict=True):
        for h in hypotheses:
            assert h.tokens[:3] == prefix
            assert len(h.tokens) <= len(source) + 6  # the limit counts them
            log_p = [next_log_probs(model, source, h.tokens[:n])[t] for n, t in enumerate(h.tokens)]
            assert h.log_probs == pytest.approx(log_p, abs=1e-4)
            assert h.score == pytest.approx(sum(log_p) / length_penalty(len(h.tokens)), abs=1e-4)


@pytest.mark.parametrize("special", [PAD, EOS])
def test_a_prefix_with_a_special_piece_is_refused(special):
    with pytest.raises(InputError, match="prefix"):
        Constraints(prefix=(4, special))


def test_a_prefix_that_leaves_no_room_is_refused():
    prefix = Constraints(prefix=(4, 5, 6))
    with pytest.raises(InputError, match=r"are 4 pieces.* at most 3"):
        beam_search(build(), batch(SOURCES[:1]), constraints=prefix, max_length=3)
    with pytest.raises(InputError, match=r"^The translation may have at most 0 pieces"):
        beam_search(build(), batch(SOURCES[:1]), max_length=0)
    ((h, *_),) = beam_search(build(), batch(SOURCES[:1]), constraints=prefix, max_length=4)
    assert len(h.tokens) == 4
