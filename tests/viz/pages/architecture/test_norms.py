"""The view “batch or layer”: what it says of one number, in every batch and in every model."""

from pathlib import Path

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import texts
from viz.pages.architecture.drawing import NORMS


def test_a_language_without_examples_has_no_batch(opened, tmp_path: Path) -> None:
    for languages, lacks in ((("fin", "fra"), True), (("eng", "fra"), False)):
        folder = marian_folder.write(
            tmp_path / languages[0], separate=True, layers=1, languages=languages, h=4
        )
        app = opened(checkpoint=folder, arch_view=NORMS, text="Dog.")
        assert any("so no batch to compare with" in text for text in texts(app)) == lacks
        assert len(app.get("vega_lite_chart")) == 0 if lacks else 4
