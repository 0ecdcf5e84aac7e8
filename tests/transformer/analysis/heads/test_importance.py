"""Importance by gradient is that of a gate; by taking away, that of the removed head."""

import copy

import numpy as np
import pytest
import torch

from transformer import config, kinds
from transformer.analysis.heads import head, importance, removal

SOURCE = torch.tensor([[9, 8, 7, 6, config.EOS], [5, 4, config.EOS, config.PAD, config.PAD]])
TARGET = torch.tensor([[config.BOS, 5, 6, 7], [config.BOS, 9, config.PAD, config.PAD]])
LABELS = torch.tensor([[5, 6, 7, config.EOS], [9, config.EOS, config.PAD, config.PAD]])


@pytest.mark.parametrize("place", [head.Head(kind, 1, 2) for kind in kinds.KINDS])
def test_the_gradient_is_that_of_a_gate_on_the_head(model, place) -> None:
    step = 1e-5
    model = copy.deepcopy(model).double()  # in float32 the difference is lost

    def loss(gate: float) -> np.ndarray:
        def hook(z: torch.Tensor, _name: str) -> torch.Tensor:
            z = z.clone()
            z[:, place.head] *= gate
            return z

        name = f"{kinds.attention_name(place.kind, place.layer)}.hook_z"
        with torch.no_grad(), model.hooks({name: hook}):
            nats = importance.sentence_losses(model, SOURCE, TARGET, LABELS)
        return (nats / torch.tensor([4, 2])).double().numpy()

    slope = np.abs(loss(1 + step) - loss(1 - step)) / (2 * step)
    gradient = importance.gradient_importance(model, SOURCE, TARGET, LABELS)
    heads = head.all_heads(model.config)
    assert gradient.shape == (2, len(heads))
    np.testing.assert_allclose(gradient[:, heads.index(place)], slope, rtol=1e-5, atol=1e-8)
    assert not any(parameter.grad is not None for parameter in model.parameters())


def test_a_model_in_bfloat16_has_gradients_too(model) -> None:
    model = copy.deepcopy(model).bfloat16()
    gradients = importance.gradient_importance(model, SOURCE, TARGET, LABELS)
    assert np.isfinite(gradients).all()
    for kind in kinds.KINDS:
        own = [place.kind == kind for place in head.all_heads(model.config)]
        assert (gradients[:, own] > 0).any()


def test_the_losses_without_sets_of_heads(model) -> None:
    heads = head.all_heads(model.config)
    removals = [*([place] for place in heads[::6]), heads[2:20:5], heads[:9], []]
    with torch.no_grad():
        whole = importance.sentence_losses(model, SOURCE, TARGET, LABELS)
    all_losses = []
    for losses in importance.losses_without(model, SOURCE, TARGET, LABELS, removals):
        all_losses.append(losses)
        with torch.no_grad():  # the heads are there again for who takes their loss
            assert torch.equal(importance.sentence_losses(model, SOURCE, TARGET, LABELS), whole)
    for losses, off in zip(all_losses, removals, strict=True):
        places = [removal.Removal(*place) for place in off]
        with torch.no_grad(), removal.removed(model, places):
            expected = importance.sentence_losses(model, SOURCE, TARGET, LABELS)
        torch.testing.assert_close(losses, expected)
    with torch.no_grad():
        # a sentence by itself, without padding
        alone = importance.sentence_losses(model, SOURCE[1:, :3], TARGET[1:, :2], LABELS[1:, :2])
        torch.testing.assert_close(alone, whole[1:], rtol=1e-4, atol=1e-4)
