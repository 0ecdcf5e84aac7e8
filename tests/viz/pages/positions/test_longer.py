"""The loss over the position in a long sentence, recomputed from logits."""

import numpy as np
import torch

from tests.viz.app_test import texts
from transformer.paper.positions import Edit, join_sentences, mean_losses
from viz.pages.positions import longer


def test_sentences_become_one() -> None:
    assert (
        join_sentences(["A dog runs.", "Two cats sleep!", "Why?"])
        == "A dog runs, two cats sleep, why."
    )
    assert join_sentences(["A dog runs."]) == "A dog runs."
    losses = mean_losses(np.array([-1, -3, -5, -5, -9], dtype=np.float32), 2)
    assert losses.tolist() == [2, 5]


def test_rows_beyond_a_learned_table_are_random() -> None:
    positions = torch.arange(10.0)[None, :, None].expand(1, 10, 4)
    (hook,) = Edit("random", ("encoder",), 4).hooks().values()
    edited = hook(positions, "")
    assert edited is not None
    assert torch.equal(edited[:, :4], positions[:, :4])
    assert edited[:, 4:].abs().max() < 4  # drawn with a deviation of 0.7
    assert torch.equal(edited, hook(positions, ""))  # type: ignore[arg-type]


def test_a_model_of_other_languages_has_no_examples(opened, translator, monkeypatch) -> None:
    monkeypatch.setattr(longer, "EXAMPLES", {"English": "examples.txt"})
    assert "in English and German alone" in texts(opened("Longer"))[-1]
