"""The app on a MarianMT folder: biases, swish, two vocabularies, weights that nobody trained."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import open_app
from transformer import Translator
from transformer.analysis import axes
from viz.app.links.navigation import VIEW
from viz.app.models import menu
from viz.draw.labels import quoted
from viz.pages.architecture import boxes, drawing, parameters
from viz.pages.roles.pieces import OTHER, shown_piece

pytestmark = pytest.mark.slow

SENTENCE = "The old cat sleeps."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    return marian_folder.write(
        folder, separate=True, layers=1, h=4, decoder=(3, 2, 20), scaled=False
    )


@pytest.fixture(scope="module")
def visit(folder: Path) -> Iterator[Callable[..., AppTest]]:
    """A page at a query as a browser sends it."""
    # not the test's own patch, which `_remembers_no_other_code` looks for
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(menu.CHECKPOINT_VARIABLE, str(folder))
        yield partial(open_app, text=SENTENCE)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross-attention"])
def test_a_score_with_biases_is_split_and_its_head_read(folder, visit, kind: str) -> None:
    app = visit("inside", kind=kind, word="3", key="2")
    (sums,) = (text.value for text in app.caption if "cells, which sum to" in text.value)
    summed, once = map(float, re.findall(r"-?\d+\.\d+", sums.replace("−", "-")))
    assert summed == pytest.approx(once, abs=2e-4)
    translator = Translator.load(folder)
    tokenizer = translator.tokenizer if kind == "encoder" else translator.target_tokenizer
    size = translator.model.config.vocab_size
    if kind == "encoder":
        size = translator.model.config.source_vocab_size or size
    pieces = {shown_piece(piece.text) for piece in tokenizer.pieces_of(range(size))}
    assert {piece.replace("\\", "") for piece in app.table[0].value["raises"]} <= pieces


def test_words_of_a_script_without_spaces_are_said_to_stay_apart(visit) -> None:
    for text, shown in (("The cat 我爱北京.", True), (SENTENCE, False)):
        app = visit("heads", text=text, words="true")
        assert (axes.APART in [caption.value for caption in app.caption]) == shown


def test_a_stack_of_fewer_layers_is_drawn_at_its_last_one(folder, visit) -> None:
    config = Translator.load(folder).model.config
    counts = {"encoder": config.N, "decoder": config.decoder.N}
    for heading in ("Feed forward of the encoder", "Feed forward of the decoder"):
        shown = visit("architecture", arch_layer="3", arch_box=heading).subheader[0].value
        assert shown == f"{heading}, layer {min(3, counts[heading.split()[-1]])}"


def test_a_typed_piece_is_one_of_the_target_language(folder, visit) -> None:
    app = visit("roles", **{VIEW: "Why this word", OTHER: "frère"})
    first, *_ = Translator.load(folder).target_tokenizer.pieces("frère")
    notice = f"The first subword of {quoted('frère')} counts: {quoted(shown_piece(first.text))}."
    assert notice in [text.value for text in app.text]


def test_the_preset_of_this_model_has_all_its_parameters(folder, visit) -> None:
    app = visit("architecture", **{drawing.VIEW: "parameters"})
    model = Translator.load(folder).model
    for field in (*parameters.MAXIMA, "positions"):
        app.session_state[parameters.PREFIX + field] = getattr(model.config, field)
    app.run()
    assert not app.exception
    total = model.number_of_parameters()
    texts = [text.value for text in app.text]
    assert f"{total:,} by formula; {total:,} in the model: the same." in texts
    stated = boxes.matrices(model.config)
    assert stated in " ".join(m.value for m in app.markdown)
