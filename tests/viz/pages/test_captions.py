"""Every picture of a page that can be saved says what it was made from."""

import pytest

from tests.viz.draw.message import decode
from tests.viz.pages.reading import SENTENCE
from viz.draw.caption import Origin

OF_HEADS = {"attention_map", "head_grid", "inside_head", "ribbons", "word_links"}
NOT_SAVED = {"value", "trace", "translation_editor"}


@pytest.mark.parametrize(
    ("page", "url", "count"),
    [
        ("translate", {}, 2),
        ("translate", {"translate_view": "One map"}, 2),
        ("heads", {}, 3),
        ("heads", {"view": "compare"}, 4),
        ("inside", {}, 1),
        ("roles", {"roles_view": "Remove heads"}, 2),
        ("masks", {"mask-view": "who sees whom"}, 1),
        ("architecture", {}, 2),
        ("figure2", {"figure2_open": "QKᵀ"}, 1),
        ("figure2", {"figure2_open": "softmax"}, 1),
        ("hooks", {"hook": "q"}, 2),
    ],
)
def test_each_picture_names_program_model_sentence_and_lens(
    serve, translator, page: str, url: dict[str, str], count: int
) -> None:
    app = serve(page, text=SENTENCE, **url)
    pictures = [decode(element.proto.bytes)[0] for element in app.get("bidi_component")]
    saved = [picture for picture in pictures if picture["component"] not in NOT_SAVED]
    assert len(saved) == count
    carried = {p["key"]: p["trace"] for p in pictures if p["component"] == "trace"}
    made_by = Origin.from_translator(translator, SENTENCE, "").made_by
    for picture in saved:
        if "about" in picture:  # the browser makes the caption: tests/js/test_from_trace.py
            assert picture["about"]["madeBy"] == made_by
            assert carried[picture["trace"]]["source"]["text"] == SENTENCE
            continue
        caption = " ".join(picture["caption"])
        assert made_by in caption
        assert SENTENCE in caption
        assert "layer" in caption or picture["component"] not in {"architecture", "tensor_strip"}
        assert ("lens: " in caption) == (picture["component"] in OF_HEADS)
