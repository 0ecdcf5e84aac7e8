"""Translations from each encoder layer: those of a model whose cross-attention reads it."""

import re

import torch
from torch import Tensor

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, html
from transformer import InputError, Translator
from transformer.analysis.logits.decoder_lens import decoder_lens
from transformer.attention import MultiHeadAttention
from transformer.config import BOS
from transformer.hooks import Hook
from viz.app.sentence.translation_line import mark_changed_words
from viz.draw.formatting import format_number
from viz.pages.roles import layer_by_layer

URL = {"text": SENTENCE, "roles_view": "Layer by layer", "encoder_layers": "true"}


def from_layer(translator: Translator, layer: int) -> tuple[str, int, float]:
    """The text, its length, and log P of the model's own translation.

    Cross-attention gets keys and values of the layer's output, computed module by module.
    """
    model = translator.model
    trace = translator.trace(SENTENCE)
    source, target = ([p.id for p in side] for side in (trace.source_pieces, trace.target_pieces))
    edits: dict[str, Hook] = {}
    with torch.inference_mode():
        memory = model.encoder.embedding(torch.tensor([source]))
        for n in range(layer):
            memory = model.encoder.layers[n](memory)
        for n in range(model.config.decoder.N):
            name = f"decoder.layers.{n}.cross_attention"
            attention = model.get_submodule(name)
            assert isinstance(attention, MultiHeadAttention)
            for part, values in zip("kv", attention.keys_and_values(memory), strict=True):

                def replace(there: Tensor, _name: str, values: Tensor = values) -> Tensor:
                    return values.expand_as(there)

                edits[f"{name}.hook_{part}"] = replace
        with model.hooks(edits):
            new = translator.translate(SENTENCE)
            logits = model(torch.tensor([source]), torch.tensor([[BOS, *target[:-1]]]))[0]
    log_p = logits.log_softmax(-1)[range(len(target)), target].sum()
    return new.text, len(new.best.pieces), float(log_p)


def test_the_page_has_each_translation(opened, translator: Translator) -> None:
    rows = [body for body in html(opened()) if "headlight-candidate" in body]
    assert len(rows) == translator.model.config.N + 1
    own = translator.translate(SENTENCE).text
    for layer, row in enumerate(rows):
        text, length, log_p = from_layer(translator, layer)
        assert f"<bdi>{mark_changed_words(text, own)}</bdi>" in row
        above, below = re.findall(r"<small>(.*?)</small>", row)
        assert (str(layer) in above) == (layer > 0)
        assert re.search(rf"\b{length} subword", below)
        assert below.endswith(f" {format_number(log_p)}")
    assert len({row.partition("<bdi>")[2] for row in rows}) > 1


def test_nothing_is_translated_before_it_is_asked_for(opened, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError("asked")

    monkeypatch.setattr(layer_by_layer, "decoder_lens", refuse)
    app = opened(encoder_layers="false", text="The old cat sings.")
    assert "asked" not in texts(app)
    app.toggle(key=layer_by_layer.ENCODER_LAYERS).set_value(True).run()
    assert not app.exception
    assert "asked" in texts(app)


def test_a_translation_without_an_end_is_named(opened, translator, monkeypatch) -> None:
    cut = {"max_length": 1}
    monkeypatch.setattr(
        layer_by_layer,
        "decoder_lens",
        lambda *place, **more: decoder_lens(*place, **(more | cut)),
    )
    rows = [body for body in html(opened(text="The baker eats.")) if "headlight-candidate" in body]
    stopped = [row for row in rows if "without an end after 1 subword " in row]
    trace = translator.trace("The baker eats.")
    unended = [
        layer
        for layer in range(translator.model.config.N + 1)
        if not decoder_lens(translator, trace, layer, max_length=1).ended
    ]
    assert len(stopped) == len(unended) > 0
