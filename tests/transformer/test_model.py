import math

import pytest
import torch
from torch import nn

from tests.transformer import reference
from transformer import Transformer, TransformerConfig
from transformer.config import BOS, EOS, PAD

SOURCE = torch.tensor([[5, 6, 7, 8, EOS], [9, 10, EOS, PAD, PAD], [11, EOS, PAD, PAD, PAD]])
TARGET = torch.tensor([[BOS, 12, 13, 14], [BOS, 15, PAD, PAD], [BOS, 16, 17, PAD]])
REAL = TARGET != PAD
PATHS = pytest.mark.parametrize(
    "path", [torch.enable_grad, torch.no_grad], ids=["explicit", "sdpa"]
)


def config(**changes):
    shape = {"vocab_size": 20, "N": 2, "d_model": 16, "d_ff": 24, "h": 4, "max_length": 64}
    return TransformerConfig(**(shape | changes))


@pytest.fixture
def model():
    """Every parameter random: a bias of zero would hide a bias that is forgotten."""
    torch.manual_seed(1)
    model = Transformer(config())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or "bias" in name:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model.eval()


@PATHS
def test_the_stacks_are_pytorchs(model, path):
    """§3.1, post-norm and without the final norms that `nn.Transformer` adds."""
    model.double()
    theirs = nn.Transformer(16, 4, 2, 2, 24, dropout=0, batch_first=True).double()
    theirs.encoder.norm = theirs.decoder.norm = None
    for ours, their in zip(model.encoder.layers, theirs.encoder.layers, strict=True):
        copy_attention(ours.self_attention, their.self_attn)
        copy_rest(ours, their, "self_attention_norm", "feed_forward_norm")
    for ours, their in zip(model.decoder.layers, theirs.decoder.layers, strict=True):
        copy_attention(ours.self_attention, their.self_attn)
        copy_attention(ours.cross_attention, their.multihead_attn)
        copy_rest(ours, their, "self_attention_norm", "cross_attention_norm", "feed_forward_norm")

    table = model.shared_embedding.detach()
    foot = {  # §3.4, §3.5
        name: table[tokens] * math.sqrt(16) + torch.from_numpy(reference.positions(length, 16))
        for name, tokens, length in (("source", SOURCE, 5), ("target", TARGET, 4))
    }
    decoded = theirs(
        foot["source"],
        foot["target"],
        tgt_mask=torch.ones(4, 4).triu(1).bool(),
        src_key_padding_mask=SOURCE == PAD,
        memory_key_padding_mask=SOURCE == PAD,
    )
    with path():
        logits = model(SOURCE, TARGET)
    # the waves are float32 here and float64 there
    torch.testing.assert_close(logits[REAL], (decoded @ table.T)[REAL], atol=1e-5, rtol=1e-5)


def copy_attention(ours, their):
    with torch.no_grad():
        their.in_proj_weight.copy_(torch.cat((ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight)))
        their.out_proj.weight.copy_(ours.W_O.weight)
        their.in_proj_bias.zero_()
        their.out_proj.bias.zero_()


def copy_rest(ours, their, *norms):
    their.linear1.load_state_dict(ours.feed_forward.W_1.state_dict())
    their.linear2.load_state_dict(ours.feed_forward.W_2.state_dict())
    for number, name in enumerate(norms, 1):
        getattr(their, f"norm{number}").load_state_dict(getattr(ours, name).norm.state_dict())


def test_every_matrix_begins_as_glorot_wants_it():
    """Uniform in ±√(6 / (fan in + fan out)), for each d×d matrix by itself."""
    torch.manual_seed(0)
    model = Transformer(config(d_model=128, d_ff=512))
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            bound = math.sqrt(6 / sum(module.weight.shape))
            assert bound * 0.99 < module.weight.abs().max() <= bound, name
            assert module.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
            assert not any(p.any() for n, p in module.named_parameters() if n == "bias")


@PATHS
def test_batching_and_padding_change_nothing(model, path):
    with path():
        batched = model(SOURCE, TARGET)
        for row, (source, target) in enumerate(zip(SOURCE, TARGET, strict=True)):
            alone = model(source[source != PAD][None], target[target != PAD][None])
            torch.testing.assert_close(batched[row, REAL[row]], alone[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("watched", [False, True])
def test_no_logit_feels_a_later_target_position(model, watched):
    """§3.2.3: the gradient from logits at i to inputs after i is zero, and others are not."""
    embedded = leaf("decoder.embedding.hook_tokens", model, watched)
    for position in range(4):
        logits = embedded.run(SOURCE[:1], TARGET[:1])
        (gradient,) = torch.autograd.grad(logits[0, position].square().sum(), embedded.value)
        felt = gradient[0].abs().amax(-1)
        assert (felt[: position + 1] > 0).all()
        assert (felt[position + 1 :] == 0).all()


@pytest.mark.parametrize("watched", [False, True])
def test_no_logit_feels_the_padding_of_the_source(model, watched):
    embedded = leaf("encoder.embedding.hook_tokens", model, watched)
    logits = embedded.run(SOURCE, TARGET)
    (gradient,) = torch.autograd.grad(logits[REAL].square().sum(), embedded.value)
    assert torch.equal(gradient.abs().amax(-1) > 0, SOURCE != PAD)


class leaf:
    """Makes the value at one hook point a leaf that gradients can be asked for."""

    def __init__(self, name, model, watched):
        self.name, self.model, self.watched = name, model, watched

    def run(self, source, target):
        def hook(value, name):
            self.value = value.detach().requires_grad_()
            return self.value

        with self.model.hooks({self.name: hook}):
            if self.watched:
                return self.model.run_with_cache(source, target)[0]
            return self.model(source, target)
