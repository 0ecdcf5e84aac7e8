"""A checkpoint with measured lines beside it, and the page “Corpus” opened on them."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from training.evaluation import measurement
from transformer import Translator
from transformer.corpus import measuring, result_file
from transformer.corpus.measured import MeasuredLines

TEXTS = (
    "The dog sleeps in the garden.",
    "My brother eats.",
    "",
    "Her horse waits.",
    "The old cat sleeps under the table.",
    "The baker sings in the garden.",
)
REFERENCES = (
    "Der Hund schläft im Garten.",
    "Mein Bruder isst.",
    "",
    "",
    "Die alte Katze schläft unter dem Tisch.",
    "Der Bäcker singt im Garten.",
)
"""Lines 3, which is left out, and 4 have none."""


@pytest.fixture(scope="package")
def measured_folder(trained_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(trained_folder, tmp_path_factory.mktemp("measured") / "model")
    lines = measuring.measure_lines(Translator.load(folder), TEXTS, references=REFERENCES)
    measurement.store(folder, {result_file.FILE: result_file.to_bytes(lines)})
    return folder


@pytest.fixture
def measured(measured_folder: Path) -> tuple[Translator, MeasuredLines]:
    translator = Translator.load(measured_folder)
    content = (measured_folder / result_file.FILE).read_bytes()
    return translator, result_file.from_bytes(content, translator)


@pytest.fixture
def view(serve: Callable[..., AppTest], measured_folder: Path) -> Callable[..., AppTest]:
    """Open a view of the page on the measured lines."""

    def open_view(name: str, **url: str) -> AppTest:
        url = {"text": "Dog.", "corpus_view": name} | url
        app = serve("corpus", checkpoint=measured_folder, **url)
        assert not app.exception
        return app

    return open_view


def press(app: AppTest, name: str, button: str = "") -> AppTest:
    """Start the job of a name by its button or another, and wait for its end, as a browser does."""
    app.button(key=button or f"{name}-start").click().run()
    job = app.session_state[f"job {name}"]
    end = time.monotonic() + 60
    while job.is_active:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert not app.run().exception
    return app


def frame(app: AppTest, *columns: str) -> pd.DataFrame:
    """Return the one table that has these columns."""
    (only,) = [table.value for table in app.dataframe if {*columns} <= {*table.value.columns}]
    return only
