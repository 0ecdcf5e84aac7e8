"""The fast path computes what the modules compute, whatever the model and the order of its rows."""

import itertools

import pytest
import torch

from tests.transformer.decoding.tiny import SOURCES, batch, build
from transformer import config, decoding, errors, kinds
from transformer.decoding import beam, fast_step
from transformer.hooks import Silence, silence

K = 3
SHAPES = pytest.mark.parametrize(
    "changes",
    [
        {"N": 1, "h": 1, "vocab_size": 300},
        {"N": 3, "h": 4, "positions": "learned", "d_k": 5, "d_v": 7},
        {"activation": "swish", "attention_bias": True, "output_bias": True},
        {"activation": "gelu", "source_vocab_size": 12},
    ],
    ids=str,
)
# from each step to the next: beams change places, sentences end and others take their places
ORDERS = (
    [0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9],  # all rows of a sentence are alike at the start
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    [1, 1, 0, 5, 4, 3, 6, 7, 6, 9, 9, 9],
    [0, 0, 2, 9, 11, 10, 6, 6, 8],
    [0, 1, 2, 5, 3, 5],
    [3, 4, 4],
)


def both(model, written, steps=()):
    """Logits of each step, from the fast path and from the modules."""
    results = []
    with torch.inference_mode():
        for decoder in (fast_step.FastDecoder, beam.PlainDecoder):
            instance = decoder(model, batch(SOURCES), K)
            logits = [instance.start(torch.tensor([written] * len(SOURCES)))]
            logits += [instance.step(rows, pieces) for rows, pieces in steps]
            results.append(logits)
    return results


def steps_of(orders):
    return [(rows, [4 + (row + step) % 4 for row in rows]) for step, rows in enumerate(orders)]


@SHAPES
@pytest.mark.parametrize("written", [[config.BOS], [config.BOS, 5, 6, 4]], ids=["free", "forced"])
def test_the_fast_path_is_the_modules(changes, written):
    model = build(**changes)
    for fast, plain in zip(*both(model, written, steps_of(ORDERS)), strict=True):
        torch.testing.assert_close(fast, plain, atol=1e-4, rtol=1e-4)


def point(kind, layer):
    return f"{kinds.attention_name(kind, layer)}.hook_z"


@SHAPES
def test_silenced_heads_are_those_of_the_modules(changes):
    model = build(**changes)
    whole, _ = both(model, [config.BOS, 5, 6, 4], steps_of(ORDERS))
    last, every = model.config.N - 1, tuple(range(model.config.h))
    for hooks in (
        *({point(kind, layer): silence(model.config.h - 1)}
          for kind in kinds.KINDS for layer in {0, last}),
        {point("cross", 0): Silence(every), point("encoder_self", last): silence(0)},
    ):  # fmt: skip
        with model.hooks(hooks), model.hooks({point("decoder_self", last): silence(0)}):
            assert fast_step.FastDecoder.serves(model)
            silenced, plain = both(model, [config.BOS, 5, 6, 4], steps_of(ORDERS))
        for fast, expected in zip(silenced, plain, strict=True):
            torch.testing.assert_close(fast, expected, atol=1e-4, rtol=1e-4)
        assert not torch.allclose(silenced[0], whole[0], atol=1e-3)
    after, _ = both(model, [config.BOS, 5, 6, 4], steps_of(ORDERS))
    assert torch.equal(after[0], whole[0])  # nothing is left of it


def test_a_translation_that_is_too_long_is_refused_as_by_the_modules():
    model, source = build(max_length=8), batch(SOURCES[1:2])
    for decoder in (fast_step.FastDecoder, beam.PlainDecoder):
        with pytest.raises(errors.InputError, match=r"9 pieces.*at most 8"):
            decoder(model, source, K).start(torch.tensor([[config.BOS] + [5] * 8]))


def test_the_fast_path_is_the_modules_beyond_its_first_room():
    orders = [ORDERS[0], *itertools.islice(itertools.cycle(ORDERS[1:3]), 40)]
    for fast, plain in zip(*both(build(), [config.BOS, 4], steps_of(orders)), strict=True):
        torch.testing.assert_close(fast, plain, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-6), (torch.bfloat16, 0.2)], ids=str
)
def test_the_fast_path_is_the_modules_in_other_precisions(dtype, tolerance):
    model = build().to(dtype)
    for fast, plain in zip(*both(model, [config.BOS], steps_of(ORDERS)), strict=True):
        assert fast.dtype == plain.dtype == dtype
        torch.testing.assert_close(fast, plain, atol=tolerance, rtol=tolerance)


def test_weights_that_were_changed_are_read_anew():
    model = build(N=1, attention_bias=True)
    (before, *_), _ = both(model, [config.BOS])
    for parameter in model.parameters():  # each alone: none may be overlooked
        with torch.no_grad():
            parameter.mul_(1.1).add_(0.01)
        (fast,), (plain,) = both(model, [config.BOS])
        torch.testing.assert_close(fast, plain, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(fast, before)
    biased = build(output_bias=True)
    both(biased, [config.BOS])
    with torch.no_grad():
        biased.output_bias.add_(1)  # of the model itself, not of its decoder
        biased.output_bias[5] = 7
    (fast,), (plain,) = both(biased, [config.BOS])
    torch.testing.assert_close(fast, plain, atol=1e-4, rtol=1e-4)
    for assign in (False, True):  # into the same parameters, and with others in their places
        model.load_state_dict(
            build(N=1, seed=1 + assign, attention_bias=True).state_dict(), assign=assign
        )
        (fast,), (plain,) = both(model, [config.BOS])
        torch.testing.assert_close(fast, plain, atol=1e-4, rtol=1e-4)


def test_weights_that_a_fused_optimiser_changed_are_read_anew():
    """PyTorch does not count its changes."""
    model = build()
    (before, *_), _ = both(model, [config.BOS])
    optimizer = torch.optim.Adam(model.train().parameters(), lr=0.1, fused=True)
    model(batch(SOURCES), batch(SOURCES)).square().mean().backward()
    optimizer.step()
    model.eval()
    (fast,), (plain,) = both(model, [config.BOS])
    assert not torch.allclose(fast, before)
    torch.testing.assert_close(fast, plain, atol=1e-4, rtol=1e-4)


def test_whoever_watches_the_model_sees_each_step_of_the_modules():
    """Every point, at every step, with the K rows of each sentence; and the search is the same."""
    model, source = build(ending=-30), batch(SOURCES[:2])
    unseen = decoding.beam_search(model, source, beam_size=K, max_extra=0)
    seen: dict[str, list] = {}
    hooks = {
        name: lambda v, name: seen.setdefault(name, []).append(v) for name in model.hook_points()
    }
    with model.hooks(hooks):
        watched = decoding.beam_search(model, source, beam_size=K, max_extra=0)
    assert [[h.tokens for h in hypotheses] for hypotheses in watched] == [
        [h.tokens for h in hypotheses] for hypotheses in unseen
    ]
    steps = len(SOURCES[0])
    name = "decoder.layers.1.{}_attention.hook_{}"
    patterns = seen[name.format("cross", "pattern")]
    assert [p.shape for p in patterns[:2]] == [(2 * K, 2, 1, 5)] * 2
    assert len(patterns) == len(seen[name.format("self", "z")]) == steps
    own = seen[name.format("self", "pattern")]
    assert [p.size(-1) for p in own] == list(range(1, steps + 1))
    assert len(seen[name.format("cross", "k")]) == 1  # the source is projected once
    masks = seen[name.format("self", "mask")]
    assert [mask.shape for mask in masks] == [(1, 1, 1, keys) for keys in range(1, steps + 1)]
    assert all(mask.all() for mask in masks)
    assert seen.keys() == hooks.keys()


def test_only_a_hook_on_the_model_itself_leaves_the_fast_path():
    model, other = build(), build()
    looking = {"encoder.embedding.hook_sum": lambda value, name: None}
    assert fast_step.FastDecoder.serves(model)
    with other.hooks(looking):
        assert fast_step.FastDecoder.serves(model)
        assert not fast_step.FastDecoder.serves(other)
    silent = {point("cross", 0): silence(0)}
    with model.hooks(silent):
        assert fast_step.FastDecoder.serves(model)
        # what else there may be is called: on the same point, and on another
        for also in (point("cross", 0), "encoder.embedding.hook_sum"):
            with model.hooks({also: lambda value, name: None}):
                assert not fast_step.FastDecoder.serves(model)
    with model.hooks({"encoder.embedding.hook_sum": silence(0)}):
        assert not fast_step.FastDecoder.serves(model)
    assert not fast_step.FastDecoder.serves(build().train())
    with torch.autocast("cpu"):
        assert not fast_step.FastDecoder.serves(model)
