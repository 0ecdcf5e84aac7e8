"""A run may begin with smaller weights, the deeper the layer."""

from __future__ import annotations

import math
import re
from pathlib import Path

import torch

from tests.training.conftest import RECIPE
from tests.training.runs import command, weights
from training.train import main

MATRIX = re.compile(r"(?:en|de)coder\.layers\.(\d)\.(?!.*norm).*weight")


def _first_weights(folder: Path, data: Path, more: str) -> dict[str, torch.Tensor]:
    """The weights of a run of one step, which a rate of next to nothing leaves as they were."""
    text = RECIPE.replace("N = 1", "N = 3").replace("lr_factor = 1.0", "lr_factor = 1e-12")
    recipe = folder / "tiny.toml"
    recipe.write_text(text.replace("steps = 24", "steps = 1") + more, "utf-8")
    assert main(command(recipe, data, folder / "out")) == 0
    return weights(folder / "out")


def test_the_matrices_of_layer_l_begin_divided_by_its_root(data: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "scaled").mkdir()
    plain = _first_weights(tmp_path / "plain", data, "")
    scaled = _first_weights(tmp_path / "scaled", data, "depth_scaled = true\n")
    divided = set()
    for name, weight in plain.items():
        l = 1  # noqa: E741, the symbol of the article
        if at := MATRIX.fullmatch(name):
            l = int(at[1]) + 1  # noqa: E741
            divided.add(name)
        torch.testing.assert_close(scaled[name], weight / math.sqrt(l), rtol=1e-5, atol=1e-9)
    # 4 of attention and 2 of the feed-forward network; the decoder has both kinds of attention
    assert len(divided) == 3 * (4 + 2) + 3 * (4 + 4 + 2)
