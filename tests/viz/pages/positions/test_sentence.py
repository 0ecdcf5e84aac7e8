"""The views of the sentence are those of the served model."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.pages.positions.reading import BOTH, SENTENCE, metrics, picture, positions_page
from tests.viz.plotly_values import map_values
from transformer import Translator
from transformer.analysis import positions
from transformer.analysis.positions import Edit
from viz.app.candidates import mark_changed_words
from viz.app.formatting import format_number
from viz.draw.labels import shown
from viz.pages.positions.sentence import STEPS


def candidates(app: AppTest) -> list[str]:
    found = [html.proto.body for html in app.get("html")]
    return [body for body in found if "headlight-candidate" in body]


def candidate(name: str, translator: Translator, edit: Edit, old: str) -> str:
    """What the page writes about an edit, from the model itself."""
    trace = translator.trace(SENTENCE)
    with translator.model.hooks(edit.hooks()):
        new = translator.translate(SENTENCE)
    of_old = positions.log_probs(translator.model, trace, edit).sum()
    words = mark_changed_words(new.text or "(nothing)", old)
    log_prob, log_prob_of_old = format_number(new.log_prob), format_number(of_old)
    return (
        f'<div class="headlight-candidate"><small>{name}</small>{words}<small>log p {log_prob} · '
        f"of the translation above {log_prob_of_old}</small></div>"
    )


@pytest.mark.parametrize("stack", BOTH)
def test_the_foot_of_the_sentence_is_the_served_models(
    opened, translator: Translator, stack
) -> None:
    app = opened("Your sentence", pe_stack=stack)
    foot = positions.embedding_parts(translator.model, translator.trace(SENTENCE), stack)
    for number, part in enumerate(foot):
        np.testing.assert_array_equal(map_values(picture(app), number), part)
    rms = [f"{math.sqrt((part.astype(float) ** 2).mean()):.4f}" for part in foot]
    assert list(metrics(app).values()) == rms
    assert rms[1] == "0.7071"
    trace = translator.trace(SENTENCE)
    tokens = trace.source_tokens if stack == "encoder" else trace.decoder_tokens
    assert len(json.loads(picture(app))["layout"]["yaxis"]["ticktext"]) == len(tokens)
    other = next(one for one in BOTH if one != stack)
    app.button_group(key="pe_stack").set_value(other).run()
    foot = positions.embedding_parts(translator.model, trace, other)
    np.testing.assert_array_equal(map_values(picture(app), 2), foot.sum)


def test_beyond_writes_what_the_model_writes_there(opened, translator: Translator) -> None:
    app = opened("Beyond", pe_moved="64")
    old = translator.translate(SENTENCE).text
    assert candidates(app) == [
        candidate("both stacks moved by 64", translator, Edit("moved", BOTH, 64), old),
        candidate("encoder alone moved by 64", translator, Edit("moved", ("encoder",), 64), old),
    ]
    assert candidates(opened("Beyond", pe_moved="2048")) != candidates(app)
    assert STEPS[:3] == (0, 1, 2)
    assert STEPS[-1] > 10 * translator.model.config.max_length  # far beyond


def test_without_writes_what_the_model_writes_without(opened, translator: Translator) -> None:
    app = opened("Without", pe_seed="3")
    old = translator.translate(SENTENCE).text
    edits = {
        "encoder removed": Edit("removed", ("encoder",)),
        "encoder shuffled": Edit("shuffled", ("encoder",), 3),
        "decoder removed": Edit("removed", ("decoder",)),
        "both removed": Edit("removed", BOTH),
    }
    expected = [candidate(name, translator, edit, old) for name, edit in edits.items()]
    assert candidates(app) == expected
    assert len({one.split("</small>", 1)[1] for one in expected}) == 4  # each edit does its own
    tokens = translator.trace(SENTENCE).source_tokens
    order = list(positions.shuffled_order(len(tokens), 3))
    read = [shown(tokens)[order.index(place)] for place in range(len(tokens))]
    assert texts(app)[-1] == " ".join(read)


@pytest.mark.parametrize("view", ["Your sentence", "Beyond", "Without"])
def test_without_a_translation_a_view_of_the_sentence_says_so(serve, view: str) -> None:
    app = serve(positions_page, pe_view=view, text="")
    assert texts(app)[-1] == "Without a translation there is nothing to draw."
    app = serve(positions_page, pe_view="Encoding", text="")
    assert map_values(picture(app)).shape == (256, 128)  # the formula needs none


def test_a_model_with_learned_positions_cannot_be_moved(
    serve, translator: Translator, tmp_path: Path
) -> None:
    from transformer import Transformer, TransformerConfig, checkpoint

    config = TransformerConfig.from_dict(
        {**translator.model.config.to_dict(), "positions": "learned", "max_length": 64}
    )
    torch.manual_seed(1)
    checkpoint.save(tmp_path / "learned", Transformer(config), translator.tokenizer)
    app = serve(positions_page, checkpoint=tmp_path / "learned", pe_view="Beyond", text=SENTENCE)
    assert texts(app)[-1].startswith("The positions of this model are learnt: its table ends at")
    app = serve(
        positions_page, checkpoint=tmp_path / "learned", pe_view="Your sentence", text=SENTENCE
    )
    assert not app.exception
    assert any("positions of this model are learnt" in one.value for one in app.markdown)
