import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from transformer import CheckpointError, InputError, Transformer, Translator, config, decoding
from transformer.analysis import lenses
from transformer.checkpoints import checkpoint

TEXT = "The dog waits beside the river."
FOLDER: Any = Path("a/folder")


def refusal(call, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def ids(tokenizer, text):
    return torch.tensor([[*tokenizer.encode(text), config.EOS]])


def test_a_translation_is_what_the_search_finds(translator, model, tokenizer):
    (hypotheses,) = decoding.beam_search(model, ids(tokenizer, TEXT))
    translation = translator.translate(TEXT)
    assert [c.hypothesis.tokens for c in translation.candidates] == [h.tokens for h in hypotheses]
    assert [c.text for c in translation.candidates] == [
        tokenizer.decode(h.tokens) for h in hypotheses
    ]
    assert translation.text == tokenizer.decode(hypotheses[0].tokens)
    assert translation.log_prob == pytest.approx(sum(hypotheses[0].log_probs), abs=1e-4)
    assert translation.source == TEXT
    assert translation.best is translation.candidates[0]
    assert len(translation.candidates) == 4
    trace = translator.trace(TEXT)
    assert (trace.target, trace.target_pieces) == (translation.text, translation.best.pieces)


@pytest.mark.parametrize("text", ["", "\t \r\n", "\u2003\u00a0"])
def test_an_empty_text_is_refused(translator, text):
    assert "text is empty" in refusal(translator.translate, text)
    assert "text is empty" in refusal(translator.trace, text)
    assert "translation is empty" in refusal(translator.trace, TEXT, text)


def test_a_broken_character_is_refused_with_its_place(translator):
    for call in (translator.translate, translator.trace):
        assert "text has a broken character at position 5" in refusal(call, "The \ud83d dog")
    assert "translation has a broken" in refusal(translator.trace, TEXT, "\udcff")
    assert "broken" in refusal(translator.translate_lines, [TEXT, "\udcff"])


@pytest.mark.parametrize("unit", ["dog ", "字"])
def test_a_text_of_megabytes_is_refused_before_it_is_cut_into_pieces(translator, unit, monkeypatch):
    monkeypatch.setattr(translator.tokenizer, "pieces", lambda _: pytest.fail("it was cut"))
    text = unit * 1_000_000 + "end"
    assert "text has more than 16,384 characters" in refusal(translator.translate, text)
    read = translator.reader.text
    assert "translation has more than 16,384" in refusal(read, text, "translation")


@pytest.mark.timeout(20)  # a search that refuses one piece after the other has no end
def test_weights_that_overflow_write_nothing_and_say_so(model, tokenizer, tmp_path):
    with torch.no_grad():
        large = Transformer(model.config)
        large.load_state_dict(model.state_dict())
        large.get_parameter("decoder.layers.0.feed_forward.W_2.weight").mul_(1e38)
    checkpoint.save(tmp_path / "large", large, tokenizer)
    loaded = Translator.load(tmp_path / "large")
    calls = (
        loaded.translate,
        lambda text: loaded.translate(text, prefix="Der Hund", beam_size=1),
        lambda text: loaded.translate(text, prefix="Die", should_stop=lambda: True),
        lambda text: loaded.translate(text, prefix=["▁D"], forbidden=["Hund"]),
        lambda text: loaded.trace(text, "Ein Hund."),
    )
    for call in calls:
        with pytest.raises(CheckpointError, match=r"large computes .* not finite") as caught:
            call(TEXT)
        assert str(caught.value).endswith("take another checkpoint.")
        no_mask = {"decoder.layers.0.cross_attention.hook_mask": lambda mask, _: mask & False}
        with loaded.model.hooks(no_mask), pytest.raises(CheckpointError, match="the hooks"):
            call(TEXT)


def test_the_longest_text_that_fits_is_translated_and_traced(translator, tokenizer):
    text = " ".join(["the"] * 255)
    assert len(tokenizer.encode(text)) == 255  # and </s>: the model takes 256
    assert len(translator.translate(text, beam_size=1).best.pieces) <= 256
    assert translator.trace(text, text).cross.shape == (2, 4, 256, 256)
    refusal(translator.translate, text + " the")


def test_unknown_characters_are_named(translator):
    (notice, *_) = translator.translate("The 😀 dog and ж").notices
    named = "“\u2068😀\u2069”, “\u2068ж\u2069”"  # whatever their direction, the quotes stay outside
    assert notice == (
        f"The vocabulary has no {named}: the model reads <unk> there, as for every unknown "
        "character."
    )


def test_a_notice_names_five_unknown_characters_once_and_counts_the_rest(translator):
    (notice, *_) = translator.translate("😀 ж 😀 я ю э ы ё").notices
    named = ", ".join(f"“\u2068{character}\u2069”" for character in "😀жяюэ")
    assert notice.startswith(f"The vocabulary has no {named} and 2 more: ")


def test_a_sentence_without_end_is_noticed_and_another_is_not(translator, pairs):
    translations = [translator.translate(pair.english, beam_size=1) for pair in pairs[::40]]
    assert {t.best.hypothesis.complete for t in translations} == {True, False}
    for translation in translations:
        limit = len(translator.tokenizer.encode(translation.source)) + 1 + 50
        sentence = f"The model did not end the sentence within {limit} pieces"
        noticed = any(notice.startswith(sentence) for notice in translation.notices)
        assert noticed != translation.best.hypothesis.complete


def test_a_line_break_is_a_space(translator):
    text = "The dog\r\n  waits\x85beside\tthe\u2028river.\n"
    translation = translator.translate(text)
    assert translation.text == translator.translate(TEXT).text
    assert not any("vocabulary has no" in notice for notice in translation.notices)
    assert translation.source == text
    assert translator.trace(text, TEXT).source_tokens == translator.trace(TEXT, TEXT).source_tokens


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.trace(None), "^The text cannot be None: give one string"),
        (lambda t: t.score(TEXT, [1, 2]), r"^The translation cannot be \[1, 2\]: give a text, or"),
        (lambda t: t.trace(TEXT, "E", bem_size=3, alpha=1), "leave out bem_size and alpha"),
        (lambda t: t.trace_of(t.translate(TEXT), 4), "has 4 candidates"),
        (lambda t: t.translate_lines(TEXT), "^The lines are one text, 'The dog"),
        (lambda t: lenses.lens("norm", FOLDER, t.trace(TEXT, "E"), "cross"), "Translator.load"),
        (lambda _: Translator(FOLDER), "not made of .*a/folder.*: load a folder with"),
    ],
)  # fmt: skip
def test_what_is_of_another_kind_is_one_sentence(translator, call, message):
    assert re.search(message, refusal(call, translator))


def test_a_model_in_training_is_refused_wherever_dropout_would_change_numbers(translator):
    trace = translator.trace(TEXT, "Ein Hund.")
    training = copy.copy(translator)
    training.model = copy.deepcopy(translator.model).train()
    calls = (
        training.translate,
        training.stream,
        lambda text: training.translate_lines([text]),
        lambda text: training.trace(text, "Ein Hund."),
        lambda text: training.score(text, "Ein Hund."),
        *(
            lambda _, name=name: lenses.lens(name, training, trace, "cross")
            for name in lenses.NAMES
        ),
    )
    for call in calls:
        assert refusal(call, TEXT).startswith("The model is in training mode")
    training.model.eval()
    np.testing.assert_array_equal(training.trace(TEXT, "Ein Hund.").cross, trace.cross)


def test_a_search_that_is_stopped_is_told_and_one_that_ends_is_not(translator):
    translation = translator.translate("The dog sleeps in the garden.", should_stop=lambda: True)
    assert translation.stopped
    assert len(translation.best.pieces) == 1
    (notice,) = translation.notices
    assert notice.startswith("The search was stopped before its end, after 1 piece:")
    steps = iter((False, False, True))
    translation = translator.translate(
        "The baker eats under the table.", should_stop=steps.__next__
    )
    assert len(translation.best.pieces) == 2  # it ended, while others went on
    assert "after 3 pieces:" in translation.notices[0]
    whole = translator.translate("The dog sleeps in the garden.", should_stop=lambda: False)
    assert not whole.stopped
    assert whole.text == translator.translate("The dog sleeps in the garden.").text
