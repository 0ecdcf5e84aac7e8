"""Views that take long on a sentence: their jobs, whose results come into the page."""

import threading
import time
from functools import partial
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, html
from viz.app import jobs
from viz.app.cache import memory

VIEWS: list[tuple[str, dict[str, str], set[str]]] = [
    ("translate", {"where_from": "true"}, {"Sharing out each layer's output"}),
    ("heads", {"lens": "value zeroing"}, {"Lens value zeroing"}),
    (
        "roles",
        {"roles_view": "Remove heads", "removed": "L1 H2 cross"},
        {"Removing each head", "Translating without these heads"},
    ),
    (
        "roles",
        {"roles_view": "Why this word", "erase": "true"},
        {"Removing each head", "Erasing 11 subwords one by one"},
    ),
    (
        "roles",
        {"roles_view": "Layer by layer", "encoder_layers": "true"},
        {"Sharing out each layer's output", "Translating from each encoder layer"},
    ),
]
"""Page, address and titles of the jobs of each view."""


def drawn(app: AppTest) -> list[list[str]]:
    assert not app.exception
    captions = [caption.value for caption in app.caption]
    return [
        texts(app),
        captions,
        html(app),
        [chart.proto.spec for chart in app.get("vega_lite_chart")],
    ]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let no run wait, and no job begin until it is set."""
    go_on, run = threading.Event(), jobs.Job.run

    def when_set(job: jobs.Job) -> None:
        assert go_on.wait(20)
        run(job)

    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    monkeypatch.setattr(jobs.Job, "run", when_set)
    return go_on


def run_to_the_end(app: AppTest, held: threading.Event) -> None:
    """Run a page with a job again and again, as a browser does."""
    assert not app.exception
    assert app.get("progress")
    assert not app.run().exception
    held.set()
    end = time.monotonic() + 60
    while app.get("progress"):
        assert time.monotonic() < end
        time.sleep(0.01)
        app.run()


@pytest.mark.parametrize(
    ("page", "url", "titles"), VIEWS, ids=[f"{page}-{[*url.values()]}" for page, url, _ in VIEWS]
)
def test_a_view_waits_for_its_jobs_and_then_draws_the_same(
    serve,
    monkeypatch: pytest.MonkeyPatch,
    request,
    page: str,
    url: dict[str, str],
    titles: set[str],
) -> None:
    def opened() -> AppTest:
        return serve(page, **{"text": SENTENCE, "kind": "encoder", "layer": "1", "head": "2"} | url)

    expected = drawn(opened())
    memory.forget_server_wide()
    held = request.getfixturevalue("held")
    computed, start, started = jobs.compute_measure, jobs.start, set()

    def noted(name: str, title: str, *more: Any) -> jobs.Job:
        started.add(title)
        return start(name, title, *more)

    monkeypatch.setattr(jobs, "start", noted)
    monkeypatch.setattr(jobs, "compute_measure", lambda *a, **k: computed(*a, **k | {"at_once": 0}))
    app = opened()
    run_to_the_end(app, held)
    assert drawn(app) == expected
    assert started == titles


def test_the_head_that_is_needed_most_is_removed_when_it_is_found(serve, request) -> None:
    open_ = partial(serve, "roles", text=SENTENCE, roles_view="Remove heads")
    expected = open_().button(key="removal-needed").click().run().text_input(key="removed").value
    assert expected
    memory.forget_server_wide()
    app = open_()
    held = request.getfixturevalue("held")
    app.button(key="removal-needed").click().run()
    run_to_the_end(app, held)
    for _ in range(2):  # once
        assert app.text_input(key="removed").value == expected
        app.run()
