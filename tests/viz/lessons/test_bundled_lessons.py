"""The bundled lessons: answers are computed from the bundled model, and what they say checked."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import get_args
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from training.run import journal
from transformer import AttentionTrace, Kind, Translator
from transformer.analysis import lenses, teacher_forcing
from transformer.analysis.heads import removal
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal_text import parse_removals
from transformer.analysis.logits.logit_lens import alternatives
from transformer.circuits.edges import Circuit, patch_strongest
from transformer.circuits.merging import merge_parts
from transformer.circuits.score import split_scores
from transformer.files.installed import ASSETS, BUNDLED, BUNDLED_BY_NAME
from transformer.paper import masking, scaling
from transformer.paper.positions import Edit, exact_encoding
from viz.app.chrome import head_picker
from viz.draw import caption
from viz.draw.labels import KINDS_BY_NAME
from viz.figures.schedule import format_rate, paper_rate
from viz.lessons import Card, Lesson, grading, measures, read_lesson
from viz.lessons.lesson import Language
from viz.lessons.wording import missing_names
from viz.pages import masks, positions, roles, training
from viz.pages.inside import circuits
from viz.pages.roles import edges, pieces
from viz.pages.training import heads_forming

NAMES = (
    "attention", "heat-maps", "learning", "masks", "one-head-by-hand", "positions", "why-there",
)  # fmt: skip
LESSONS = [f"{name}.{language}" for name in NAMES for language in get_args(Language)]


@cache
def lesson_of(name: str) -> Lesson:
    return read_lesson(ASSETS / "lessons" / f"{name}.md")


@cache
def bundled() -> Translator:
    return Translator.load()


@cache
def sentence(text: str) -> measures.Sentence:
    return measures.Sentence(bundled(), bundled().trace(text))


def probe(step: int) -> AttentionTrace:
    return AttentionTrace.load(BUNDLED / "probes" / f"step-{step:08}-sentence-1.npz")


def confidence(step: int, kind: Kind) -> float:
    """Mean largest weight of a row at a step of the run; the decoder's first row sees itself."""
    weights = probe(step).weights(kind)[:, :, 1 if kind == "decoder_self" else 0 :]
    return float(weights.max(-1).mean())


def logged(step: int, field: str) -> float:
    records = journal.read(BUNDLED / "run.jsonl")
    return float(next(r[field] for r in records if r["step"] == step and field in r))


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def rows_of_head(lesson: Lesson) -> tuple[np.ndarray, np.ndarray]:
    """q · k and scores of the row that writes “Hunde” in L5 H4, for Two, black, dogs, run, </s>."""
    values = sentence(lesson.sentence).values(parse_removals("L5 H4 cross", None)[0][0].place)
    return values.k[3].astype(np.float64) @ values.q[3, 2], values.scores[3, 2]


def right_choice(card: Card) -> str:
    return next(choice.text for choice in card.choices if choice.right)


def one_head_by_hand(lesson: Lesson) -> None:
    dots, scores = rows_of_head(lesson)
    assert len(dots) == 5
    assert bundled().model.config.d_k == 32
    assert scores == pytest.approx(dots / 5.66, abs=0.01)
    assert scores[0] < 0
    assert softmax(scores)[2] < 0.8
    assert softmax(dots)[2] > 0.99
    assert softmax(scores)[1] > 0.1 > softmax(scores)[0]


def attention(lesson: Lesson) -> None:
    trace = sentence(lesson.sentence).trace
    assert trace.cross[3, 4, 5, 4] > 0.95  # Pferd, horse
    assert trace.cross.shape[:2] == (6, 8)


def masks_(lesson: Lesson) -> None:
    trace = sentence(lesson.sentence).trace
    following = trace.target_tokens[trace.decoder_tokens.index("▁Männer")]
    assert following == f"▁{right_choice(lesson.cards[0])}"
    assert trace.decoder_self[:, :, 0, 0] == pytest.approx(1)
    assert trace.decoder_self[:, :, 2, 3:].max() == 0
    batch = teacher_forcing.batch_traces([trace])
    with_mask, without = (
        float(np.nanmean(masking.leak(bundled().model, batch, "decoder_self", masked=masked).loss))
        for masked in (True, False)
    )
    assert without > with_mask + 1


def positions_(lesson: Lesson) -> None:
    pair = lesson.sentence, "The man bites the dog."
    edit = Edit("removed", ("encoder",))
    with bundled().model.hooks(edit.hooks()):
        assert len({bundled().translate(text).text for text in pair}) == 1
    assert len({bundled().translate(text).text for text in pair}) == 2
    table = exact_encoding(np.array([3, 5, 40, 42]), 256)
    assert table[0] @ table[1] == pytest.approx(table[2] @ table[3])
    measure = measures.MEASURES["log probability without positions"]
    without = {
        stack: measure.compute(sentence(lesson.sentence), {"stack": stack})
        for stack in ("encoder", "decoder")
    }
    assert float(without["encoder"]) < float(without["decoder"]) - 10


def heat_maps(lesson: Lesson) -> None:
    trace = sentence(lesson.sentence).trace
    assert trace.target_tokens[4:6] == ("▁am", "▁Strand")
    assert trace.decoder_tokens[2] == "▁brauner"
    # L4 H4 looks where a dictionary would: brauner, Hund, rennt, am, Strand
    assert trace.cross[3, 3, 1:6].argmax(-1).tolist() == [1, 2, 3, 4, 6]
    sinks = np.concatenate([trace.encoder_self, trace.cross], axis=2)[..., -1].mean(-1)
    assert (sinks > 0.4).sum() > 10
    assert trace.cross[5, 0, -1, -1] > 0.9
    rest = trace.cross[5, 0, -1, :-2]
    assert rest.max() / rest.sum() > 0.5
    # L3 H1: the vector of </s> is short beside that of dog
    norms = lenses.lens("norm", bundled(), trace, "cross")[2, 0, 2] / trace.cross[2, 0, 2]
    assert norms[-1] < norms[2] / 4
    # L6 H5: läuft and am look at beach, Strand does not
    assert trace.cross[5, 4, 3:6, 6] == pytest.approx([0.74, 0.96, 0.04], abs=0.005)
    with removal.removed(bundled(), parse_removals("L6 H5 cross", None)[0]):
        assert "auf dem Strand" in bundled().translate(lesson.sentence).text


def learning(lesson: Lesson) -> None:
    assert probe(1).source == lesson.sentence
    steps = np.arange(1, 26_001)
    peak = int(paper_rate(steps, 256, 2000).argmax()) + 1
    assert peak == int(right_choice(lesson.cards[1]).replace(",", ""))
    assert paper_rate(np.array([8000]), 256, 2000) * 2 == pytest.approx(
        paper_rate(np.array([2000]), 256, 2000)
    )
    assert bundled().model.config.vocab_size == 8000
    assert logged(100, "loss") < logged(50, "loss")
    rises = {kind: confidence(1000, kind) - confidence(1, kind) for kind in KINDS_BY_NAME.values()}
    assert max(rises, key=rises.__getitem__) == "cross"
    assert rises["encoder_self"] == min(rises.values())
    assert confidence(26_000, "encoder_self") > confidence(1000, "encoder_self") + 0.1
    for step, number in ((1000, 0.62), (26_000, 0.47)):  # as the page has it, without `</s>`
        value = float(heads_forming.measure_heads(probe(step), "cross", "confidence").mean())
        assert value == pytest.approx(number, abs=0.005)
        assert f"{number}" in lesson.cards[6].text.replace(",", ".")
    rate = paper_rate(np.array([2000]), 256, 2000)[0]
    assert format_rate(rate) == "1.40e-3"
    assert logged(1000, "validation_bleu") < 10
    assert logged(26_000, "validation_bleu") == pytest.approx(39, abs=0.5)


def why_there(lesson: Lesson) -> None:
    model, trace = bundled().model, sentence(lesson.sentence).trace
    assert trace.encoder_self[1, 7, 3].argmax() == 2
    assert trace.encoder_self[1, 7, 3, 2] == pytest.approx(0.9, abs=0.005)
    parts = {}
    for place, query, key in (
        (Head("encoder_self", 1, 7), 3, 2),
        (Head("encoder_self", 0, 7), 3, 4),
        (Head("cross", 5, 5), 1, 2),
    ):
        assert trace.weights(place.kind)[place.layer, place.head, query].argmax() == key
        keys = range(len(trace.source_tokens))
        split = split_scores(model, trace, place, query, [key], mean_over=keys)
        merged = [merge_parts(split, values) for values in (split.values[0], split.difference())]
        cells = [
            {(a, b): x for b, rows in part.to_dict().items() for a, x in rows.items()}
            for part in merged
        ]
        parts[place] = cells, split
    looks_back, sink, writes = parts.values()
    for drawn in looks_back[0]:  # the score as it is, and beyond the mean, as the card draws it
        assert max(drawn, key=lambda cell: abs(drawn[cell])) == ("position", "position")
    as_it_is, beyond = sink[0]
    (raising, raised), (lowering, lowered) = sorted(
        as_it_is.items(), key=lambda cell: -abs(cell[1])
    )[:2]
    assert (raising[1], lowering) == ("token", ("position", "position"))
    assert raised > 12
    assert -9 < lowered < -8.5
    assert abs(beyond[lowering]) < 0.2  # every key has it
    assert sink[1].scores[0] == pytest.approx(2.72, abs=0.005)
    _, split = writes
    for values in (split.values[0], split.difference()):
        networks = [
            [writer.part == "feed-forward" for writer in writers]
            for writers in (split.query_writers, split.key_writers)
        ]
        total = float(values.sum())
        assert values[:, networks[1]].sum() > 0.6 * total  # most of it in the key
        assert values[networks[0]].sum() == pytest.approx(0.5 * total, abs=0.06 * total)
    choices = alternatives(model, bundled().target_tokenizer, trace, 2)
    assert pieces.least_certain_step(choices) == 3
    assert [choice.piece for choice in choices[3][:2]] == ["▁rennen", "▁laufen"]
    (other,) = bundled().target_tokenizer.ids_of(["▁laufen"])
    patched = patch_strongest(Circuit(model, trace, 3, other))
    first = patched.edges[:3]
    assert {(edge.writer.head, edge.input) for edge in first} == {(Head("encoder_self", 5, 0), "v")}
    assert first[0].reader == Head("cross", 4, 7)
    assert (patched.lost[:3] > 0).all()
    assert len(patched.edges) == 30
    assert patched.correlation == pytest.approx(0.98, abs=0.005)
    for name, word in (("L6 H1 encoder", "laufen"), ("L5 H8 cross", "rennen")):
        with removal.removed(bundled(), parse_removals(name, None)[0]):
            assert word in bundled().translate(lesson.sentence).text


FACTS: Mapping[str, Callable[[Lesson], None]] = dict(
    zip(
        NAMES,
        (attention, heat_maps, learning, masks_, one_head_by_hand, positions_, why_there),
        strict=True,
    )
)
"""By lesson: checks of the choices that are marked as right, and of the numbers in its prose."""


# of the German ones, those of which words and numbers are read
@pytest.mark.parametrize("name", [*(f"{name}.en" for name in NAMES), "learning.de", "masks.de"])
def test_what_a_lesson_says_of_the_model_is_true(name: str) -> None:
    FACTS[name.partition(".")[0]](lesson_of(name))


VALUES: Mapping[str, Callable[[str], bool]] = {
    head_picker.KIND: KINDS_BY_NAME.__contains__,
    "layer": lambda value: 1 <= int(value) <= 6,
    "head": lambda value: 1 <= int(value) <= 8,
    "lens": caption.LENSES_BY_NAME.__contains__,
    "without_sinks": ("true", "false").__contains__,
    "at": lambda value: 0 <= int(value) <= 9,
    "scale_of": get_args(scaling.Scale).__contains__,
    circuits.SPLIT: (circuits.ABOVE_MEAN, circuits.TWO_KEYS, circuits.ONE_KEY).__contains__,
    **{
        page.menu: {view.key for view in page.views}.__contains__
        for page in (masks.PAGE, positions.PAGE, roles.PAGE, training.PAGE)
    },
    masks.STYLE: (masks.BOOLEANS, masks.NUMBERS).__contains__,
    masks.ROW: lambda value: int(value) >= 1,
    "more": lambda value: bool(value),
    "removed": lambda value: parse_removals(value, bundled().model)[1] == "",
    "trained": lambda value: (
        BUNDLED / "probes" / f"step-{value.replace(',', ''):0>8}-sentence-1.npz"
    ).exists(),
    "forming_run": BUNDLED_BY_NAME.__contains__,
    "word": lambda value: 1 <= int(value) <= 5,
    pieces.WRITTEN: lambda value: 1 <= int(value) <= 6,
    edges.PATCH: ("true", "false").__contains__,
    "pairs": lambda value: value == "256 · 2000",
    "steps": lambda value: int(value) >= 100,
}
"""By name in the URL: whether a page takes a value."""


@pytest.mark.parametrize("name", LESSONS)
def test_a_link_opens_its_page_and_every_question_has_an_answer_and_a_hint(name: str) -> None:
    lesson = lesson_of(name)
    for asked in lesson.cards:
        assert asked.view is not None
        for field, value in parse_qsl(urlsplit(asked.view.url).query):
            assert VALUES[field](value), f"{asked.title}: {field}"
    own = sentence(lesson.sentence).trace
    for card, measured, answer, problem in grading.answer_key(lesson, bundled(), own):
        assert not problem
        assert measured is not None
        # it names words, rows and heads that are there
        assert card.own_sentence or [*missing_names(card, measured)] == []
        assert answer is not None
        assert grading.is_right(card, answer.text, answer)
        assert card.ask
        assert card.hint
        assert card.reveal


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_cards(name: str) -> None:
    english, german = (lesson_of(f"{name}.{language}") for language in ("en", "de"))
    assert (english.sentence, english.minutes) == (german.sentence, german.minutes)
    assert [shape(card) for card in english.cards] == [shape(card) for card in german.cards]


def shape(card: Card) -> tuple[object, ...]:
    """Parts of a card that are the same in each language."""
    choices = tuple(choice.right for choice in card.choices)
    return card.view, card.light, card.answer, choices, card.predict, card.own_sentence
