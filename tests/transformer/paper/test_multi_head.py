"""The matrices of Figure 2, one product for h, and averaged heads, each computed by other code."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.transformer.analysis.lens_cases import Case, random_case
from transformer import Translator
from transformer.analysis.teacher_forcing import forced_pair, log_probs
from transformer.attention import MultiHeadAttention
from transformer.kinds import KINDS, Kind, attention_name
from transformer.paper import costs
from transformer.paper.arithmetic import sublayer_values
from transformer.paper.multi_head import (
    attention_operations,
    average_heads,
    head_matrices,
    one_head,
    projection_times,
)


def softmax(scores: np.ndarray) -> np.ndarray:
    exponents = np.exp(scores - scores.max(-1, keepdims=True))
    return exponents / exponents.sum(-1, keepdims=True)


def matrix(linear: Any, rows: slice) -> tuple[Any, Any]:
    """Weights and biases of one head."""
    weight = linear.weight.detach().double().numpy()[rows]
    bias = 0 if linear.bias is None else linear.bias.detach().double().numpy()[rows]
    return weight, bias


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrices_of_each_head_are_those_of_equation_1(case: Case, kind: Kind) -> None:
    stack = case.model.config.stack(kind)
    attention = case.model.get_submodule(attention_name(kind, stack.N - 1))
    values = sublayer_values(case.model, case.trace, kind, stack.N - 1)
    queries, keys = len(values.x), len(values.memory)
    seen = np.tri(queries, keys, dtype=bool) if kind == "decoder_self" else np.True_
    for head in range(stack.h):
        k_rows = slice(head * stack.d_k, (head + 1) * stack.d_k)
        v_rows = slice(head * stack.d_v, (head + 1) * stack.d_v)
        (W_Q, b_Q), (W_K, b_K), (W_V, b_V) = (
            matrix(linear, rows)
            for linear, rows in (
                (attention.W_Q, k_rows), (attention.W_K, k_rows), (attention.W_V, v_rows),
            )
        )  # fmt: skip
        Q = values.x.astype(float) @ W_Q.T + b_Q
        K = values.memory.astype(float) @ W_K.T + b_K
        V = values.memory.astype(float) @ W_V.T + b_V
        masked = np.where(seen, Q @ K.T / np.sqrt(stack.d_k), -np.inf)
        expected = (Q, K, V, Q @ K.T, Q @ K.T / np.sqrt(stack.d_k), masked, softmax(masked))
        matrices = head_matrices(values, head)
        for actual, wanted in zip(matrices, (*expected, softmax(masked) @ V), strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=3e-5)
        assert (matrices.masked == -np.inf).sum() == queries * keys - np.broadcast_to(
            seen, (queries, keys)
        ).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_averaged_heads_give_what_a_plain_loop_gives(case: Case, kind: Kind) -> None:
    model, config = case.model, case.model.config.stack(kind)
    pair = forced_pair(model, case.trace)
    for layers in ([config.N - 1], range(config.N)):
        seen_values: dict[str, torch.Tensor] = {}

        def keep(value: torch.Tensor, name: str, values=seen_values) -> None:
            values[name] = value

        def by_loop(z: torch.Tensor, name: str, values=seen_values) -> torch.Tensor:
            point = name.removesuffix("hook_z")
            pattern, v = values[f"{point}hook_pattern"][0], values[f"{point}hook_v"][0]
            result = torch.zeros_like(z)
            for head in range(len(pattern)):
                for query in range(pattern.shape[1]):
                    for key in range(pattern.shape[2]):
                        weight = sum(float(other[query, key]) for other in pattern) / len(pattern)
                        result[0, head, query] += weight * v[head, key]
            return result

        hooks: dict[str, Any] = {}
        for layer in layers:
            name = attention_name(kind, layer)
            hooks |= dict.fromkeys((f"{name}.hook_pattern", f"{name}.hook_v"), keep)
            hooks[f"{name}.hook_z"] = by_loop
        with model.hooks(hooks), torch.inference_mode():
            log_p = model(pair.source, pair.target)[0].double().log_softmax(-1)
        expected = [float(log_p[n, written]) for n, written in enumerate(pair.written)]
        actual = log_probs(model, case.trace, average_heads(kind, layers))
        np.testing.assert_allclose(actual, expected, atol=1e-9)
        differs = np.abs(actual - case.trace.log_probs).max() > 1e-6
        assert differs == (config.h > 1 and case.trace.weights(kind).shape[-1] > 1)


def test_averaging_holds_in_each_step_of_a_search(translator: Translator, trace) -> None:
    """A search with averaged heads has the log probabilities of one averaged pass."""
    hooks = average_heads("decoder_self", range(2)) | average_heads("cross", range(2))
    with translator.model.hooks(hooks):
        translation = translator.translate(trace.source)
        scored = translator.trace_of(translation)
    assert translation.log_prob == pytest.approx(float(scored.log_probs.sum()), abs=1e-3)


def test_one_wide_head_has_the_parameters_and_the_operations_of_h(case: Case) -> None:
    config = case.model.config
    single = one_head(config)
    assert single.decoder.h == single.h == 1
    parameters = [costs.parameters_of_model(costs.meta_model(x)) for x in (config, single)]
    assert parameters[0] == parameters[1] == costs.parameters_by_formula(single)
    for model in (config, single):
        attention = MultiHeadAttention(model).double()
        x, memory = torch.randn(1, 7, config.d_model), torch.randn(1, 5, config.d_model)
        with FlopCounterMode(display=False) as counter:
            attention(x.double(), memory.double())
        assert attention_operations(model, 7, 5) == counter.get_total_flops() // 2


def test_both_ways_to_project_are_timed_on_the_same_numbers() -> None:
    model = random_case("uneven").model
    x = np.random.default_rng(0).normal(size=(6, 16)).astype(np.float32)
    times = projection_times(model, "cross", 1, x, seconds=0.01)
    assert 0 < times.together < 0.01
    assert 0 < times.separate < 0.01
