"""A streamed search: it never takes back what it said, and it leaves nothing behind."""

from itertools import pairwise

import pytest
import torch

from transformer import hooks, silence

TEXT = "The dog waits beside the river."
POINT = "decoder.layers.1.cross_attention.hook_z"


@pytest.mark.parametrize(
    "arguments",
    [
        {"beam_size": 8, "n_best": 1},
        {"prefix": "Der", "forbidden": ["Tisch"]},
        {"prefix": ["▁D", "e"], "beam_size": 1},
        {"beam_size": 8, "alpha": 0.0},  # a better one is found while others still live
    ],
    ids=str,
)
def test_each_part_begins_the_next_and_the_last_is_the_translation(translator, pairs, arguments):
    grew = 0
    for pair in pairs[::100]:
        parts = list(translator.stream(pair.english, **arguments))
        expected = translator.translate(pair.english, **arguments)
        assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
        last = parts[-1].translation
        assert last is not None
        assert (last.candidates, last.notices) == (expected.candidates, expected.notices)
        assert parts[-1].tentative == parts[-1].text == expected.text
        for part, following in pairwise(parts):
            assert following.text.startswith(part.text)
            assert following.pieces[: len(part.pieces)] == part.pieces
            assert part.tentative.startswith(part.text)
            if isinstance(arguments.get("prefix"), list):  # a text can be cut in several ways
                assert part.pieces[: len(expected.prefix)] == expected.prefix
        grew += sum(0 < len(part.pieces) < len(expected.best.pieces) for part in parts)
    assert grew


def test_a_search_keeps_the_hooks_of_where_it_was_asked_for(translator):
    with translator.model.hooks({POINT: silence(head=1)}):
        edited = translator.translate(TEXT)
        stream = translator.stream(TEXT)
        next(stream)
    (*_, last) = stream  # taken where no hook is set
    assert last.translation.candidates == edited.candidates
    plain = translator.translate(TEXT)
    assert plain.candidates != edited.candidates
    stream = translator.stream(TEXT)
    with translator.model.hooks({POINT: silence(head=1)}):
        (*_, last) = stream
    assert last.translation.candidates == plain.candidates


def test_a_search_that_is_left_leaves_nothing_behind(translator):
    before = hooks._active.get(None)
    for part in translator.stream(TEXT):
        assert hooks._active.get(None) is before
        assert not torch.is_inference_mode_enabled()
        assert torch.is_grad_enabled()
        if part.pieces:
            break
    assert hooks._active.get(None) is before
    assert not torch.is_inference_mode_enabled()
    abandoned = translator.stream(TEXT)
    next(abandoned)
    abandoned.close()
    assert list(abandoned) == []

    def gone():
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):  # an error of the caller's passes through
        list(translator.stream(TEXT, should_stop=gone))
    assert hooks._active.get(None) is before
