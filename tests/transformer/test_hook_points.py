"""What the hook points are called, and what each of them holds."""

import pytest
import torch

from transformer import Transformer, TransformerConfig

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 10, 3, 0, 0]])
TARGET = torch.tensor([[2, 12, 13], [2, 15, 16]])
TOKENS, POSITIONS = "encoder.embedding.hook_tokens", "encoder.embedding.hook_positions"
CROSS = "decoder.layers.1.cross_attention."


@pytest.fixture
def model():
    torch.manual_seed(2)
    config = TransformerConfig(vocab_size=20, N=2, d_model=16, d_ff=24, h=4, d_k=3, d_v=5)
    return Transformer(config).eval()


def test_the_points_bear_the_names_that_researchers_know(model):
    attentions = [f"encoder.layers.{n}.self_attention" for n in range(2)]
    attentions += [
        f"decoder.layers.{n}.{kind}_attention" for n in range(2) for kind in ("self", "cross")
    ]
    inside = ("mask", "q", "k", "v", "attn_scores", "pattern", "z", "result")
    expected = {f"{attention}.hook_{point}" for attention in attentions for point in inside}
    expected |= {
        f"{stack}.embedding.hook_{p}"
        for stack in ("encoder", "decoder")
        for p in ("tokens", "positions", "sum")
    }
    layers = [f"{stack}.layers.{n}" for stack in ("encoder", "decoder") for n in range(2)]
    sublayers = [*attentions, *(f"{layer}.feed_forward" for layer in layers)]
    expected |= {
        f"{sublayer}_norm.hook_{p}"
        for sublayer in sublayers
        for p in ("sublayer", "sum", "normalised")
    }
    expected |= {f"{layer}.feed_forward.hook_hidden" for layer in layers}
    assert set(model.hook_points()) == expected
    assert all(point.name == name for name, point in model.hook_points().items())


def test_every_value_has_the_shape_that_is_promised(model):
    _, cache = model.run_with_cache(SOURCE, TARGET)
    expected = {
        "hook_q": (2, 4, 3, 3),  # [batch, head, query, d_k]
        "hook_k": (2, 4, 5, 3),  # [batch, head, key, d_k]
        "hook_v": (2, 4, 5, 5),  # [batch, head, key, d_v]
        "hook_attn_scores": (2, 4, 3, 5),  # [batch, head, query, key]
        "hook_pattern": (2, 4, 3, 5),
        "hook_z": (2, 4, 3, 5),  # [batch, head, query, d_v]
        "hook_result": (2, 4, 3, 16),  # [batch, head, query, d_model]
    }
    assert {name: tuple(cache[CROSS + name].shape) for name in expected} == expected
    assert cache[CROSS + "hook_mask"].shape == (2, 1, 1, 5)
    assert cache[CROSS.replace("cross", "self") + "hook_mask"].shape == (1, 1, 3, 3)
    assert cache["decoder.layers.1.feed_forward.hook_hidden"].shape == (2, 3, 24)
    for name in ("sublayer", "sum", "normalised"):
        assert cache[CROSS[:-1] + f"_norm.hook_{name}"].shape == (2, 3, 16)
    assert cache["encoder.embedding.hook_sum"].shape == (2, 5, 16)
    assert cache[TOKENS].shape == (2, 5, 16)
    assert cache[POSITIONS].shape == (1, 5, 16)


def test_the_values_of_one_head_are_what_the_names_say(model):
    _, cache = model.run_with_cache(SOURCE, TARGET)
    scores, pattern, v, z = (
        cache[CROSS + f"hook_{n}"] for n in ("attn_scores", "pattern", "v", "z")
    )
    torch.testing.assert_close(scores.softmax(-1), pattern)
    torch.testing.assert_close(pattern @ v, z)


def test_the_results_of_the_heads_add_up_to_the_output(model):
    attention = model.decoder.layers[1].cross_attention
    outputs = []
    handle = attention.W_O.register_forward_hook(lambda *args: outputs.append(args[-1]))
    model(SOURCE, TARGET)
    handle.remove()
    _, cache = model.run_with_cache(SOURCE, TARGET)
    torch.testing.assert_close(cache[CROSS + "hook_result"].sum(1), outputs[-1])


def test_a_result_is_its_heads_z_times_its_slice_of_the_output_matrix(model):
    """§3.2.2: Concat(head_1, ..., head_h) W^O is a sum over heads."""
    _, cache = model.run_with_cache(SOURCE, TARGET)
    W_O = model.decoder.layers[1].cross_attention.W_O.weight  # [d_model, head * d_v]
    for head in range(4):
        expected = cache[CROSS + "hook_z"][:, head] @ W_O[:, 5 * head : 5 * head + 5].T
        torch.testing.assert_close(cache[CROSS + "hook_result"][:, head], expected)


def test_the_stream_between_the_layers_is_what_the_names_say(model):
    """§3.1: LayerNorm(x + Sublayer(x)); FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 (§3.3)."""
    _, cache = model.run_with_cache(SOURCE, TARGET)
    layer = model.encoder.layers[0]
    x = cache["encoder.embedding.hook_sum"]
    torch.testing.assert_close(
        x, cache["encoder.embedding.hook_tokens"] + cache["encoder.embedding.hook_positions"]
    )
    for name in ("self_attention", "feed_forward"):
        of = f"encoder.layers.0.{name}_norm.hook_"
        torch.testing.assert_close(cache[of + "sum"], x + cache[of + "sublayer"])
        norm = getattr(layer, f"{name}_norm").norm
        torch.testing.assert_close(cache[of + "normalised"], norm(cache[of + "sum"]))
        x_before, x = x, cache[of + "normalised"]
    ffn = layer.feed_forward
    hidden = cache["encoder.layers.0.feed_forward.hook_hidden"]
    torch.testing.assert_close(hidden, ffn.W_1(x_before).relu())
    torch.testing.assert_close(ffn.W_2(hidden), cache[of + "sublayer"])
