"""The app as Streamlit runs it, without a browser, on a small trained model."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.util import calc_hash

from transformer import AttentionTrace, Translation, Translator
from transformer.checkpoints.domain import Domain
from viz.app.cache import cached_results
from viz.app.models import menu

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def translator(trained_folder: Path) -> Translator:
    return Translator.load(trained_folder)


@pytest.fixture
def unsure_model(monkeypatch: pytest.MonkeyPatch) -> Domain:
    """Domain of any checkpoint, by which all translations get a notice, each its own."""
    domain = Domain("other sentences", 0.0)
    monkeypatch.setattr("transformer.checkpoints.domain.read", lambda _: domain)
    return domain


def open_app(page: str, app: AppTest | None = None, /, **url: str) -> AppTest:
    """Open a page of the app, or walk to it from another one, at a query as a browser sends it."""
    app = app or AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    # AppTest walks to files alone; a page of ours is known by its path
    app._page_hash = calc_hash("" if page == "translate" else page)
    return at(app, url)


def open_alone(page: str, /, **url: str | list[str]) -> AppTest:
    """Open a page that needs no sentence, without the bar."""
    code = f"from viz.pages import {page}\nfrom viz.app.sentence.sentence_bar import Bar\n"
    app = AppTest.from_string(f"{code}{page}.PAGE.show(Bar())", default_timeout=60)
    return at(app, url)


def at(app: AppTest, url: Mapping[str, str | list[str]]) -> AppTest:
    for name, value in url.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


PAGE = """
from viz.app import jobs
from viz.app.sentence import sentence_bar
from viz.pages import {page}

bar = sentence_bar.show(is_used={page}.PAGE.needs_sentence)
try:
    {page}.PAGE.show(bar)
except jobs.UnfinishedError as unfinished:
    unfinished.show()
"""


@pytest.fixture
def serve(trained_folder: Path) -> Iterator[Callable[..., AppTest]]:
    """Open the app, or one page of it by its path or as a function, at a URL."""
    # not the test's own patch, which `_remembers_no_other_code` looks for
    with pytest.MonkeyPatch.context() as patch:

        def open_(page=None, *, checkpoint: Path = trained_folder, **url: str) -> AppTest:
            patch.setenv(menu.CHECKPOINT_VARIABLE, str(checkpoint))
            if page is None:
                app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
            elif isinstance(page, str):  # AppTest cannot navigate to a page
                app = AppTest.from_string(PAGE.format(page=page), default_timeout=60)
            else:
                app = AppTest.from_function(page, default_timeout=60)
            for name, value in url.items():
                app.query_params[name] = value
            return app.run()

        yield open_


GIVEN = {
    "The dog sleeps in the garden.": "Der Hund schläft im Garten.",
    "Dog.": "Hund.",
    "The old cat sleeps under the table.": "Die alte Katze schläft unter dem Tisch.",
    "Her horse waits.": "Ihr Pferd wartet.",
    "The baker sings in the garden.": "Der Bäcker singt im Garten.",
    "My brother eats.": "Mein Bruder frisst.",
}


@pytest.fixture
def given_translations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Maps of the translations in `GIVEN`, so that their lengths are known.

    What the small model itself writes differs between processors, which round differently.
    """
    traces: dict[str, AttentionTrace] = {}

    def trace(translator: Translator, translation: Translation) -> AttentionTrace:
        source = translation.source
        if source not in GIVEN:
            return translator.trace_of(translation)
        if source not in traces:
            traces[source] = translator.trace(source, target=GIVEN[source])
        return traces[source]

    monkeypatch.setattr(cached_results, "trace", trace)


FIGURES = re.compile(r"log probability \S+ \([\d,]+ subwords?\)( · \d+ ms)?")


def texts(app: AppTest) -> list[str]:
    """All texts but the figures in the menu Search."""
    assert not app.exception
    return [text.value for text in app.text if not FIGURES.fullmatch(text.value)]


def figures(app: AppTest) -> str:
    """Return the figures in the menu Search."""
    (text,) = (text.value for text in app.text if FIGURES.fullmatch(text.value))
    return text


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()


def in_url(app: AppTest, name: str) -> str | None:
    values = app.query_params.get(name)
    return values[-1] if isinstance(values, list) else values


def choice(app: AppTest, key: str, value: object) -> WidgetStates:
    """Return what a browser sends for a choice in a key's picture: all widgets' values, too."""
    picture = next(
        component.proto
        for component in app.get("bidi_component")
        if component.proto.id.endswith(f"-{key}")
    )
    states = app._tree.get_widget_states()
    picked = json.dumps([{"event": "picked", "value": value}])
    states.widgets.add(id=_make_trigger_id(picture.id, "events"), json_trigger_value=picked)
    return states


def go_back(app: AppTest, monkeypatch: pytest.MonkeyPatch, **url: str) -> AppTest:
    """Run as for the button Back of a browser, which leads to this URL."""
    with monkeypatch.context() as patch:
        back = partial(RerunData, is_history_navigation=True)
        patch.setattr(local_script_runner, "RerunData", back)
        app.query_params = {**url}
        return app.run()


def unsure(app: AppTest) -> list[str]:
    """Return what is said of translations that the model is unsure of."""
    return [text for text in texts(app) if "The model is unsure of" in text]


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, sent: list[WidgetStates]
) -> None:
    """Let a browser send something while a run is within a function, once for each in the list."""
    real: Callable[..., object] = getattr(module, name)

    def interrupted(*args: Any, **more: Any) -> object:
        ctx = get_script_run_ctx()
        if sent and ctx is not None and ctx.script_requests is not None:
            states = sent.pop(0)
            ctx.script_requests.request_rerun(
                RerunData(ctx.query_string, states, page_script_hash=ctx.page_script_hash)
            )
        return real(*args, **more)

    monkeypatch.setattr(module, name, interrupted)
