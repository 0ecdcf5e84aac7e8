"""The code under each view is plain Python, and gives every value that the view has computed."""

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app.view.programs import Programs, check, same
from tests.viz.app_test import texts
from tests.viz.pages.corpus.conftest import REFERENCES, TEXTS
from tests.viz.pages.reading import assert_whole
from tests.viz.pages.roles import made_reports
from training.evaluation import measurement
from transformer import TransformerConfig, Translator
from transformer.circuits import pairs, pairs_report
from transformer.corpus import measuring, result_file
from transformer.decoding.beam import BeamSearch
from transformer.files.installed import BUNDLED, REVERSE
from transformer.paper.positions import NO_EDIT, Edit, RotationError
from viz.app.cache import memory
from viz.app.cache.memory import ByteCache
from viz.app.links.navigation import REMOVE_HEADS
from viz.app.sentence import sentence_bar
from viz.app.sentence.sentence_bar import Bar
from viz.app.view import Page, View
from viz.app.view.listing import Listing
from viz.draw.labels import PAGE_TITLES
from viz.pages.corpus.lines import LINES
from viz.pages.positions.tables import Size

PAGES: list[Page] = [import_module(f"viz.pages.{path}").PAGE for path in PAGE_TITLES]


def cases(*without: str) -> list[Any]:
    """Return page and view of all views that need other things."""
    views = [(page, view) for page in PAGES for view in page.views if view.needs not in without]
    return [pytest.param(page, view, id=f"{page.path} {view.key}") for page, view in views]


VIEWS, OF_A_MODEL = cases(), cases("nothing")

PARTS = {
    page: [
        f"viz.pages.{page.path}",
        *(
            part.name
            for part in walk_packages(
                getattr(import_module(f"viz.pages.{page.path}"), "__path__", []),
                f"viz.pages.{page.path}.",
            )
        ),
    ]
    for page in PAGES
}
"""Names of the modules of each page."""

TEXT = "A man ☃ is eating 雪 here, \u2028and \"x\" '\\n'."
STORED = [
    *(("translate", ""), ("roles", "Remove heads")),
    *(("corpus", view) for view in ("Remove heads", "Dictionary", "Pairs")),
]
"""Pages, and their views with numbers that are stored beside the bundled models alone."""
NOTHING = "Without a translation there is nothing to draw."


@pytest.fixture(scope="module", autouse=True)
def _models_load_once_and_stop_early() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        load = cache(Translator.load)
        names = {"bundled-de-en": REVERSE}
        patch.setattr(Translator, "load", lambda folder=BUNDLED: load(names.get(folder, folder)))
        # as it is stored beside the model: `test_bundled_models.py` measures some pairs anew
        measure = pairs.measure_pairs

        @wraps(measure)
        def stored(translator: Translator, given: Any, *more: Any) -> Any:
            known = pairs_report.read(translator)
            same = known is not None and [*known.pairs] == [*given]
            return known if same else measure(translator, given, *more)

        patch.setattr(pairs, "measure_pairs", stored)
        # translations of changed models, which do not end, have some pieces instead of fifty
        patch.setitem(inspect.unwrap(BeamSearch.__init__).__kwdefaults__, "max_extra", 4)
        # not from, nor for, tests whose translations have all their pieces
        own = ByteCache(memory.LIMIT)
        patch.setattr(memory, "shared_cache", lambda: own)
        yield


def opened(serve, page: Page, view: View, checkpoint, text: str) -> AppTest:
    app = serve(
        page.path, checkpoint=checkpoint, text=text, **({page.menu: view.key} if page.menu else {})
    )
    assert not app.exception
    return app


def to_bounds(app: AppTest, page: Page) -> None:
    """Choose the largest number and the last option of each field of a view."""
    for number in app.number_input:
        number.set_value(number.max)
    for menu in app.selectbox:
        if menu.key not in (page.menu, "model"):
            menu.select_index(len(menu.options) - 1)
    for group in app.button_group:
        if group.key not in (page.menu, LINES) and not group.disabled:
            group.set_value(group.options[-1])
    app.run()
    assert not app.exception


@pytest.fixture
def computed() -> Iterator[list[object]]:
    """Keys of what is computed, and not in the cache."""
    keys: list[object] = []
    get = ByteCache.get

    def noted(cache: ByteCache, key: Any, compute: Callable[[], Any]) -> Any:
        def counted() -> Any:
            keys.append(key)
            return compute()

        return get(cache, key, counted)

    with pytest.MonkeyPatch.context() as patch:  # of no code of the app's: its cache stays
        patch.setattr(ByteCache, "get", noted)
        yield keys


def check_all(programs: Programs, folder: Path) -> None:
    """Check each program once, where models are found by the names of their folders."""
    with chdir(folder):
        for source, values in dict(programs).items():
            check(source, values)


@pytest.fixture(scope="module")
def measured(trained_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tests' own model with measured lines, and a report on its heads."""
    translator = Translator.load(trained_folder)
    report = made_reports.head_report_of(translator)
    folder = tmp_path_factory.mktemp("measured") / "model"
    made_reports.folder_with(trained_folder, folder, report)
    lines = measuring.measure_lines(translator, TEXTS, references=REFERENCES)
    measurement.store(folder, {result_file.FILE: result_file.to_bytes(lines)})
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_the_code_under_a_view_gives_every_value(
    serve, listed, computed, measured: Path, page: Page, view: View
) -> None:
    is_stored = (page.path, view.key) in STORED
    app = opened(serve, page, view, BUNDLED if is_stored else measured, TEXT)
    assert listed  # a view without code has numbers that are neither cached nor listed
    shown = [code.value for code in app.code if code.language == "python"]
    assert shown[-1:] == [source for source, _ in listed[-1:]]  # Hooks has code above
    to_bounds(app, page)
    computed.clear()
    app.run()
    assert computed == []  # each result is found again
    check_all(listed, measured.parent)


def test_each_view_that_a_page_defines_is_in_its_tuple() -> None:
    for page in PAGES:
        defined = [
            value
            for part in PARTS[page]
            for value in vars(import_module(part)).values()
            if isinstance(value, View)
        ]
        assert {view.draw for view in defined} == {view.draw for view in page.views}


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "marian"
    # other numbers of layers and heads in either stack, and other pieces in either language
    return marian_folder.write(
        folder, separate=True, layers=1, h=4, decoder=(3, 2, 20), scaled=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view"), OF_A_MODEL)
def test_the_code_under_a_view_gives_every_value_of_a_marian_folder(
    serve, listed, marian: Path, page: Page, view: View
) -> None:
    app = opened(serve, page, view, marian, "The old cat sleeps.")
    assert_whole(app)
    to_bounds(app, page)
    assert_whole(app)
    check_all(listed[-1:], marian.parent)


CHOICES: list[tuple[str, dict[str, str]]] = [
    (
        "roles",
        {"roles_view": REMOVE_HEADS, "removed": "L2 H4 cross,L1 H1 encoder uniform", "beam": "1"},
    ),
    ("roles", {"roles_view": "Why this word", "patch_edges": "true", "why_heads": "direct logits"}),
    ("heads", {"layer": "2", "head": "3", "lens": "norms", "words": "true", "sort": "entropy"}),
    ("heads", {"layer": "mean", "head": "mean", "without_sinks": "true", "kind": "encoder"}),
    ("heads", {"view": "compare", "with": "another lens"}),
    ("heads", {"view": "compare", "with": "another sentence"}),
    ("heads", {"view": "compare", "with": "another model", "model2": "bundled-de-en"}),
    ("translate", {"where_from": "true", "beam": "2", "prefix": "▁Ein"}),
    ("translate", {"translate_view": "Almost written", "edited": "Ein Hund.", "alpha": "1.5"}),
    ("translate", {"translate_view": "Runners-up", "forbid": "Hund-", "beam": "2"}),  # is refused
    ("translate", {"translate_view": "Runners-up", "forbid": "läuft", "alpha": "0.3"}),
    ("translate", {"versus": "greedy search", "versus_maps": "true", "map_head": "mean"}),
    ("translate", {"versus": "translation back", "links": "both directions"}),
    ("translate", {"translate_view": "One map", "without_sinks": "true"}),
    (
        "roles",
        {"roles_view": "Layer by layer", "encoder_layers": "true", "written": "3", "beam": "1"},
    ),
]
"""Pages, and choices of theirs that neither the first visit nor the bounds have."""


@pytest.mark.slow
@pytest.mark.parametrize(("page", "url"), CHOICES)
def test_the_code_under_a_view_follows_its_choices(
    serve, listed, measured: Path, page: str, url
) -> None:
    is_stored = page == "translate" or "removed" in url or "model2" in url
    app = serve(page, checkpoint=BUNDLED if is_stored else measured, text="A dog runs.", **url)
    assert not app.exception
    check_all([listed[-1]], measured.parent)


def test_links_that_two_models_cannot_make_leave_the_page_whole(
    serve, listed, trained_folder: Path
) -> None:
    app = serve("translate", checkpoint=trained_folder, text=TEXT, links="both directions")
    assert not app.exception
    ((_, values),) = listed
    assert {"both_settings", "settings"} <= values.keys()
    check_all(listed, trained_folder.parent)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["heads", "translate"])
def test_the_code_of_the_other_direction_loads_its_model(serve, listed, path: str) -> None:
    app = serve(path, checkpoint=REVERSE, text="Der Hund schläft.")
    assert not app.exception
    assert listed
    check_all(listed, Path())


@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_without_a_translation_says_so(
    serve, trained_folder: Path, page: Page, view: View
) -> None:
    app = opened(serve, page, view, trained_folder, " ")
    assert (NOTHING in texts(app)) == (view.needs in ("sentence", "trace"))
    pictures = sum(len(app.get(kind)) for kind in ("vega_lite_chart", "bidi_component"))
    assert not (pictures and view.needs == "trace")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_a_page_has_the_sentence_in_the_bar_if_a_view_is_drawn_with_it(page: Page) -> None:
    given = [inspect.signature(view.draw).parameters.values() for view in page.views]
    assert page.needs_sentence == ("BarTranslation" in str(given))


def test_a_view_of_a_trace_is_not_drawn_for_a_translation_without_one(serve) -> None:
    (inside,) = (page for page in PAGES if page.path == "inside")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence_bar, "is_traced", lambda _: False)
        app = opened(serve, inside, inside.views[0], BUNDLED, "A dog runs.")
    assert "kind" not in [group.key for group in app.button_group]


def test_a_wrong_argument_in_the_code_is_found(
    serve, listed, trained_folder: Path, monkeypatch
) -> None:
    masks = next(page for page in PAGES if page.path == "masks")
    opened(serve, masks, masks.views[-1], trained_folder, "A dog runs.")
    monkeypatch.chdir(trained_folder.parent)
    ((source, values),) = listed
    check(source, values)
    assert "masked=False" in source
    with pytest.raises(AssertionError):
        check(source.replace("masked=False", "masked=True"), values)


HOSTILE = (
    'He said """no""" and \\n \'it\' {x} \\"; import os # \u2028\x85\u202e\nfrom os import sep'
)


def test_a_typed_text_is_that_text_and_nothing_else() -> None:
    listing = Listing()
    listing.add("result", listing.call(same, (HOSTILE, 1), {}), None)
    imported, statement = ast.parse(listing.source()).body
    assert isinstance(imported, ast.ImportFrom)
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.Call)
    assert ast.literal_eval(statement.value.args[0]) == HOSTILE


def given(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 1, 1.5, "x", np.float32(0.5), range(3), range(1, 3), (), (1,), [], [1, (2,)]),
        {"a": (1,), "b": {}},
        ["a long word " * 9, ("and another " * 9,)],
        Edit("shuffled", ("encoder",), 3),
        *(NO_EDIT, Size(2, 4), TransformerConfig.demo(), BUNDLED / "run.jsonl", given),
    ],
)
def test_a_value_in_the_code_is_that_value(value: Any) -> None:
    listing = Listing()
    # a number of the same value, which the code must not take for the argument
    listing.add("other", listing.call(given, (0,), {}), value if type(value) is int else None)
    listing.add("result", listing.call(given, (value,), {}), value)
    exec(listing.source(), namespace := {"__name__": __name__})
    assert namespace["result"] == value
    assert type(namespace["result"]) in (type(value), float)
    assert "given(other)" not in listing.source()


def _key(*values: object) -> object:
    return Listing().call(same, values, {}).key


@pytest.mark.parametrize(
    ("values", "others"),
    [
        ((1,), (True,)),
        ((1,), (1.0,)),
        ((1, 2), (2, 1)),
        (((1, 2),), ([1, 2],)),
        (({"a": 1},), ({"a": 2},)),
        ((Edit("shuffled", ("encoder",), 1),), (Edit("shuffled", ("encoder",), 2),)),
        ((Edit("removed", ("encoder",)),), (Edit("removed", ("decoder",)),)),
        ((range(3),), (range(4),)),
    ],
)  # fmt: skip
def test_calls_of_other_arguments_have_other_keys(values, others) -> None:
    assert _key(*values) == _key(*values)
    assert _key(*values) != _key(*others)


def test_each_model_and_each_part_of_a_result_has_its_own_key() -> None:
    keys = []
    for translator in (Translator.load(), Translator.load(REVERSE)):
        for value in (translator, translator.model):
            model = Listing(Bar(model="bundled", translator=translator))
            keys.append(model.call(same, (value, 1), {}).key)
    listing = Listing()
    result = RotationError(0.25, 0.5)._replace(exact=[1.0], model=[1.0])  # type: ignore[arg-type]
    listing.add("result", listing.call(given, (1,), {}), result)
    parts = [result, result.exact, result.model]
    keys += [listing.call(same, (part, 1), {}).key for part in parts]
    for index in (0, 1, (0, 1)):
        listing.add(f"part{len(keys)}", listing.part(result, index), part := [index])
        keys.append(listing.call(same, (part, 1), {}).key)
    assert len(set(keys)) == len(keys)


def test_a_file_that_is_written_anew_is_read_anew(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("transformer.files.installed.ASSETS", tmp_path)
    file = tmp_path / "rows" / "a.txt"
    file.parent.mkdir()
    file.write_text("1")
    before, before_of_folder = _key(file), _key(tmp_path)
    file.write_text("22")
    assert before != _key(file)
    assert before_of_folder != _key(tmp_path)


def test_two_numbers_of_one_name_and_a_value_from_nowhere_are_refused() -> None:
    listing = Listing()
    listing.add("number", listing.call(same, ("a", 1), {}), "A")
    with pytest.raises(ValueError, match="number"):
        listing.add("number", listing.call(same, ("b", 1), {}), "B")
    with pytest.raises(TypeError, match="ndarray"):
        listing.call(same, (np.zeros(2), 1), {})


def test_another_model_is_loaded_by_its_folder_alone(
    serve, listed, trained_folder, monkeypatch
) -> None:
    monkeypatch.chdir(trained_folder.parent)
    serve("heads", text="The dog sleeps in the garden.", lens="norms", head="2")
    ((source, values),) = listed
    assert f"Translator.load({trained_folder.name!r})" in source
    assert str(trained_folder.parent) not in source
    check(source, values)


def test_files_of_one_name_and_another_content_have_results_of_their_own(serve) -> None:
    def page() -> None:
        from copy import copy
        from pathlib import Path

        import streamlit as st

        from viz.app.view import Content, compute, list_file
        from viz.app.view.page import program

        lines = [st.query_params["content"]]
        with program():
            list_file("lines", lines, lines[0], copy, Content(Path("mine.txt")))
            st.text(compute("first", copy, lines)[0])

    assert [texts(serve(page, content=content)) for content in "ab"] == [["a"], ["b"]]
