import pytest
import torch

from transformer import Transformer, TransformerConfig, masks
from transformer.cache import Cache

SOURCE = torch.tensor([[5, 6, 7, 4, 3], [6, 3, 0, 0, 0], [4, 4, 7, 3, 0], [7, 5, 6, 3, 0]])
TARGET = torch.tensor(
    [[2, 4, 5, 6, 7, 4], [2, 7, 7, 4, 5, 5], [2, 6, 4, 6, 4, 6], [2, 5, 5, 5, 7, 6]]
)
PATHS = pytest.mark.parametrize(
    "path", [torch.enable_grad, torch.no_grad], ids=["explicit", "sdpa"]
)


@pytest.fixture
def model():
    torch.manual_seed(4)
    config = TransformerConfig(vocab_size=8, N=2, d_model=16, d_ff=24, h=2, d_k=5, d_v=7)
    return Transformer(config).eval()


@PATHS
@pytest.mark.parametrize("steps", [[1] * 6, [3, 1, 2]], ids=str)
def test_logits_with_a_cache_are_the_logits_without_one(model, path, steps):
    mask = masks.padding_mask(SOURCE)
    with path():
        memory, cache = model.encode(SOURCE, mask), Cache(model.config.N)
        parts = [
            model.logits(model.decode(part, memory, mask, cache))
            for part in TARGET.split(steps, dim=1)
        ]
        whole = model(SOURCE, TARGET)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=1e-5, rtol=1e-5)
    assert cache.length == 6
