"""The app as Streamlit runs it, without a browser: what stands on the page, and in the URL."""

import shutil

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import figures, texts
from transformer import Translator
from viz.app.sentence import source_box

NO_PICTURE = "Without a translation there is nothing to draw."
TOO_LONG = "The text is too long for a link: reloading the page loses it."
SENTENCE = "The dog sleeps in the garden."


def candidates(app: AppTest) -> int:
    return sum('<div class="headlight-candidate">' in html.proto.body for html in app.get("html"))


def test_a_link_opens_what_its_sender_saw(serve, translator: Translator) -> None:
    app = serve(text=SENTENCE, beam="2", map_layer="2", map_head="3")
    expected = translator.translate(SENTENCE, beam_size=2)
    assert expected.text in texts(app)
    wanted = f"log probability −{-expected.log_prob:.2f} ({len(expected.best.pieces)} subwords)"
    assert figures(app).startswith(wanted)
    assert app.selectbox(key="beam").value == 2
    assert app.button_group(key="translate_view").value == "One map"
    assert app.selectbox(key="map_layer").value == "2"
    assert app.selectbox(key="map_head").value == "3"
    app.button_group(key="translate_view").set_value("Runners-up").run()
    assert candidates(app) == 1  # beside the one in the bar


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (" \t  ", "The text is empty: type an English sentence."),
        ("dog " * 3_000, "pieces, but this model takes at most 255: shorten it."),
    ],
)
def test_what_cannot_be_translated_gets_one_sentence(serve, text: str, sentence: str) -> None:
    app = serve()
    app.text_area(key="text").set_value(text).run()
    (message,) = [line for line in texts(app) if sentence in line]
    assert message.endswith(".")
    lost = [TOO_LONG] if len(text) > 8_000 else []
    # no numbers, no picture of the old text
    assert texts(app) == ["German", message, *lost, NO_PICTURE]
    app.text_area(key="text").set_value(SENTENCE).run()
    assert NO_PICTURE not in texts(app)


def test_a_bad_checkpoint_gets_one_sentence(serve, trained_folder, tmp_path) -> None:
    folder = tmp_path / "model_*x*_"
    app = serve(checkpoint=folder)
    for says in ("There is no checkpoint folder", "model.safetensors is missing"):
        label, message, rest = texts(app)
        assert (label, rest) == ("German", NO_PICTURE)
        assert says in message
        # the bar is alive
        assert app.text_area(key="text").value == source_box.EXAMPLES["English"][0]
        shutil.copytree(trained_folder, folder, dirs_exist_ok=True)
        assert NO_PICTURE not in texts(app.run())
        (folder / "model.safetensors").unlink()
        app.run()
