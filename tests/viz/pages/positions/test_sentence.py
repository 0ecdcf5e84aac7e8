"""The views of the sentence are those of the served model."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.viz.app_test import press, texts, unsure
from tests.viz.pages.positions.conftest import SENTENCE
from tests.viz.plotly_values import map_values
from transformer import Translation, Translator
from transformer.paper.positions import Edit
from viz.app.cache import cached_results
from viz.pages.positions import PAGE
from viz.pages.positions.sentence import PAIR, input_figure


@pytest.mark.parametrize("view", [view.key for view in PAGE.views])
def test_a_choice_that_makes_no_sense_leaves_the_view_alive(opened, view: str) -> None:
    names = ("pe_pos", "pe_k", "pe_seed", "pe_stack", "pe_part")
    app = opened(view, **dict.fromkeys(names, "9999999"))
    assert app.button_group(key="pe_view").value == view
    assert any("§3." in element.value for element in app.markdown)


def test_the_style_sets_the_view_of_the_sentence_apart() -> None:
    assert PAGE.views[4].key == "Your sentence"  # `choices.css` counts to it


def test_what_no_search_can_do_is_one_sentence_beside_an_edited_translation(opened) -> None:
    app = opened("Remove positions", edited="Der Hund schläft.", forbid="z.B.")
    assert "“z.B.” cannot be forbidden" in texts(app)[-1]


def test_what_a_reader_should_know_of_each_translation_is_said(opened, unsure_model) -> None:
    (bar, *edited) = unsure(opened("Remove positions"))
    assert len(edited) == 4
    # of the words alone that the whole model writes, the text may be why
    assert [unsure_model.made_for in notice for notice in (bar, *edited)] == [True, *[False] * 4]


def test_without_compares_with_what_the_model_writes_where_the_bar_is_edited_by_hand(
    opened, translator: Translator
) -> None:
    with translator.model.hooks(Edit("removed", ("encoder",)).hooks()):
        by_hand = translator.translate(SENTENCE).text  # what one of the edits finds
    assert by_hand.strip()
    assert by_hand != translator.translate(SENTENCE).text
    own, edited = (
        [item for item in texts(opened("Remove positions", **url)) if "edits change" in item]
        for url in ({}, {"edited": by_hand})
    )
    assert len(own) == 1
    assert edited == own


@pytest.mark.parametrize(
    ("differs", "says"), [(True, "still finds two different"), (False, "the same sentence to the")]
)
def test_whether_two_orders_are_told_apart_without_positions_is_said(
    opened, monkeypatch, differs: bool, says: str
) -> None:
    as_ever = cached_results.translate_edited
    numbers = iter(range(99))

    def translate(*arguments):
        return replace(as_ever(*arguments), source=str(next(numbers) if differs else 0))

    monkeypatch.setattr(Translation, "text", property(lambda self: self.source))
    monkeypatch.setattr(cached_results, "translate_edited", translate)
    app = opened("Remove positions")
    assert any(says in text for text in texts(app))
    press(app, f"Use “{PAIR[1]}”")
    assert app.text_area(key="text").value == PAIR[1]


def test_a_model_with_learned_positions_has_none_beyond_its_table(
    serve, translator, tmp_path
) -> None:
    from transformer import Transformer, TransformerConfig
    from transformer.checkpoints import checkpoint

    config = TransformerConfig.from_dict(
        {**translator.model.config.to_dict(), "positions": "learned", "max_length": 64}
    )
    torch.manual_seed(1)
    checkpoint.save(tmp_path / "learned", Transformer(config), translator.tokenizer)
    app = serve("positions", checkpoint=tmp_path / "learned", pe_view="Longer", text=SENTENCE)
    assert "a learned table of 64 positions" in texts(app)[-1]
    app = serve(
        "positions", checkpoint=tmp_path / "learned", pe_view="Your sentence", text=SENTENCE
    )
    assert not app.exception
    assert any("positions of this model are learned" in element.value for element in app.markdown)


TOKENS = ["▁The", "▁<b>dog", "s", "</s>"]
RANDOM = np.random.default_rng(1)


def test_three_maps_have_one_scale_and_the_tokens_beside_their_rows() -> None:
    parts = {
        name: RANDOM.normal(size=(4, 6)).astype(np.float32) for name in ("token", "place", "sum")
    }
    figure = input_figure(TOKENS, parts, 2.0)
    for number, (title, values) in enumerate(parts.items()):
        np.testing.assert_array_equal(map_values(figure, number), values)
        heatmap = figure.data[number]
        assert (heatmap.zmin, heatmap.zmax) == (-2, 2)
        assert figure.layout.annotations[number].text == title
        # what was typed is not a tag, neither on the axis nor in a hover
        assert list(heatmap.y) == ["0: The", "1: &lt;b&gt;dog", "2: ·s", "3: end"]
    axis = figure.layout.yaxis
    assert list(axis.tickvals) == [0, 1, 2, 3]
    assert list(axis.ticktext) == ["The", "&lt;b&gt;dog", "·s", "end"]
    assert axis.autorange == "reversed"
    titles = [figure.layout[name].title.text for name in ("xaxis", "xaxis2", "xaxis3")]
    assert titles == [None, "dimension", None]  # three would lie over one another on a phone


def test_a_long_sentence_keeps_its_rows_and_has_fewer_labels() -> None:
    tokens = [f"▁w{n}" for n in range(500)]
    figure = input_figure(tokens, {"sum": np.zeros((500, 2))}, 1.0)
    axis = figure.layout.yaxis
    assert figure.layout.height <= 900
    assert len(axis.tickvals) * 12 <= 900
    # two rows share a cell
    assert [f"w{2 * n:g}" for n in axis.tickvals] == list(axis.ticktext)
    assert figure.data[0].y[249] == "498: w498 … 499: w499"
