"""First weights: the deeper the layer the smaller."""

import math
import re

import torch

from tests.training.conftest import TinyRun
from tests.training.runs import weights

MATRIX = re.compile(r"(?:en|de)coder\.layers\.(\d)\.(?!.*norm).*weight")


def test_the_matrices_of_layer_l_begin_divided_by_its_root(tiny: TinyRun) -> None:
    # one step, which a rate of next to nothing leaves without effect
    tiny.change(N=3, lr_factor=1e-12, steps=1)
    plain = weights(tiny.train(out="plain"))
    tiny.change(depth_scaled=True)
    scaled = weights(tiny.train(out="scaled"))
    divided = set()
    for name, weight in plain.items():
        l = 1  # noqa: E741, the symbol of the article
        if at := MATRIX.fullmatch(name):
            l = int(at[1]) + 1  # noqa: E741
            divided.add(name)
        torch.testing.assert_close(scaled[name], weight / math.sqrt(l), rtol=1e-5, atol=1e-9)
    # 4 of attention and 2 of the feed-forward network; the decoder has both kinds of attention
    assert len(divided) == 3 * (4 + 2) + 3 * (4 + 4 + 2)
