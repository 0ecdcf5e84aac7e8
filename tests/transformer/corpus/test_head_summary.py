"""The summary of many sentences beside the plainest computation over all their rows at once."""

import numpy as np
import pytest

from tests.transformer.analysis.planted import ROWS, UNIFORM, axes_of, looking_at
from transformer import KINDS
from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads.measures import MEASURES as SENTENCE_MEASURES
from transformer.analysis.heads.measures import measure
from transformer.corpus import head_summary
from transformer.trace import Labels

LAYERS, HEADS = 2, 3
LENGTHS = [(5, 7), (30, 4), (1, 1), (12, 25)]


def random_axes(kind, rng, lengths):
    """Weights of random rows, and tokens that say nothing."""
    queries, keys = lengths if kind == "cross" else lengths[:1] * 2
    weights = rng.dirichlet(np.full(keys, 0.3), (LAYERS, HEADS, queries))
    if kind == "decoder_self":
        weights = np.tril(weights) + 1e-9 * np.tri(queries)
        weights /= weights.sum(-1, keepdims=True)
    labels = Labels(tuple(f"▁q{n}" for n in range(queries)), tuple(f"▁k{n}" for n in range(keys)))
    return LabelledWeights(weights.astype(np.float32), labels)


def sentences(kind):
    rng = np.random.default_rng(5)
    return [random_axes(kind, rng, lengths) for lengths in LENGTHS]


def summary(kind, every):
    corpus = head_summary.CorpusSummary(kind)
    for axes in every:
        corpus.add(head_summary.measure_heads(axes, kind))
    return corpus.heads()


def counted_rows(axes, kind, layer, head):
    """Row number and row, of those that count."""
    rows = list(enumerate(axes.weights[layer, head].astype(float)))
    return rows[1:] if kind == "decoder_self" and len(rows) > 1 else rows


def plain_values(axes, kind, layer, head):
    """Each measure and the profile of a head by loops over its rows, and how many there are."""
    others = [axes.weights[at] for at in np.ndindex(LAYERS, HEADS) if at != (layer, head)]
    mean, rows = np.mean(others, axis=0, dtype=float), counted_rows(axes, kind, layer, head)
    profile, unlike = np.zeros(2 * head_summary.REACH + 3), 0.0
    for query, row in rows:
        unlike += np.abs(row - mean[query]).sum() / 2 / len(rows)
        for key, weight in enumerate(row):
            profile[
                min(max(key - query, -head_summary.REACH - 1), head_summary.REACH + 1)
                + head_summary.REACH
                + 1
            ] += weight / len(rows)
    values = {name: measure(axes, kind, name)[layer, head] for name in SENTENCE_MEASURES}
    return values | {head_summary.UNLIKE: unlike}, profile, len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_each_measure_and_the_profile_have_their_mean_and_deviation_over_the_sentences(kind):
    every = sentences(kind)
    for head in summary(kind, every):
        values, profiles, rows = zip(
            *(plain_values(axes, kind, *head.place[1:]) for axes in every), strict=True
        )
        share = np.array(rows) / sum(rows)
        assert head.profile == pytest.approx(share @ np.array(profiles), abs=1e-7)
        apart = ((profiles - head.profile) ** 2).sum(-1)
        assert head.varies == pytest.approx((apart @ share) ** 0.5, abs=1e-7)
        assert 0 < head.varies < 1
        assert head.profile[0] > 0  # 30 tokens: some lie beyond
        for name in head_summary.MEASURES:
            numbers = np.array([by_name[name] for by_name in values])
            mean = numbers @ share
            assert head.values[name][0] == pytest.approx(mean, abs=1e-7)
            variance = (numbers - mean) ** 2 @ share
            assert head.values[name][1] ** 2 == pytest.approx(variance, abs=1e-7)
    assert all(head.varies < 1e-6 for head in summary(kind, [every[0], every[0]]))


def test_heads_that_a_layer_does_not_have_are_not_counted():
    axes = sentences("cross")[0]
    axes.weights[1, 1:] = 0
    measures = head_summary.measure_heads(axes._replace(head_counts=(3, 1)), "cross")
    alone = LabelledWeights(
        np.concatenate([axes.weights[0], axes.weights[1, :1]])[None], axes.labels
    )
    expected = head_summary.measure_heads(alone, "cross")
    assert measures.values[head_summary.UNLIKE][[0, 0, 0, 1], [0, 1, 2, 0]] == pytest.approx(
        expected.values[head_summary.UNLIKE][0]
    )
    assert measures.unlike == pytest.approx(expected.unlike)
    assert head_summary.measure_heads(axes_of("cross", UNIFORM), "cross").unlike == 0  # one alone
    corpus = head_summary.CorpusSummary("cross")
    corpus.add(measures)
    assert [head.place[1:] for head in corpus.heads()] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    with pytest.raises(ValueError, match="after"):
        corpus.add(expected)


def test_roles_are_those_of_all_rows():
    one_to_one, spread = looking_at(*ROWS), UNIFORM
    heads = [one_to_one, one_to_one, one_to_one, spread]
    first, second = summary("cross", [axes_of("cross", head, spread) for head in heads])
    assert (first.role, second.role) == ("one-to-one", "spread")


def test_a_head_whose_maxima_lie_at_one_offset_is_named_by_it():
    rng = np.random.default_rng(2)
    faint = random_axes("encoder_self", rng, (40, 40))
    faint.weights[:] = 1 / 40  # its weights alone say "spread"
    rows = np.arange(39)
    faint.weights[..., rows, rows + 1] += 0.01
    (head, *_) = summary("encoder_self", [faint])
    assert head.role == "next"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_any_sum_are_measured_as_shares(kind):
    rng = np.random.default_rng(8)
    for axes in sentences(kind):
        factors = rng.uniform(1, 9, (*axes.weights.shape[:3], 1)).astype(np.float32)
        expected = head_summary.measure_heads(axes, kind)
        scaled = head_summary.measure_heads(axes._replace(weights=axes.weights * factors), kind)
        for name, values in expected.values.items():
            np.testing.assert_allclose(scaled.values[name], values, atol=2e-6, err_msg=name)
        np.testing.assert_allclose(scaled.profile, expected.profile, atol=1e-6)
