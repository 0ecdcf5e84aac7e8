"""The view “batch or layer”: what it says of one number, in every batch and in every model."""

from itertools import combinations
from pathlib import Path

import numpy as np
import torch

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, frames
from transformer import Translator
from viz.app.sentence import source_box
from viz.pages.architecture.drawing import NORMS

NAME = "encoder.layers.1.self_attention_norm"


def test_batch_norm_changes_a_number_and_layer_norm_does_not(
    opened, translator: Translator
) -> None:
    url = {"arch_layer": "2", "arch_token": "3", "arch_feature": "5"}
    app = opened(arch_view=NORMS, **url)
    pieces = [translator.reader.text(text) for text in (SENTENCE, *source_box.EXAMPLES["English"])]
    values = []
    for others in combinations(range(1, len(pieces)), 3):
        batch = [pieces[n] for n in (0, *others)]
        longest = max(map(len, batch))
        ids = [[*(piece.id for piece in row), *[0] * (longest - len(row))] for row in batch]
        source = torch.tensor(ids)
        with torch.inference_mode():  # each batch in a pass of its own
            _, cache = translator.model.run_with_cache(source, source[:, :1])
        x = cache[f"{NAME}.hook_sum"].double()
        rows = x[source != 0]
        norm = torch.nn.BatchNorm1d(32, affine=False).double().train()
        place = 2  # of the reader's sentence, which stands first
        values.append(float(norm(rows)[place, 4]))
        layer = torch.nn.functional.layer_norm(x[0, 2], (32,))[4]
    (cells,) = (frame for frame in frames(app) if "value" in frame)
    assert ((cells["row"] == "padding") == (cells["value"] == "padding")).all()
    drawn = frames(app, 3)[0]
    shown = drawn[drawn["by"] == "batch normalisation"]["normalised"].to_numpy()
    np.testing.assert_allclose(shown, np.array(values), atol=2e-5)
    text = " ".join(element.value for element in app.markdown).replace("−", "-")
    assert f"becomes {min(values):.2f} to {max(values):.2f}" in text
    assert f"here always {float(layer):.2f}" in text
    assert len({round(value, 3) for value in values}) > 5


def test_a_language_without_examples_has_no_batch(opened, tmp_path: Path) -> None:
    for languages, lacks in ((("fin", "fra"), True), (("eng", "fra"), False)):
        folder = marian_folder.write(
            tmp_path / languages[0], separate=True, layers=1, languages=languages, h=4
        )
        app = opened(checkpoint=folder, arch_view=NORMS, text="Dog.")
        assert any("so no batch to compare with" in text for text in texts(app)) == lacks
        assert len(app.get("vega_lite_chart")) == 0 if lacks else 4
