"""What the tests of the pages share: a way to a page, and what stands on it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


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
