import copy
import sys
import threading
from typing import Any

import pytest
import torch

from transformer import HookError, Transformer, TransformerConfig, hooks, silence

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 10, 3, 0, 0]])
TARGET = torch.tensor([[2, 12, 13], [2, 15, 16]])
TOKENS, POSITIONS = "encoder.embedding.hook_tokens", "encoder.embedding.hook_positions"
CROSS = "decoder.layers.1.cross_attention."


@pytest.fixture
def model():
    torch.manual_seed(2)
    config = TransformerConfig(vocab_size=20, N=2, d_model=16, d_ff=24, h=4, d_k=3, d_v=5)
    return Transformer(config).eval()


def add_one(value, name):
    return value + 1


def fail(value, name):
    raise ZeroDivisionError


@pytest.mark.parametrize("path", [torch.enable_grad, torch.no_grad])
def test_a_mask_can_be_taken_away(model, path):
    with path():
        causal = model.decoder.layers[0].self_attention.hook_mask.name
        with model.hooks({causal: lambda mask, name: torch.ones_like(mask)}):
            _, cache = model.run_with_cache(SOURCE, TARGET, names=lambda n: "hook_pattern" in n)
        weights = cache["decoder.layers.0.self_attention.hook_pattern"]
        assert (weights > 0).all()
        assert not cache["decoder.layers.1.self_attention.hook_pattern"].triu(1).any()


@pytest.mark.parametrize("path", [torch.enable_grad, torch.no_grad])
@pytest.mark.parametrize(
    "name",
    [
        TOKENS,
        POSITIONS,
        "encoder.embedding.hook_sum",
        *(CROSS + f"hook_{p}" for p in ("q", "k", "v", "attn_scores", "pattern", "z", "result")),
        *(CROSS[:-1] + f"_norm.hook_{p}" for p in ("sublayer", "sum", "normalised")),
        "decoder.layers.1.feed_forward.hook_hidden",
    ],
)
def test_an_edit_at_any_point_reaches_the_output(model, name, path):
    def half(value, name):
        return torch.cat((value[..., :1] * 0.5, value[..., 1:]), dim=-1)

    with path():
        plain = model(SOURCE, TARGET)
        with model.hooks({name: half}):
            edited = model(SOURCE, TARGET)
        assert (edited - plain).abs().max() > 1e-3
        assert torch.equal(model(SOURCE, TARGET), plain)


def test_blocks_nest_and_the_outer_hook_runs_first(model):
    seen = []
    outer, inner = {TOKENS: lambda v, name: v + 1}, {TOKENS: lambda v, name: v * 3}
    with model.hooks(outer), model.hooks(inner), model.hooks({POSITIONS: add_one}):
        value = model.encoder.embedding.hook_tokens(torch.ones(1))
        seen.append(model.encoder.embedding.hook_positions(torch.ones(1)).item())
    assert value.item() == (1 + 1) * 3
    assert seen == [2]


def test_an_unknown_name_is_refused_with_an_example(model):
    with (
        pytest.raises(HookError, match=r"'encoder\.hook_patern'.*looks like 'encoder"),
        model.hooks({TOKENS: add_one, "encoder.hook_patern": add_one}),
    ):
        pass
    assert not watched(model)


@pytest.mark.parametrize(
    ("name", "hook", "message"),
    [
        (
            CROSS + "hook_z",
            lambda z, name: z.numpy(),
            "returned a ndarray instead of a tensor",
        ),
        (
            CROSS + "hook_z",
            lambda z, name: z.double(),
            r"float64 on cpu instead of .* torch.float32",
        ),
        (CROSS + "hook_mask", lambda mask, name: mask.float(), r"instead of .* torch.bool"),
        (CROSS + "hook_z", None, "is None: give a function"),
        (CROSS + "hook_z", lambda z, name: z[..., :-1], r"shape \[2, 4, 3, 4\], .*\[2, 4, 3, 5\]"),
        (CROSS + "hook_z", silence(4), "has 4 heads, counted from 0: there is no 4"),
        (TOKENS, silence(3), "silenced at a hook_z, and 'encoder.embedding.hook_tokens' is none"),
    ],
)
@torch.no_grad()
def test_a_hook_that_cannot_be_one_is_refused(model, name, hook, message):
    with pytest.raises(HookError, match=message), model.hooks({name: hook}):
        model(SOURCE, TARGET)
    assert not watched(model)


@pytest.mark.parametrize("head", ["3", True])
def test_a_head_is_a_number(head):
    with pytest.raises(HookError, match="is a whole number, counted from 0"):
        silence(head)


def test_one_head_and_a_list_of_hooks_are_refused(model):
    single: Any = 3
    with pytest.raises(HookError, match="silenced heads are 3: give a list"):
        hooks.Silence(single)
    scalar: Any = torch.tensor(3)  # which isinstance takes for an Iterable
    with pytest.raises(HookError, match="give a list"):
        hooks.Silence(scalar)
    with pytest.raises(HookError, match=r"hooks are \[1\]: give a dictionary"), model.hooks([1]):
        pass
    with pytest.raises(HookError, match="names are 'hook_z': give a function"):
        model.run_with_cache(SOURCE, TARGET, names="hook_z")
    several: Any = (head for head in (0, 2))
    assert hooks.Silence(several) == hooks.Silence((0, 2))  # an iterator is read once


def test_an_edit_in_place_reaches_one_pass_and_one_layer(model):
    """A table and a mask that serve all sentences and all layers are given as copies."""

    def wipe(value, name):
        value[..., 1] = 0
        return value

    table = model.encoder.embedding.positions.clone()
    first, second = (f"encoder.layers.{n}.self_attention.hook_" for n in range(2))
    with model.hooks({POSITIONS: wipe, first + "mask": wipe}):
        _, cache = model.run_with_cache(
            SOURCE, TARGET, names=lambda name: name.endswith(("pattern", "hook_positions"))
        )
    cache[POSITIONS].zero_()
    assert torch.equal(model.encoder.embedding.positions, table)
    assert not cache[first + "pattern"][..., 1].any()
    assert cache[second + "pattern"][..., 1].all()


def watched(model):
    return [name for name, point in model.hook_points().items() if point.watched]


def test_a_copy_has_points_of_its_own(model):
    other = copy.deepcopy(model)
    assert list(other.hook_points()) == list(model.hook_points())
    with other.hooks({TOKENS: add_one}):
        assert watched(other) == [TOKENS]
        assert watched(model) == []
        assert not torch.equal(other(SOURCE, TARGET), model(SOURCE, TARGET))


def test_hooks_do_not_outlive_an_exception(model):
    with pytest.raises(ZeroDivisionError), model.hooks({TOKENS: fail, POSITIONS: add_one}):
        model(SOURCE, TARGET)
    assert watched(model) == []
    with pytest.raises(IndexError):
        model.run_with_cache(SOURCE + 100, TARGET)
    assert watched(model) == []


@pytest.mark.parametrize("path", [torch.enable_grad, torch.no_grad])
def test_to_silence_a_head_is_to_zero_its_slice_of_the_output_matrix(model, path):
    without = copy.deepcopy(model)
    with torch.no_grad():
        without.decoder.layers[1].cross_attention.W_O.weight[:, 5 * 2 : 5 * 3] = 0
    with path():
        with model.hooks({CROSS + "hook_z": silence(head=2)}):
            silenced = model(SOURCE, TARGET)
        torch.testing.assert_close(silenced, without(SOURCE, TARGET))
        assert not torch.allclose(silenced, model(SOURCE, TARGET), atol=1e-3)


def test_to_silence_a_head_leaves_the_tensor_it_was_given_alone():
    z = torch.ones(1, 4, 2, 3)
    silence(1)(z, "hook_z")
    assert z.all()


@pytest.mark.slow
def test_two_threads_on_one_model_never_see_each_others_values(model):
    """Each thread watches and edits by itself, while the other does the same."""
    sentences = [torch.randint(4, 20, (1, length)) for length in (3, 4, 6, 9)]
    truth = [once(model, sentence, head) for head, sentence in enumerate(sentences)]
    wrong, start = [], threading.Barrier(len(sentences))

    def person(head, sentence):
        start.wait()
        for _ in range(15):
            output, cache = once(model, sentence, head)
            same = torch.equal(output, truth[head][0]) and cache.keys() == truth[head][1].keys()
            if not (same and all(torch.equal(cache[n], truth[head][1][n]) for n in cache)):
                wrong.append(head)

    run_threads([threading.Thread(target=person, args=pair) for pair in enumerate(sentences)])
    assert wrong == []


def once(model, sentence, head):
    with torch.no_grad(), model.hooks({CROSS + "hook_z": silence(head)}):
        return model.run_with_cache(sentence, TARGET[:1])


def run_threads(threads):
    """Run them while the interpreter switches between them as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


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
