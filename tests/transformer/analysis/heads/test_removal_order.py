"""The order in which a sentence needs its heads."""

import numpy as np
import pytest
import torch

from tests.conftest import Pair
from transformer import AttentionTrace, Transformer, Translator
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.heads.removal_order import random_order, removal_order
from transformer.analysis.teacher_forcing import forced_pair


@pytest.fixture
def trace(translator: Translator, pairs: list[Pair]) -> AttentionTrace:
    return translator.trace(pairs[3].english, target=pairs[3].german)


def log_p(model: Transformer, trace: AttentionTrace, heads: list[Head]) -> float:
    """The log probability of the translation without some heads, by hooks of one pass."""
    pair = forced_pair(model, trace)
    with torch.inference_mode(), removed(model, [Removal(*head) for head in heads]):
        logits = model(pair.source, pair.target)[0].log_softmax(-1)
    return float(logits[torch.arange(len(pair.written)), pair.written].sum())


def test_each_head_is_the_one_that_costs_most_after_those_before_it(translator, trace):
    model = translator.model
    heads = all_heads(model.config)
    reports: list[tuple[int, int]] = []
    order = removal_order(
        model, trace, length=5, greedy=3, candidates=len(heads),
        progress=lambda *report: reports.append(report),
    )  # fmt: skip
    assert len({*order}) == 5
    assert reports[-1] == (5, 5)
    for place in range(3):
        costs = {
            head: log_p(model, trace, [*order[:place], head])
            for head in heads
            if head not in order[:place]
        }
        assert costs[order[place]] == pytest.approx(min(costs.values()), abs=1e-4)
    # the edits end with the call
    assert log_p(model, trace, []) == pytest.approx(float(trace.log_probs.sum()), abs=1e-3)


def test_the_rest_follows_by_the_gradient_of_its_gates(translator, trace):
    model = translator.model
    heads = all_heads(model.config)
    order = removal_order(model, trace, length=999, greedy=1)
    assert {*order} == {*heads}
    first, *rest = order

    def loss(gated: Head, gate: float) -> float:
        def scale(z: torch.Tensor, _: str) -> torch.Tensor:
            z = z.clone()
            z[:, gated.head] *= gate
            return z

        stack = "encoder" if gated.kind == "encoder_self" else "decoder"
        part = "cross_attention" if gated.kind == "cross" else "self_attention"
        name = f"{stack}.layers.{gated.layer}.{part}.hook_z"
        with model.hooks({name: scale}):
            return -log_p(model, trace, [first])

    slopes = [abs(loss(head, 1.05) - loss(head, 0.95)) for head in rest]
    assert np.corrcoef(np.argsort(np.argsort(slopes)), np.arange(len(rest))[::-1])[0, 1] > 0.97


def test_the_control_has_as_many_heads_of_each_kind(translator: Translator) -> None:
    order = all_heads(translator.model.config)[::3]
    drawn = random_order(translator.model, order, seed=7)
    assert [head.kind for head in drawn] == [head.kind for head in order]
    assert len({*drawn}) == len(order)
    assert drawn == random_order(translator.model, order, seed=7)
    assert drawn != random_order(translator.model, order, seed=8)
