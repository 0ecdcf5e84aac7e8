"""The menu of models in the sentence bar: what is chosen translates, in its own languages."""

import gc
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from weakref import ref

import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import go_back, in_url, texts
from transformer import Translator, errors
from transformer.files.installed import BUNDLED_BY_NAME
from viz.app.cache import memory
from viz.app.models import menu, model_cache
from viz.app.models.menu import CHECKPOINT_VARIABLE, MODELS_VARIABLE, SEPARATOR, offered_models
from viz.draw.labels import quoted

pytestmark = pytest.mark.slow

SENTENCE = "The old cat sleeps."
TEXT, MODEL, LANGUAGE = "text", "model", "language"


def languages(folder: Path, source: str, target: str) -> Path:
    path = folder / "tokenizer_config.json"
    stated = json.loads(path.read_text()) | {"source_lang": source, "target_lang": target}
    path.write_text(json.dumps(stated))
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models: English to French, French to Finnish, English to several, damaged."""
    folder = tmp_path_factory.mktemp("models")
    languages(marian_folder.write(folder / "en-fr", seed=1), "eng", "fra")
    languages(marian_folder.write(folder / "fr-fi", seed=2, separate=True), "fra", "fin")
    codes = (">>fra<<", ">>spa<<", ">>qqq<<")
    languages(marian_folder.write(folder / "en-many", seed=3, codes=codes), "eng", "roa")
    (folder / "damaged").mkdir()
    (folder / "damaged" / "MANIFEST.json").write_text("{")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of them, which the server offers."""
    # not the test's own patch, which `_remembers_no_other_code` looks for
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MODELS_VARIABLE, str(shutil.copytree(made, tmp_path / "models")))
        yield tmp_path / "models"


@pytest.fixture
def open_(serve: Callable[..., AppTest], folder: Path) -> Callable[..., AppTest]:
    """The app, whose first model is the small trained one."""
    return lambda **url: serve(**url)


def box(app: AppTest):
    return app.text_area(key=TEXT)


def choose(app: AppTest, name: str) -> AppTest:
    return app.selectbox(key=MODEL).select(name).run()


def line(app: AppTest) -> tuple[str, str]:
    """Return what stands before the translation, and the translation."""
    label, text, *_ = texts(app)
    return label, text


def has_examples(app: AppTest) -> bool:
    return any(button.proto.label == "Examples" for button in app.get("menu_button"))


def test_every_model_is_in_the_menu_and_the_bar_in_its_languages(open_, folder) -> None:
    app = open_()
    menu = app.selectbox(key=MODEL)
    assert menu.options[1:] == ["bundled", "bundled-de-en", "damaged", "en-fr", "en-many", "fr-fi"]
    assert (menu.value, in_url(app, MODEL)) == (menu.options[0], None)
    assert (box(app).label, box(app).placeholder) == ("English", "Type an English sentence")
    assert has_examples(app)
    choose(app, "fr-fi")
    assert (box(app).label, box(app).placeholder) == ("French", "Type a French sentence")
    # nobody typed the English example
    assert (box(app).value, has_examples(app)) == ("", False)
    assert line(app) == ("Finnish", "The text is empty: type a French sentence.")
    box(app).set_value("Le chat dort.").run()
    assert line(app)[0] == "Finnish"
    # what somebody typed stays
    choose(app, "en-fr")
    theirs = Translator.load(folder / "en-fr").translate("Le chat dort.")
    assert (box(app).value, line(app)) == ("Le chat dort.", ("French", theirs.text))


def test_one_that_leaves_is_left_and_one_that_comes_is_there(open_, folder, made) -> None:
    app = open_(text=SENTENCE, model="en-fr")
    shutil.rmtree(folder / "en-fr")
    app.run()
    first = app.selectbox(key=MODEL).options[0]
    message = f"There is no model {quoted('en-fr')} on this server: shown is {quoted(first)}."
    assert message in texts(app)
    assert line(app)[0] == "German"
    assert in_url(app, MODEL) is None
    shutil.copytree(made / "en-fr", folder / "late")
    choose(app.run(), "late")
    assert line(app)[0] == "French"


def test_what_belonged_to_the_model_before_is_released_and_back_brings_both_back(
    open_: Callable[..., AppTest], translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = translator.tokenizer.pieces(translator.translate("My brother eats.").text)[0].text
    app = open_(text=SENTENCE, prefix=piece)
    steered, first = line(app), app.selectbox(key=MODEL).value
    choose(app, "en-fr")
    assert in_url(app, "prefix") is None
    assert [text for text in texts(app) if "belonged to the model before" in text]
    go_back(app, monkeypatch, text=SENTENCE, prefix=piece)
    assert (line(app), app.selectbox(key=MODEL).value) == (steered, first)


def test_the_language_menu_and_the_typed_code_are_one(open_: Callable[..., AppTest]) -> None:
    app = open_(text=SENTENCE, model="en-many")
    menu = app.selectbox(key=LANGUAGE)
    assert menu.options == ["French (fra)", "qqq", "Spanish (spa)"]
    assert (menu.value, line(app)[0]) == (None, "Target")
    assert any("was not told which one" in text for text in texts(app))
    menu.select("spa").run()
    assert (box(app).value, in_url(app, TEXT)) == (f">>spa<< {SENTENCE}",) * 2
    assert line(app)[0] == "Spanish"
    assert not any("was not told which one" in text for text in texts(app))
    box(app).set_value(f" >>qqq<<  {SENTENCE}").run()
    assert (app.selectbox(key=LANGUAGE).value, line(app)[0]) == ("qqq", "qqq")
    # a code that the model does not have
    box(app).set_value(f">>deu<< {SENTENCE}").run()
    assert app.selectbox(key=LANGUAGE).value is None
    assert line(app)[0] == "Target"
    assert "does not write the language “deu”" in line(app)[1]
    app.selectbox(key=LANGUAGE).select("fra").run()
    assert (box(app).value, line(app)[0]) == (f">>fra<< {SENTENCE}", "French")
    choose(app, "en-fr")
    assert not [menu for menu in app.selectbox if menu.key == LANGUAGE]


def test_two_models_translate_side_by_side_and_the_other_can_be_taken(open_, folder) -> None:
    app = open_(text=SENTENCE, model="en-fr", versus="another model", versus_model="en-many")
    menu = app.selectbox(key="versus_model")
    # none that reads French
    assert set(menu.options) >= {"bundled", "damaged", "en-many"}
    assert not {"fr-fi", "en-fr"} & set(menu.options)
    asked = f">>fra<< {SENTENCE}"  # what the one in the bar writes
    theirs = Translator.load(folder / "en-many").translate(asked)
    shown = [html.proto.body for html in app.get("html")]
    assert any("en-many" in body and "The other decoding" in body for body in shown)
    assert any(
        "Log probability compares two models only" in caption.value for caption in app.caption
    )
    app.checkbox(key="versus_maps").check().run()
    assert not app.exception
    app.button(key="versus-take").click().run()
    assert (box(app).value, in_url(app, MODEL)) == (asked, "en-many")
    assert line(app) == ("French", theirs.text)
    app = open_(text=SENTENCE, model="en-fr", versus="another model", versus_model="en-many")
    app.selectbox(key="versus_model").select("damaged").run()
    assert any("MANIFEST.json is not a Headlight manifest" in text for text in texts(app))


def test_a_link_to_a_second_model_of_another_language_says_so(serve, folder) -> None:
    def page() -> None:
        from viz.app.sentence import other_model, sentence_bar

        bar = sentence_bar.show().translation
        assert bar is not None
        other_model.pick_other(bar, "model2")

    app = serve(page, text=SENTENCE, model="en-fr", model2="fr-fi")
    menu = app.selectbox(key="model2")
    why = "The model “\u2068fr-fi\u2069” reads another language: shown is "
    assert f"{why}“\u2068{menu.value}\u2069”." in texts(app)
    menu.select("en-many").run()
    assert not any(why in text for text in texts(app))
    app.selectbox(key=MODEL).select("fr-fi").run()
    assert "No other model here reads French." in texts(app)


def test_everybody_gets_the_same_model_and_an_open_tab_keeps_none(
    open_: Callable[..., AppTest], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(menu.MEMORY_VARIABLE, "1")
    people = [open_(text=SENTENCE, model=name) for name in ("en-fr", "fr-fi")]
    assert all(line(person)[1] for person in people)
    cache = menu._cache()
    assert cache.limit == 2**20
    assert not any(entry.users for entry in cache._models.values())
    assert cache.size <= cache.limit
    for person in people:
        assert memory.size_of(person.session_state._state.filtered_state) < 20 * 2**10


def test_what_waits_for_a_click_holds_no_model(open_: Callable[..., AppTest], folder: Path) -> None:
    app = open_(text=SENTENCE, model="en-fr", edited="a b")
    app.button(key="go-on")  # is there
    model = ref(menu.load(folder / "en-fr"))
    memory.forget_server_wide()  # all that is left are the clicks that the tab waits for
    gc.collect()
    assert model() is None


def test_a_model_in_use_stays_until_its_end_and_says_how_far_it_is(folder, monkeypatch) -> None:
    memory.forget_server_wide()
    monkeypatch.setattr("transformer.files.reading.MIB", 1)  # no two of them fit
    monkeypatch.setattr(model_cache, "PATIENCE", 1e-3)
    with menu.models_for_run():
        first = menu.load(folder / "en-many")
        menu.load(folder / "fr-fi")
        assert menu.load(folder / "en-many") is first
        assert len(menu._cache()._models) == 2
    assert len(menu._cache()._models) == 1
    read: list[tuple[int, int]] = []
    with menu.in_use(
        folder / "en-fr", lambda done, total, _now="": read.append((done, total))
    ) as first:
        menu.load(folder / "en-many")
        assert menu.load(folder / "en-fr") is first
    assert read
    assert all(0 <= done < total for done, total in read)


@pytest.mark.parametrize(
    ("value", "mib"),
    [("", 2_048), ("300", 300), ("0", 2_048), ("9" * 20, 2_048)],
)
def test_the_bound_is_one_variable(monkeypatch: pytest.MonkeyPatch, value: str, mib: int) -> None:
    monkeypatch.setenv(menu.MEMORY_VARIABLE, value)
    wrong = menu.limit_problem()
    assert menu._limit() == (mib, wrong)
    assert bool(wrong) == (value not in ("", "300"))
    assert wrong == errors.one_line(wrong)


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of models, empty."""
    monkeypatch.delenv(CHECKPOINT_VARIABLE, raising=False)
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path))
    return tmp_path


def names() -> list[str]:
    return list(offered_models().folders)


def test_models_of_both_layouts_are_offered_and_what_is_none_is_not(
    empty: Path, checkpoint_folder: Path
) -> None:
    shutil.copytree(checkpoint_folder, empty / "Ours")
    marian_folder.write(empty / "opus-mt-en-fr")
    for name, content in {
        **dict.fromkeys(("damaged-ours/MANIFEST.json", "damaged-marian/vocab.json"), "none"),
        "bert/config.json": '{"model_type": "bert"}',
        "settings/config.json": '{"port": 1}',  # which is none
    }.items():
        (empty / name).parent.mkdir()
        (empty / name).write_text(content)
    (empty / "empty").mkdir()
    (empty / "notes.txt").write_text("a file")
    marian_folder.write(empty / ".hidden")
    # names of all kinds
    (empty / "circle").symlink_to("circle")
    (empty / "nowhere").symlink_to(empty / "that is not there")
    (empty / "link").symlink_to(empty / "Ours")
    assert names() == [
        *BUNDLED_BY_NAME,
        *("bert", "damaged-marian", "damaged-ours", "link", "opus-mt-en-fr", "Ours"),
    ]
    assert offered_models().default == "bundled"
    assert offered_models().problem == ""


def test_a_name_that_cannot_be_shown_is_written_so_that_it_can(empty: Path) -> None:
    strange = [empty / "a\nb", Path(f"{empty}/caf\udce9")]
    for path in strange:
        try:
            path.mkdir()
        except OSError:
            pytest.skip("this file system has no such names")
        (path / "MANIFEST.json").touch()
    assert names()[2:] == ["a\\nb", "caf\\udce9"]
    assert list(offered_models().folders.values())[2:] == strange
    assert all(name.encode() for name in names())


def test_two_of_one_name_are_told_apart(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("model", "bundled"):
        marian_folder.write(empty / name)
    first, second = Path("/a/model"), Path("/b/model")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{first}{SEPARATOR}{second}")
    assert offered_models().folders == {
        "a/model": first,
        "b/model": second,
        **BUNDLED_BY_NAME,
        f"{empty.name}/bundled": empty / "bundled",
        f"{empty.name}/model": empty / "model",
    }


def test_a_folder_of_models_that_cannot_be_read_is_one_sentence(empty, monkeypatch) -> None:
    for path, why in (
        (empty / "none", "No such file or directory"),
        (__file__, "Not a directory"),
        ("a" * 5_000, "File name too long"),
    ):
        monkeypatch.setenv(MODELS_VARIABLE, str(path))
        assert names() == [*BUNDLED_BY_NAME]
        problem = offered_models().problem
        assert problem.startswith(f"{MODELS_VARIABLE}: ")
        assert problem.endswith(f" cannot be read: {why}.")


def test_a_folder_whose_models_lie_elsewhere_says_where(
    empty, tmp_path_factory, monkeypatch
) -> None:
    root = tmp_path_factory.mktemp("hub") / "models--a--opus-mt-en-fr"
    snapshot = marian_folder.write(root / "snapshots" / "0123")
    for path, words in (
        (snapshot, f"{snapshot} is a model"),
        (root, str(snapshot)),
        (root.parent, str(snapshot)),
    ):
        monkeypatch.setenv(MODELS_VARIABLE, str(path))
        assert names() == [*BUNDLED_BY_NAME]
        assert words in offered_models().problem
    monkeypatch.setenv(MODELS_VARIABLE, str(snapshot.parent))
    assert names() == [*BUNDLED_BY_NAME, "0123"]
    assert offered_models().problem == ""
    monkeypatch.setenv(MODELS_VARIABLE, str(empty))
    assert offered_models().problem == ""
