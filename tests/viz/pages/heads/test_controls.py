"""Every choice stands in the URL, and the page opens with it."""

import pytest

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import texts
from viz.app.models.menu import MODELS_VARIABLE

SENTENCE = "The dog sleeps in the garden."


@pytest.mark.parametrize(
    "url",
    [
        {"kind": "cross", "words": "true", "special": "false", "sort": "entropy"},
        {"sort": "offset", "kinds": "encoder", "layers": "1"},
        {"scale": "by row", "threshold": "0.1", "over": "L1 H2"},
        {"view": "compare", "with": "another head", "layer2": "mean", "head2": "2"},
        {"view": "compare", "with": "another sentence", "text2": "The cat sleeps."},
        {"view": "compare", "with": "another model"},
        {"view": "step by step", "words": "true", "without_sinks": "true", "kind": "decoder"},
        {"kinds": "nonsense", "layers": "77", "sort": "colour", "over": "L9 H9", "step": "-1"},
    ],
)
def test_every_choice_of_a_link_is_drawn(serve, url: dict[str, str]) -> None:
    app = serve("heads", **{"text": SENTENCE, "kind": "encoder", **url})
    assert not app.exception
    assert not any("nothing to draw" in line for line in texts(app))


def test_another_model_shows_all_its_layers(serve, tmp_path, monkeypatch) -> None:
    marian_folder.write(tmp_path / "deeper", layers=3)
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path))
    app = serve("heads", text=SENTENCE)
    (layers,) = [element for element in app.get("button_group") if element.key == "layers"]
    assert layers.value == ["1", "2"]
    app.selectbox(key="model").select("deeper").run()
    (layers,) = [element for element in app.get("button_group") if element.key == "layers"]
    assert layers.value == ["1", "2", "3"]
