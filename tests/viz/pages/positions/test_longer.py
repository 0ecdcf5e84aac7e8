"""The loss over the position in a long sentence, recomputed from logits."""

import numpy as np
import pytest
import torch

from tests.viz.app_test import texts
from tests.viz.pages.reading import frames
from transformer import Translator
from transformer.config import BOS, EOS
from transformer.files.installed import ASSETS, BUNDLED
from transformer.paper.positions import Edit, join_sentences, mean_losses
from viz.pages.positions import longer

BOTH = ("encoder", "decoder")


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


@pytest.mark.slow
def test_each_curve_is_the_loss_of_its_windows(serve) -> None:
    app = serve("positions", checkpoint=BUNDLED, text="A dog.", pe_view="Longer", beam="1")
    (drawn,) = [frame for frame in frames(app) if "loss" in frame]
    translator = Translator.load()
    model = translator.model
    source, target = (
        join_sentences((ASSETS / name).read_text("utf-8").splitlines()[: longer.PARTS])
        for name in ("examples.txt", "examples-de.txt")
    )
    ids = [[p.id for p in t.pieces(text)] for t, text in
           ((translator.tokenizer, source), (translator.target_tokenizer, target))]  # fmt: skip
    written = [*ids[1], EOS]
    read = torch.tensor([[BOS, *written[:-1]]])
    given = torch.tensor([[*ids[0], EOS]])

    def beyond(positions: torch.Tensor, name: str) -> torch.Tensor:
        rows = torch.randn(positions.shape, generator=torch.Generator().manual_seed(0))
        return torch.cat([positions[:, :128], rows[:, 128:] / 2**0.5], 1)

    names = [*longer.POSITIONS]
    for name, edits in (
        (names[0], {}),
        (
            names[1],
            {f"{stack}.embedding.hook_positions": beyond for stack in ("encoder", "decoder")},
        ),
    ):
        with torch.inference_mode(), model.hooks(edits):
            log_p = model(given, read)[0].log_softmax(-1)
        losses = [-float(log_p[place, piece]) for place, piece in enumerate(written)]
        windows = [np.mean(losses[n : n + 16]) for n in range(0, len(losses) - 15, 16)]
        rows = drawn[drawn["positions"] == name]
        np.testing.assert_allclose(rows["loss"], windows, rtol=1e-3)
        assert rows["position"].tolist() == [16 * n for n in range(len(windows))]
    assert len(written) > 1.5 * longer.TRAINED


def test_a_model_of_other_languages_has_no_examples(opened, translator, monkeypatch) -> None:
    monkeypatch.setattr(longer, "EXAMPLES", {"English": "examples.txt"})
    assert "in English and German alone" in texts(opened("Longer"))[-1]
