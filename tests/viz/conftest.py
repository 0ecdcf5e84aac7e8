"""Fixtures that make the app quick where it runs without a browser."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from altair.utils import schemapi
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from tests.viz.app.view.programs import Programs
from viz.app import jobs
from viz.app.cache.memory import forget_server_wide, state_of_file
from viz.app.lessons import library
from viz.app.view.listing import Listing
from viz.lessons import read_lesson


@pytest.fixture(scope="session", autouse=True)
def _no_package_is_scanned() -> Iterator[None]:
    """Each AppTest searches all installed packages for components, which takes most of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


@pytest.fixture(scope="session", autouse=True)
def _lessons_are_parsed_once() -> Iterator[None]:
    """Whoever makes the app forget would have it parse all lessons again, a quarter of a second."""
    cached = cache(lambda path, _state: read_lesson(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "read_lesson", lambda path: cached(path, state_of_file(path)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _a_run_is_waited_for() -> Iterator[None]:
    """AppTest asks a thousand times a second whether its run has ended."""
    ask = local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        thread = runner._script_thread
        assert thread is not None
        thread.join(timeout)
        ask(runner, 0.1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_copied_as_it_is() -> Iterator[None]:
    """Altair copies each part of a chart six times, with a hundred properties that are not set."""
    copy = schemapi._deep_copy
    plain = {type(schemapi.Undefined), type(None), str, int, float, bool}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            schemapi,
            "_deep_copy",
            lambda part, by_ref: part if type(part) in plain else copy(part, by_ref),
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def _runs_wait_for_their_jobs() -> Iterator[None]:
    """A run draws the result of a job on a sentence, however slow the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "PATIENCE", 60.0)
        yield


@pytest.fixture(autouse=True)
def _remembers_no_other_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep what the app remembers from one test to the next, as from one reader to the next.

    It is forgotten before and after a test that may put other code in the place of the app's, which
    is one that asks for `monkeypatch`, itself or through a fixture.
    """
    has_other_code = _has_other_code(request.node)
    if has_other_code:
        forget_server_wide()
    yield
    if has_other_code:
        forget_server_wide()


def _has_other_code(item: pytest.Item) -> bool:
    return "monkeypatch" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests that put other code in place of the app's come last in their modules.

    Each of them empties what the app remembers, which the others would have to compute anew.
    """
    places = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
    here = Path(__file__).parent
    items.sort(
        key=lambda item: (places[item.path], here in item.path.parents and _has_other_code(item))
    )


@pytest.fixture
def listed() -> Iterator[Programs]:
    """Programs of the views that are opened, and the values that these have computed."""
    programs: Programs = []
    source = Listing.source

    def noted(listing: Listing) -> str:
        programs.append((source(listing), listing.values))
        return programs[-1][0]

    with pytest.MonkeyPatch.context() as patch:  # of no code of the app's: its cache stays
        patch.setattr(Listing, "source", noted)
        yield programs
