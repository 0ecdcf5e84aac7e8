"""The inside of a head against the model's own weights, in float64."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import random_case
from transformer import InputError, Transformer
from transformer.kinds import KINDS, Kind
from transformer.paper.arithmetic import (
    Arithmetic,
    SublayerValues,
    arithmetic,
    sublayer_values,
)
from transformer.paper.scaling import rescale
from transformer.trace import AttentionTrace

HEAD, QUERY = 2, 1


@pytest.fixture(params=[(kind, 1) for kind in KINDS], ids=str)
def place(request) -> tuple[Kind, int]:
    return request.param


@pytest.fixture
def whole(model: Transformer, trace: AttentionTrace, place: tuple[Kind, int]) -> SublayerValues:
    return sublayer_values(model, trace, *place)


@pytest.fixture
def numbers(whole: SublayerValues) -> Arithmetic:
    return arithmetic(whole, HEAD, QUERY, 8**-0.5)


def module(model: Transformer, kind: Kind, layer: int):
    stack = model.encoder if kind == "encoder_self" else model.decoder
    name = "cross_attention" if kind == "cross" else "self_attention"
    return getattr(stack.layers[layer], name), getattr(stack.layers[layer], f"{name}_norm").norm


def close(actual, expected) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def matrix(weight: torch.Tensor) -> np.ndarray:
    return weight.detach().double().numpy()


def test_each_number_follows_from_those_before(model, whole, numbers, place) -> None:
    """§3.2, all of it, from x and the model's matrices, in float64."""
    attention, norm = module(model, *place)
    own = slice(8 * HEAD, 8 * HEAD + 8)
    x, memory = whole.x[QUERY].astype(float), whole.memory.astype(float)
    q = matrix(attention.W_Q.weight)[own] @ x
    k = memory @ matrix(attention.W_K.weight)[own].T
    v = memory @ matrix(attention.W_V.weight)[own].T
    np.testing.assert_allclose(numbers.x, x)
    close(numbers.q, q)
    close(numbers.k, k)
    close(numbers.v, v)
    close(numbers.products, q * k)
    np.testing.assert_allclose(numbers.dots, k @ q, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(numbers.scaled, k @ q / np.sqrt(8), rtol=1e-4, atol=1e-4)
    causal = place[0] == "decoder_self"
    seen = np.arange(len(k)) <= QUERY if causal else np.full(len(k), True)
    np.testing.assert_array_equal(numbers.seen, seen)
    scores = np.where(seen, k @ q / np.sqrt(8), -np.inf)
    alpha = np.exp(scores) / np.exp(scores).sum()
    close(numbers.weights, alpha)
    close(numbers.weighted, alpha[:, None] * v)
    close(numbers.z, alpha @ v)
    W_O = matrix(attention.W_O.weight)
    np.testing.assert_allclose(numbers.concat[HEAD], numbers.z)
    close(numbers.result, W_O[:, own] @ (alpha @ v))
    output = W_O @ numbers.concat.astype(float).ravel()
    close(numbers.result + numbers.others, output)
    lengths = [
        np.linalg.norm(W_O[:, 8 * h : 8 * h + 8] @ numbers.concat[h].astype(float))
        for h in range(4)
    ]
    close(numbers.norms, lengths)
    close(numbers.added, x + output)
    added = x + output
    expected = (added - added.mean()) / np.sqrt(added.var() + norm.eps)
    expected = expected * matrix(norm.weight) + matrix(norm.bias)
    close(numbers.normalised, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_biases_count_where_the_model_has_them(kind: Kind) -> None:
    """q, k and v with theirs; that of W_O is not a head's, and what is added still adds up."""
    case = random_case("biased")
    plain = case.plain.attention[kind, 1]
    whole = sublayer_values(case.model, case.trace, kind, 1)
    numbers = arithmetic(whole, HEAD, QUERY, 4**-0.5)
    close(numbers.v, plain.v[HEAD])
    close(numbers.weights, plain.pattern[HEAD, QUERY])
    close(numbers.result, plain.pattern[HEAD, QUERY] @ plain.v[HEAD] @ plain.W_O[HEAD])
    close(whole.results.sum(0)[QUERY] + plain.constant, numbers.result + numbers.others)
    close(numbers.x + numbers.result + numbers.others, plain.added[QUERY])
    close(numbers.added, plain.added[QUERY])
    close(numbers.normalised, plain.y[QUERY])


def test_an_edit_is_seen_in_all_that_follows(model, trace, whole, place) -> None:
    kind, layer = place
    stack = "encoder" if kind == "encoder_self" else "decoder"
    part = "cross_attention" if kind == "cross" else "self_attention"
    point = f"{stack}.layers.{layer}.{part}.hook_attn_scores"
    edited = sublayer_values(model, trace, kind, layer, {point: rescale(5.0, HEAD)})
    numbers = arithmetic(edited, HEAD, QUERY, 5 * 8**-0.5)
    scores = np.where(numbers.seen, numbers.scaled.astype(float), -np.inf)
    np.testing.assert_allclose(edited.scores[HEAD, QUERY], scores, rtol=1e-4, atol=1e-4)
    close(numbers.weights, np.exp(scores) / np.exp(scores).sum())
    assert np.array_equal(edited.weights[0], whole.weights[0])
    assert np.abs(edited.normalised - whole.normalised).max() > 1e-4


@pytest.mark.parametrize("layer", [-1, 2])
def test_a_layer_that_is_not_there_is_named(translator, trace, layer) -> None:
    with pytest.raises(InputError, match=f"There is no layer {layer}: .* 0 to 1"):
        sublayer_values(translator.model, trace, "cross", layer)


def test_a_translation_of_one_piece_sees_itself(model, translator, place) -> None:
    """Nothing is masked then, so no mask passes its hook point."""
    long = translator.trace("The old cat sleeps.", target="Die alte Katze schläft.")
    short = replace(
        long,
        target_pieces=long.target_pieces[:1],
        decoder_self=long.decoder_self[..., :1, :1],
        cross=long.cross[..., :1, :],
        log_probs=long.log_probs[:1],
    )
    kind, layer = place
    whole = sublayer_values(model, short, kind, layer)
    assert whole.seen.shape == short.weights(kind).shape[2:]
    assert whole.seen.all()
    close(whole.weights, short.weights(kind)[layer])
