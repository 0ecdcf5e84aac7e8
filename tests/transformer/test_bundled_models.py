"""Each bundled model is whole: what was measured of it is there, and belongs to its weights."""

import re

import numpy as np
import pytest

from training.config import RunConfig, config_file
from training.run import journal
from transformer import Translator
from transformer.analysis import alignment_settings, stored
from transformer.analysis.alignment import align
from transformer.analysis.heads import means
from transformer.circuits import pairs_report
from transformer.circuits.pairs import BUNDLED_PAIRS, measure_pairs, read_pairs
from transformer.corpus import head_report, result_file
from transformer.corpus.measured import UNLINKED
from transformer.corpus.measuring import measure_lines, trace_of
from transformer.files.installed import ASSETS, BUNDLED_BY_NAME
from viz.app.sentence import source_box

GERMAN = "Der alte Hund schläft unter dem Tisch."
SENTENCES = {
    "bundled": ("The old dog is sleeping under the table.", GERMAN),
    "bundled-de-en": (GERMAN, "The old dog is sleeping under the table."),
}
LINES = {"bundled": "examples.txt", "bundled-de-en": "examples-de.txt"}


@pytest.fixture(scope="module", params=BUNDLED_BY_NAME)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def translator(name: str) -> Translator:
    return Translator.load(name)


def test_it_translates_and_is_sure_of_its_examples(name: str, translator: Translator) -> None:
    text, translation = SENTENCES[name]
    assert translator.translate(text).text == translation
    for example in source_box.EXAMPLES[translator.languages.source]:
        assert not translator.translate(example).notices, example


def test_a_sentence_of_the_other_language_is_noticed_where_its_words_stay() -> None:
    translator = Translator.load("bundled-de-en")
    text = "Two black dogs are running through the deep white snow today."
    assert translator.translate(text).notices == (
        "This looks like English, and the model reads German.",
    )
    copied = "Quick brown foxes hunt small grey rabbits near deep rivers."
    notices = " ".join(translator.translate(copied).notices)
    assert "words without a capital letter: is the sentence German?" in notices
    # the reader wrote these words, and names stay as they are
    assert len(translator.score(text, text).translation.notices) == 1  # of the sentence alone
    assert not translator.translate("Berlin, Hamburg, Bremen.").notices
    translator.domain = None  # as of a model whose two languages may share half of their words
    assert len(translator.translate(text).notices) == 1
    assert not translator.translate(copied).notices


def test_what_was_measured_of_it_belongs_to_its_weights(name: str, translator: Translator) -> None:
    folder, config = translator.folder, translator.model.config
    weights = stored.checksum_of_weights(folder)
    heads = head_report.read(folder, config)
    assert heads is not None
    assert heads.weights == weights
    assert len(heads.heads) == 144
    assert means.read_means(folder, config) is not None
    assert alignment_settings.read_alignment(translator).gold is not None
    lines = result_file.from_bytes((folder / result_file.FILE).read_bytes(), translator)
    examples = (ASSETS / LINES[name]).read_text("utf-8").splitlines()
    assert [pair.source for pair in lines.pairs] == examples


@pytest.mark.slow
def test_stored_pairs_are_those_that_come_along_as_the_model_patches_them(name, translator) -> None:
    pairs = read_pairs(BUNDLED_PAIRS[translator.languages.source].read_bytes())
    stored = pairs_report.read(translator)  # which refuses those of other weights
    assert stored is not None
    assert list(stored.pairs) == pairs
    if name != "bundled":
        return
    again = measure_pairs(translator, pairs[:2]).patched
    for name, rows in (("whole", 2), ("lost", 1), ("control", 1)):  # the second donor is the first
        values, expected = (getattr(patched, name)[:rows] for patched in (stored.patched, again))
        np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-3)


def test_the_end_of_a_translation_is_no_word_that_lacks_a_link(translator: Translator) -> None:
    lines = result_file.from_bytes((translator.folder / result_file.FILE).read_bytes(), translator)
    texts, targets = zip(*((pair.source, pair.target) for pair in lines.pairs[:1]), strict=True)
    again = measure_lines(translator, texts, targets=targets, costs=False, sources=False)
    for row, text in enumerate(targets):
        trace = trace_of(translator, lines.pairs[row])
        words = {piece.word for piece in trace.target_pieces if re.search(r"\w", piece.text)}
        words.remove(trace.target_pieces[-1].word)
        share = len(words - {pair.target for pair in align(translator, trace)}) / len(words)
        for measured in (lines, again):
            assert measured.sentence_values[UNLINKED][row] == pytest.approx(share), text


def test_the_other_direction_was_trained_as_its_configuration_says() -> None:
    folder = BUNDLED_BY_NAME["bundled-de-en"]
    recipe = RunConfig.load(config_file("demo-cpu-reverse.toml")).recipe
    planned = journal.plan(journal.read(folder / "run.jsonl"))
    for field in ("steps", "cooldown", "warmup", "lr_factor"):
        assert planned[field] == getattr(recipe, field), field
    card = (folder / "MODEL_CARD.md").read_text("utf-8")
    started_from = str(planned["started_from"])  # not the weights that are bundled now
    assert f"SHA-256 {started_from[:12]}…" in card
