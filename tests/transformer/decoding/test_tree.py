"""The recorded tree is the search itself: its best leaf is the translation, its sums add up."""

import functools
import itertools

import pytest
import torch

from tests.transformer.decoding.tiny import SOURCES, batch, build, next_log_probs
from transformer import config, decoding

K = 3


def recorded(model, stop_after=1000, **options):
    search = decoding.BeamSearch(model, batch(SOURCES), record=True, **({"beam_size": K} | options))
    for _ in range(stop_after):
        if search.unfinished:
            search.step()
    search.stop()
    return search.sentences


@pytest.mark.parametrize(
    ("options", "ending"),
    [
        ({"max_extra": 8, "n_best": 1}, 1.5),
        ({"max_length": 2}, -30),
        ({"max_extra": 8, "constraints": decoding.Constraints(prefix=(5, 4))}, 1.5),
        ({"beam_size": 6, "max_extra": 1}, -30),
    ],
    ids=str,
)
def test_the_tree_is_what_the_search_did(options, ending):
    model = build(ending=ending, seed=2)
    expected = decoding.beam_search(model, batch(SOURCES), **({"beam_size": K} | options))
    for source, sentence, hypotheses in zip(
        SOURCES, recorded(model, **options), expected, strict=True
    ):
        assert sentence.hypotheses() == hypotheses  # recording changes nothing
        tree = sentence.tree()
        after = functools.cache(functools.partial(next_log_probs, model, source))
        best = tree.nodes[tree.best]
        assert tree.prefix(tree.best) == hypotheses[0].tokens
        assert best.score == hypotheses[0].score
        assert best.total == pytest.approx(hypotheses[0].log_prob, abs=1e-4)
        for index, node in enumerate(tree.nodes):
            prefix = tree.prefix(index)
            log_p = after(prefix[:-1])[node.piece]
            assert node.log_prob == pytest.approx(log_p, abs=1e-4)
            parent = None if node.parent is None else tree.nodes[node.parent]
            assert node.total == pytest.approx(
                node.log_prob + (parent.total if parent else 0), abs=1e-4
            )
            assert node.step == len(prefix) == (parent.step + 1 if parent else 1)
            assert parent is None or parent.state == "kept"
            assert (node.score is not None) == (node.state in ("finished", "unfinished"))
            assert (node.piece == config.EOS) or node.state != "finished"
            assert (node.reason == "") == (node.state in ("kept", "finished"))


def reasons(sentences):
    return {(node.state, node.reason) for sentence in sentences for node in sentence.tree().nodes}


def test_why_a_prefix_was_dropped():
    full = set(itertools.chain(*(reasons(recorded(build(ending=2, seed=s))) for s in range(3))))
    assert full >= {("kept", ""), ("finished", ""), ("dropped", "beam"), ("dropped", "full")}
    never = build(ending=-30)
    assert ("unfinished", "limit") in reasons(recorded(never, max_extra=0))
    assert ("unfinished", "stopped") in reasons(recorded(never, stop_after=2))
    early = set(
        itertools.chain(*(reasons(recorded(build(ending=3, seed=s), n_best=1)) for s in range(6)))
    )
    assert ("dropped", "bound") in early


def test_a_search_that_records_nothing_has_no_tree():
    search = decoding.BeamSearch(build(), torch.tensor([SOURCES[0]]))
    with pytest.raises(ValueError, match="record"):
        search.sentences[0].tree()
