"""Layer norm and batch norm against torch's own, and what they make of the model's tensors."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.transformer.analysis.lens_cases import Case
from transformer.analysis.teacher_forcing import forced_pair
from transformer.layers import AddAndNorm
from transformer.paper.norms import Block, batch_jitter, layer_norm, norm_block, token_norm

LENGTHS = (4, 2, 3, 7)


@pytest.fixture
def block() -> Block:
    x = np.random.default_rng(3).normal(2, 5, (4, 7, 6))
    return Block(x, np.arange(7) < np.array(LENGTHS)[:, None])


def test_layer_norm_is_torchs(block: Block) -> None:
    for values in (block.x, block.x * 1e-3):  # so small that ε counts, inside the root
        expected = F.layer_norm(torch.tensor(values), (6,), eps=1e-5).numpy()
        np.testing.assert_allclose(layer_norm(values, 1e-5), expected, rtol=1e-10)


def test_batch_jitter_is_torchs_batch_norm(block: Block) -> None:
    batches = [(0, 1), (0, 2, 1), (0, 3)]
    for token, feature in ((0, 0), (3, 5)):
        jitter = batch_jitter(block, batches, token, feature)
        for number, batch in enumerate(batches):
            rows = [block.x[n, position] for n in batch for position in range(LENGTHS[n])]
            norm: Any = nn.BatchNorm1d(6, affine=False, momentum=1.0).double().train()
            expected = norm(torch.tensor(np.stack(rows)))[token]  # sentence 0 stands first
            assert jitter.normalised[number] == pytest.approx(float(expected[feature]), rel=1e-9)
            assert jitter.mean[number] == pytest.approx(float(norm.running_mean[feature]))
            # torch keeps the unbiased variance, and normalises by the other one
            biased = float(norm.running_var[feature]) * (len(rows) - 1) / len(rows)
            assert jitter.variance[number] == pytest.approx(biased, rel=1e-9)
    assert np.ptp(jitter.mean) > 0.1


def test_a_token_becomes_what_torch_and_the_model_make_of_it(case: Case) -> None:
    names = [name for name, module in case.model.named_modules() if isinstance(module, AddAndNorm)]
    pair = forced_pair(case.model, case.trace)
    with torch.inference_mode():
        _, cache = case.model.run_with_cache(pair.source, pair.target)
    for name in names:
        norm: Any = case.model.get_submodule(f"{name}.norm")
        for token, x in enumerate(cache[f"{name}.hook_sum"][0]):
            steps = token_norm(case.model, x.numpy(), name)
            with torch.inference_mode():
                np.testing.assert_allclose(steps.after, norm(x).numpy(), atol=1e-12)
            own = cache[f"{name}.hook_normalised"][0, token].numpy()
            np.testing.assert_allclose(steps.after, own, atol=1e-12)
            plain = F.layer_norm(x, x.shape, eps=norm.eps).numpy()
            np.testing.assert_allclose(steps.normalised, plain, atol=1e-12)
            np.testing.assert_array_equal(steps.gain, norm.weight.detach().numpy())
            np.testing.assert_array_equal(steps.bias, norm.bias.detach().numpy())


def test_a_block_is_what_the_norm_reads_in_a_padded_batch(translator, traces) -> None:
    name = "encoder.layers.1.feed_forward_norm"
    block = norm_block(translator.model, [trace.source_pieces for trace in traces], name)
    lengths = [len(trace.source_pieces) for trace in traces]
    assert block.real.sum(1).tolist() == lengths
    for n, trace in enumerate(traces):  # a sentence has the same numbers alone
        source = torch.tensor([[piece.id for piece in trace.source_pieces]])
        with torch.inference_mode():
            _, cache = translator.model.run_with_cache(source, source[:, :1])
        alone = cache[f"{name}.hook_sum"][0].numpy()
        np.testing.assert_allclose(block.x[n, : lengths[n]], alone, atol=1e-5)
