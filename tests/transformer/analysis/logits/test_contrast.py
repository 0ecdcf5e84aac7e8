"""Contrastive attribution against finite differences, and erasing against shorter masks."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case
from transformer import KINDS, InputError
from transformer.analysis.logits.contrast import contrast, erase
from transformer.analysis.logits.direct_logits import direct_logits
from transformer.analysis.teacher_forcing import forced_pair
from transformer.kinds import attention_name

STEP = 1e-5


def other_than(case: Case, step) -> int:
    return 6 if case.trace.target_pieces[step].id != 6 else 7


def log_odds(case: Case, step, other, edits) -> float:
    pair = forced_pair(case.model, case.trace)
    with torch.inference_mode(), case.model.hooks(edits):
        logits = case.model(pair.source, pair.target)[0, step]
    return float(logits[pair.written[step]] - logits[other])


def scaled(factor, *at):
    def hook(value, _name):
        value = value.clone()
        value[at] *= factor
        return value

    return hook


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_times_value_is_the_slope_as_a_value_shrinks(case: Case, kind) -> None:
    step = len(case.trace.target_pieces) - 1
    other = other_than(case, step)
    result = contrast(case.model, case.trace, step, other)
    assert result.log_odds == pytest.approx(log_odds(case, step, other, {}), rel=1e-9)
    places = list(np.ndindex(result.values[kind].shape))
    for layer, head, key in np.random.default_rng(2).permutation(places)[:4]:
        slope = 0.0
        for sign in (1, -1):
            hook = scaled(1 + sign * STEP, 0, head, key)
            edits = {f"{attention_name(kind, layer)}.hook_v": hook}
            slope += sign * log_odds(case, step, other, edits) / (2 * STEP)
        assert result.values[kind][layer, head, key] == pytest.approx(slope, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_is_the_slope_as_its_z_shrinks(uneven: Case, kind) -> None:
    result = contrast(uneven.model, uneven.trace, 2, 6)
    for layer, head in np.ndindex(result.by_head[kind].shape):
        slope = 0.0
        for sign in (1, -1):
            edits = {f"{attention_name(kind, layer)}.hook_z": scaled(1 + sign * STEP, 0, head)}
            slope += sign * log_odds(uneven, 2, 6, edits) / (2 * STEP)
        assert result.by_head[kind][layer, head] == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_sums_are_over_heads_and_keys_and_direct_logits_are_those_of_the_step(uneven) -> None:
    result = contrast(uneven.model, uneven.trace, 1, 6)
    assert result.by_source.shape == (5,)
    np.testing.assert_allclose(result.by_source, result.values["cross"].sum(1).sum(0))
    assert result.values["decoder_self"].shape == (2, 4, 2)  # what step 1 can read
    whole = direct_logits(uneven.model, uneven.trace, against=6)
    for kind, heads in result.direct.items():
        np.testing.assert_allclose(heads, whole.heads[kind][..., 1], rtol=1e-9)


def test_erasing_hides_a_token_in_encoder_and_cross_attention(case: Case) -> None:
    step = len(case.trace.target_pieces) - 1
    other = other_than(case, step)
    steps = []
    losses = erase(case.model, case.trace, step, other, progress=lambda *count: steps.append(count))
    assert steps[-1] == (len(losses) + 1, len(losses) + 1)
    N = case.model.config.N
    for j in range(len(losses)):

        def hidden(scores, _name, j=j):
            scores = scores.clone()
            scores[..., j] = -torch.inf
            return scores

        edits = {
            f"{attention_name(kind, n)}.hook_attn_scores": hidden
            for kind in ("encoder_self", "cross")
            for n in range(N)
        }
        lost = log_odds(case, step, other, {}) - log_odds(case, step, other, edits)
        assert losses[j] == pytest.approx(lost, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(("step", "other"), [(4, 6), (-1, 6), (0, 30), (0, -1), (0, None)])
def test_a_step_or_piece_that_is_not_there_is_refused(uneven: Case, step, other) -> None:
    if other is None:  # the piece that was written
        other = uneven.trace.target_pieces[step].id
    for function in (contrast, erase):
        with pytest.raises(InputError):
            function(uneven.model, uneven.trace, step, other)
