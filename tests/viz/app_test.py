"""The app as Streamlit runs it, without a browser, on a small trained model."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from transformer import Translator
from viz.app import serving

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def translator(taught_folder: Path) -> Translator:
    return Translator.load(taught_folder)


@pytest.fixture
def serve(taught_folder: Path, monkeypatch):
    """Open the app, or one page of it, at a URL."""
    st.cache_data.clear()
    st.cache_resource.clear()

    def open_(page=None, *, checkpoint: Path = taught_folder, **url: str) -> AppTest:
        monkeypatch.setenv(serving.CHECKPOINT_VARIABLE, str(checkpoint))
        if page is None:
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        else:
            app = AppTest.from_function(page, default_timeout=60)
        for name, value in url.items():
            app.query_params[name] = value
        return app.run()

    return open_


def heads_page() -> None:
    """AppTest cannot walk to a page; this is the way there."""
    from viz.app import sentence_bar
    from viz.pages import heads

    sentence_bar.show("page")
    heads.show()


def texts(app: AppTest) -> list[str]:
    assert not app.exception
    return [text.value for text in app.text]


def in_url(app: AppTest, name: str) -> str | None:
    values = app.query_params.get(name)
    return values[-1] if isinstance(values, list) else values
