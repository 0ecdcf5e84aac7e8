"""Every picture of a page that can be saved says what it was made from."""

import re
from pathlib import Path

import pytest

from tests.viz.draw.message import decode
from tests.viz.pages.reading import SENTENCE
from viz.draw.caption import Origin

ROOT = Path(__file__).parents[3]
OF_HEADS = {"attention_map", "head_grid", "inside_head", "ribbons", "word_links"}
NOT_SAVED = {"value", "trace", "translation_editor"}


PICTURES: list[tuple[str, dict[str, str], set[str]]] = [
    ("translate", {}, {"player", "beam_tree"}),
    ("translate", {"where_from": "true"}, {"player", "beam_tree", "word_links"}),
    ("translate", {"translate_view": "One map"}, {"player", "attention_map"}),
    ("translate", {"translate_view": "Almost written"}, {"player", "step_bars"}),
    ("heads", {}, {"head_grid", "attention_map", "ribbons"}),
    ("heads", {"view": "compare"}, {"head_grid", "attention_map"}),
    ("inside", {}, {"inside_head"}),
    ("roles", {"roles_view": "Remove heads"}, {"head_grid", "attention_map"}),
    ("masks", {"mask-view": "who sees whom"}, {"mask_grids"}),
    ("architecture", {}, {"architecture", "attention_map"}),
    ("figure2", {"figure2_open": "QKᵀ"}, {"tensor_strip"}),
    ("figure2", {"figure2_open": "softmax"}, {"attention_map"}),
    ("hooks", {"hook": "q"}, {"architecture", "tensor_strip"}),
]
"""A page, a view of it, and the components of its pictures that can be saved."""


@pytest.mark.parametrize(("page", "url", "components"), PICTURES)
def test_each_picture_names_program_model_sentence_and_lens(
    serve, translator, page: str, url: dict[str, str], components: set[str]
) -> None:
    app = serve(page, text=SENTENCE, **url)
    pictures = [decode(element.proto.bytes)[0] for element in app.get("bidi_component")]
    saved = [picture for picture in pictures if picture["component"] not in NOT_SAVED]
    assert {picture["component"] for picture in saved} == components
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


def test_every_component_is_seen_on_one_of_these_pages() -> None:
    table = (ROOT / "viz/browser/components.ts").read_text("utf-8")
    every = {*re.findall(r"^export \{ \w+ as (\w+) \}", table, re.MULTILINE)}
    assert every - NOT_SAVED == set().union(*(components for _, _, components in PICTURES))
