"""The app on a MarianMT folder: biases, swish, two vocabularies, weights that nobody trained."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.transformer.marian import marian_folder
from viz.app.navigation import TITLES
from viz.app.serving import CHECKPOINT_VARIABLE

APP = Path(__file__).parents[3] / "app.py"
SENTENCE = "The old cat sleeps."
VIEWS = ("heads", "removal", "why", "layers", "faithful")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return marian_folder.write(tmp_path_factory.mktemp("marian"), separate=True)


@pytest.mark.parametrize("page", TITLES)
def test_every_page_opens_on_a_marian_folder(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    app = AppTest.from_file(str(APP), default_timeout=60)
    app._page_hash = calc_hash(page)
    app.query_params["text"] = SENTENCE
    app.run()
    assert not app.exception
    shown = [text.value for text in app.text]
    assert any(text.startswith("log p") for text in shown), shown
