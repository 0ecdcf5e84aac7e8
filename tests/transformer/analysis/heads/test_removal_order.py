"""The order in which a sentence needs its heads."""

from collections.abc import Sequence

import pytest
import torch

from tests.conftest import Pair
from transformer import AttentionTrace, Transformer, Translator
from transformer.analysis.heads import importance, removal_order
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.heads.removal_order import (
    LENGTH,
    RemovalOrder,
    log_p_without,
    random_order,
    with_next_place,
)
from transformer.analysis.teacher_forcing import forced_pair


@pytest.fixture
def trace(translator: Translator, pairs: list[Pair]) -> AttentionTrace:
    return translator.trace(pairs[3].english, target=pairs[3].german)


def log_p(model: Transformer, trace: AttentionTrace, heads: Sequence[Head]) -> float:
    """The log probability of the translation without some heads, by hooks of one pass."""
    pair = forced_pair(model, trace)
    with torch.inference_mode(), removed(model, [Removal(*head) for head in heads]):
        logits = model(pair.source, pair.target)[0].log_softmax(-1)
    return float(logits[torch.arange(len(pair.written)), pair.written].double().sum())


def test_each_place_follows_the_rule(
    translator: Translator, trace: AttentionTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every head for places 1, 4 and 7; between, the four worst of that round."""
    monkeypatch.setattr(removal_order, "GREEDY", 7)
    monkeypatch.setattr(removal_order, "ROUND", 3)
    monkeypatch.setattr(removal_order, "CANDIDATES", 4)
    model, heads = translator.model, all_heads(translator.model.config)
    expected: list[Head] = []
    ranked: list[Head] = []
    for place in range(7):
        tried = [head for head in heads if head not in expected]
        if place % 3:
            tried = sorted(ranked[:4], key=heads.index)
        costs = {head: log_p(model, trace, [*expected, head]) for head in tried}
        if place % 3 == 0:
            ranked = sorted(tried, key=costs.__getitem__)
        expected.append(min(tried, key=costs.__getitem__))
        ranked.remove(expected[-1])
    reports: list[tuple[int, int]] = []
    order = removal_order.removal_order(
        model, trace, length=99, progress=lambda *report: reports.append(report)
    )
    assert order == [*expected, *ranked]
    assert reports == [(place, 7) for place in range(1, 8)]
    assert removal_order.removal_order(model, trace, length=3) == expected[:3]
    first = with_next_place(model, trace, RemovalOrder())
    assert first.log_p == pytest.approx([log_p(model, trace, expected[:1])], abs=1e-4)
    # the edits end with the call
    assert log_p(model, trace, []) == pytest.approx(float(trace.log_probs.sum()), abs=1e-3)


def test_of_equal_heads_the_first_by_number_is_taken(
    translator: Translator, trace: AttentionTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = all_heads(translator.model.config)
    monkeypatch.setattr(
        removal_order, "log_p_without", lambda _model, _trace, tried, *_: [-1.0] * len(tried)
    )
    order = RemovalOrder()
    for _ in range(3):
        order = with_next_place(translator.model, trace, order)
    assert [*order.heads] == heads
    assert order.log_p == (-1, -1, -1)


def test_batches_are_bounded_and_change_nothing(
    translator: Translator, trace: AttentionTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, heads = translator.model, all_heads(translator.model.config)
    removals = [[heads[0], head] for head in heads[1:]] + [[], heads[:9]]
    at_once = log_p_without(model, trace, removals)
    tokens = max(len(trace.source_pieces), len(trace.target_pieces))
    sizes: list[int] = []
    in_batch = importance._batch_losses

    def counted(model: Transformer, *tensors: torch.Tensor) -> torch.Tensor:
        sizes.append(len(tensors[-1]) * tokens)
        return in_batch(model, *tensors)

    monkeypatch.setattr(importance, "_batch_losses", counted)
    for limit in (5 * tokens, 1):
        sizes.clear()
        monkeypatch.setattr(importance, "MAX_TOKENS", limit)
        assert log_p_without(model, trace, removals) == pytest.approx(at_once, abs=1e-5)
        assert max(sizes) == max(limit, tokens)
        assert sum(sizes) == len(removals) * tokens
    assert at_once[-2:] == pytest.approx(
        [log_p(model, trace, []), log_p(model, trace, heads[:9])], abs=1e-4
    )


def test_the_control_has_as_many_other_heads_of_each_kind(bundled: Translator) -> None:
    heads = all_heads(bundled.model.config)
    for order in (heads[:LENGTH], heads[::6]):
        draws = [random_order(bundled.model, order, seed=seed) for seed in range(20)]
        for drawn in draws:
            assert [head.kind for head in drawn] == [head.kind for head in order]
            assert len({*drawn}) == len(order)
            assert not {*drawn} & {*order}
        assert draws[7] == random_order(bundled.model, order, seed=7)
        assert len({*map(tuple, draws)}) == len(draws)


def test_needed_heads_are_drawn_last_where_there_are_too_few_others(translator: Translator) -> None:
    heads = all_heads(translator.model.config)
    order = [head for head in heads if head.kind == "cross"][:5]
    drawn = random_order(translator.model, order, seed=1)
    assert {*drawn[:3]} == {head for head in heads if head.kind == "cross"} - {*order}
    assert {*drawn[3:]} < {*order}
