"""Many lines: planted heads come out exactly, every statistic as plain float64 loops have it."""

import itertools
import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu

from transformer import InputError, Translator, kinds
from transformer.analysis import alignment_settings
from transformer.analysis.alignment import align
from transformer.analysis.heads import importance
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.checkpoints import checkpoint
from transformer.corpus import comparison, passes, removal, resampling, result_file
from transformer.corpus.head_tokens import head_tokens
from transformer.corpus.measured import (
    ALIGNMENT_ERROR,
    COST,
    GRADIENT,
    LOG_P,
    head_means,
    heads_table,
)
from transformer.corpus.measuring import measure_lines, trace_of
from transformer.corpus.search import LineWords, deciles, matching_rows

from .planted_model import COPIES, LOOKS_BACK, NOISE, planted_model


@pytest.fixture(scope="module")
def texts(pairs):
    return [pair.english for pair in pairs[::12]]


@pytest.fixture(scope="module")
def planted(tmp_path_factory, tokenizer):
    folder = tmp_path_factory.mktemp("planted") / "model"
    checkpoint.save(folder, planted_model(tokenizer.vocab_size), tokenizer)
    return Translator.load(folder)


@pytest.fixture(scope="module")
def lines(planted, texts):
    return measure_lines(planted, texts)


@pytest.fixture(scope="module")
def own_lines(translator, texts):
    return measure_lines(translator, [*texts[:6], "", "The dog. " * 200], references=None)


def test_planted_heads_stand_out(lines, texts) -> None:
    assert [pair.target for pair in lines.pairs] == texts  # the model copies
    means = head_means(lines)
    roles = dict(zip(lines.heads, means.roles, strict=True))
    assert roles[COPIES] == "same word"
    assert roles[LOOKS_BACK] == "previous"
    assert {roles[place] for place in {*lines.heads} - {COPIES, LOOKS_BACK, NOISE}} == {"first"}
    for name, place in (("one-to-one", COPIES), (COST, COPIES), ("previous", LOOKS_BACK),
                        ("entropy", NOISE)):  # fmt: skip
        values = means.values[name].value
        assert lines.heads[np.nanargmax(values)] == place
        others = np.delete(values, lines.places[place])
        assert values[lines.places[place]] > np.nanmax(others) + 0.1
    cost = means.values[COST]
    at = lines.places[COPIES]
    assert cost.low[at] > 1
    assert np.allclose(np.delete(cost.value, at), 0, atol=1e-6)
    assert means.p[COST][at] < 0.01
    assert (np.delete(means.p[COST], at) == 1).all()
    table = heads_table(lines, means)
    assert table.loc[at, ["kind", "layer", "head", "role"]].tolist() == [
        "cross", 1, 2, "same word"
    ]  # fmt: skip
    assert lines.offsets[lines.places[LOOKS_BACK]] == -1


def test_deciles_and_search_go_by_the_planted_head(planted, lines) -> None:
    entropies = lines.values_of(NOISE, "entropy")
    groups = deciles(entropies)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(lines)))
    ends = [(entropies[group].min(), entropies[group].max()) for group in groups]
    assert all(low[1] <= high[0] for low, high in itertools.pairwise(ends))
    assert len(groups) == 10
    assert abs(entropies[groups[4][0]] - np.median(entropies[groups[4]])) < 0.1
    rows = matching_rows(planted, lines, LineWords("the DOG", "table", "▁the"))
    expected = [
        row
        for row, pair in enumerate(lines.pairs)
        if "The dog" in pair.source and "table" in pair.target
    ]
    assert rows.tolist() == expected
    assert 0 < len(expected) < len(lines)
    tokens = head_tokens(planted, lines, COPIES)
    total = sum(len(pair.target_ids) for pair in lines.pairs)
    diagonal = tokens.pairs[tokens.pairs["query"] == tokens.pairs["key"]]
    assert tokens.keys["weight"].sum() == pytest.approx(total, rel=1e-6)
    assert diagonal["weight"].sum() > 0.99 * total
    counts = Counter(token for pair in lines.pairs for token in pair.target_ids)
    assert diagonal["weight"].iloc[0] == pytest.approx(max(counts.values()), rel=1e-2)


def test_removal_costs_where_the_head_works(planted, lines, texts) -> None:
    without = removal.lines_without(planted, lines, [COPIES])
    summary = removal.summarise_removal(lines, without)
    assert np.allclose(-without.changes / lines.subwords, lines.values_of(COPIES, COST), atol=1e-4)
    controls = removal.random_sets(lines.heads, [COPIES], seed=0)
    assert set(controls) == {(Head("cross", 0, 0),), (Head("cross", 0, 2),)}
    assert np.allclose(without.control_changes, 0, atol=1e-4)
    assert summary.changed.value == 1
    assert summary.p == pytest.approx(1 / 10_001)
    assert summary.control_p == pytest.approx(1 / 3)
    with removed(planted, [Removal(*COPIES)]):
        assert list(without.translations) == [planted.translate(text).text for text in texts]
    idle = removal.summarise_removal(
        lines, removal.lines_without(planted, lines, [LOOKS_BACK, NOISE])
    )
    assert idle.changed.value == 0
    assert idle.p == 1
    assert not idle.lost
    assert not idle.won


def test_values_are_those_of_single_traces(translator, own_lines) -> None:
    assert [line.number for line in own_lines.left_out] == [7, 8]
    for row, pair in enumerate(own_lines.pairs):
        translation = translator.translate(pair.source)
        trace = translator.trace_of(translation)
        assert pair.target == translation.text
        assert own_lines.sentence_values[LOG_P][row] == pytest.approx(trace.log_probs.mean(), 1e-4)
    place = all_heads(translator.model.config)[-2]
    with removed(translator, [Removal(*place)]):
        without = trace_of(translator, own_lines.pairs[1])
    grown = own_lines.log_probs[1] - without.log_probs.sum()
    assert own_lines.values_of(place, COST)[1] * own_lines.subwords[1] == pytest.approx(
        grown, rel=1e-3, abs=1e-4
    )


def test_means_count_rows_and_subwords(translator, own_lines) -> None:
    means = head_means(own_lines).values
    rows = [
        [len(pair.source_ids), len(pair.target_ids) - 1, len(pair.target_ids)]
        for pair in own_lines.pairs
    ]
    for column, place in enumerate(own_lines.heads):
        for name, counts in (
            ("entropy", [row[kinds.KINDS.index(place.kind)] for row in rows]),
            (COST, [row[2] for row in rows]),
            (GRADIENT, None),
        ):
            expected = np.average(own_lines.head_values[name][:, column], weights=counts)
            assert means[name].value[column] == pytest.approx(expected, rel=1e-5, abs=1e-9)
    for row, pair in enumerate(own_lines.pairs):
        ((_, batch),) = passes.batches_of(translator.model, [pair])
        (alone,) = importance.gradient_importance(translator.model, *batch)
        np.testing.assert_allclose(own_lines.head_values[GRADIENT][row], alone, 1e-2, 1e-5)


def test_the_alignment_error_is_that_of_single_heads(translator, pairs) -> None:
    source, target = [pair.english for pair in pairs[:3]], [pair.german for pair in pairs[:3]]
    gold = ["0-0 1-1 2p2", "0-0 2-2", "1-1 3p3 4-4"]
    lines = measure_lines(translator, source, targets=target, gold=gold, costs=False)
    settings = alignment_settings.read_alignment(translator)
    for place in lines.heads:
        values = lines.values_of(place, ALIGNMENT_ERROR)
        if place.kind != "cross":
            assert np.isnan(values).all()
            continue
        own = replace(settings, layer=place.layer, head=place.head, lens="weights")
        for row, links in enumerate(gold):
            trace = translator.trace(source[row], target[row])
            linked = {tuple(pair[:2]) for pair in align(translator, trace, own, words="typed")}
            sure, possible = (
                {tuple(map(int, re.split("[-p]", link))) for link in links.split() if mark in link}
                for mark in ("-", "")
            )
            right = len(linked & sure) + len(linked & possible)
            assert values[row] == pytest.approx(1 - right / (len(linked) + len(sure)))


def test_the_permutation_test_is_exact_on_a_small_case() -> None:
    differences = np.array([0.9, -0.2, 0.4, 1.1, -0.1, 0.3, 0.8, 0.05, -0.6])
    signs = np.array(list(itertools.product((-1, 1), repeat=len(differences))))
    extreme = [abs(sum(row * differences)) >= abs(differences.sum()) - 1e-12 for row in signs]
    exact = float(np.mean(extreme))
    p = resampling.permutation_p(
        np.stack([differences, -differences, 0 * differences], 1), 0, 40_000
    )
    assert p[0] == p[1] == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))
    assert p[2] == 1
    values = [0.01, 0.04, 0.03, 0.005, 0.8]
    expected = []
    for value in values:  # Holm's steps, one hypothesis at a time
        smaller = [other for other in values if other <= value]
        steps = [sorted(values)[n] * (len(values) - n) for n in range(len(smaller))]
        expected.append(min(1, max(steps)))
    assert resampling.holm(values) == pytest.approx(expected)


def test_the_bootstrap_is_that_of_plain_loops() -> None:
    draw = np.random.default_rng(5)
    values, counts = draw.normal(size=(12, 2)), draw.integers(1, 9, size=12).astype(float)
    weights = resampling.resampled_weights(12, 1, 300)
    means = [
        [sum(w * c * v for w, c, v in zip(row, counts, column, strict=True))
         / sum(w * c for w, c in zip(row, counts, strict=True)) for row in weights]
        for column in values.T
    ]  # fmt: skip
    result = resampling.mean_interval(values, weights, counts)
    for column in range(2):
        ordered = sorted(means[column])
        for bound, tail in ((result.low, 0.025), (result.high, 0.975)):
            place = tail * 299
            low = ordered[int(place)]
            expected = low + (ordered[int(place) + 1] - low) * (place - int(place))
            assert bound[column] == pytest.approx(expected, rel=1e-12)
    assert (weights.sum(1) == 12).all()


def test_random_sets_and_words() -> None:
    heads = [Head("cross", 0, n) for n in range(4)] + [Head("encoder_self", 0, n) for n in range(9)]
    sets = removal.random_sets(heads, [heads[0], heads[5], heads[6]], seed=0)
    assert len(sets) == len(set(sets)) == 20
    for group in sets:
        assert Counter(head.kind for head in group) == {"cross": 1, "encoder_self": 2}
        assert not {heads[0], heads[5], heads[6]} & {*group}
    lost, won = removal.word_changes(
        ["ein Hund, ein Ball", "Rot"], ["ein Hund im Ball-Spiel", "Rot"]
    )
    assert dict(lost) == {"ein": 1, "Ball": 1}
    assert dict(won) == {"im": 1, "Ball-Spiel": 1}


def test_quality_is_that_of_sacrebleu(texts) -> None:
    after = [text.replace("the", "a") for text in texts]
    changes = comparison.quality_changes(texts, after, texts)
    assert changes["BLEU"].before.value == pytest.approx(100)
    assert changes["BLEU"].after.value == pytest.approx(sacrebleu.corpus_bleu(after, [texts]).score)
    assert changes["chrF2"].after.value == pytest.approx(
        sacrebleu.corpus_chrf(after, [texts]).score
    )
    assert changes["BLEU"].p < 0.01


def test_a_file_gives_back_what_was_measured(planted, translator, lines, own_lines) -> None:
    content = result_file.to_bytes(lines)
    again = result_file.from_bytes(content, planted)
    assert (again.pairs, again.heads, again.left_out) == (lines.pairs, lines.heads, lines.left_out)
    for name in lines.head_values:
        np.testing.assert_array_equal(again.head_values[name], lines.head_values[name])
    with pytest.raises(InputError, match="another model"):
        result_file.from_bytes(result_file.to_bytes(own_lines), planted)
    worse = result_file.to_bytes(lines).replace(
        lines.sentence_values[LOG_P].tobytes(), (lines.sentence_values[LOG_P] - 1).tobytes()
    )
    with pytest.raises(InputError, match="by this model"):
        result_file.from_bytes(worse, planted)


@pytest.mark.slow
def test_what_cannot_be_measured_is_one_sentence(translator, lines, planted, texts) -> None:
    for call in (
        lambda: measure_lines(translator, ["", " "]),
        lambda: measure_lines(translator, []),
        lambda: measure_lines(translator, texts, references=texts[:-1]),
        lambda: measure_lines(translator, texts[:1], targets=["Der Hund."], gold=["0-9"]),
        lambda: measure_lines(translator, texts[:1], targets=["Der Hund."], gold=["0:0"]),
        lambda: removal.lines_without(planted, lines, []),
        lambda: removal.lines_without(planted, lines, [Head("cross", 5, 0)]),
    ):
        with pytest.raises(InputError) as error:
            call()
        assert re.fullmatch(r"[^\n]+[^.\n]\.", str(error.value))
        assert "--" not in str(error.value)  # options are of one command


def test_an_error_of_the_progress_ends_the_work(translator, texts) -> None:
    class Ended(Exception):
        pass

    seen = []

    def progress(done, total, now="", /) -> None:
        seen.append((done / total, now))
        if now == "costs":
            raise Ended

    with pytest.raises(Ended):
        measure_lines(translator, texts[:4], progress=progress)
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] < 1
