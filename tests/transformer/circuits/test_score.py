"""Scores by the writers of query and key, against loops in float64; all parts add up."""

import math
from typing import Any

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.analysis.plain_model import linearised
from tests.transformer.checkpoints.marian import marian_folder
from transformer import InputError, Translator
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.score import split_scores

SENTENCE = "A man in a blue shirt is standing on a ladder cleaning a window."


def written(case: Case, stack: str, end: int, position: int) -> dict[str, np.ndarray]:
    """Every part of the stream at a position, by title: each vector followed through each norm."""
    plain, config = case.plain, case.model.config
    side = 0 if stack == "encoder" else 1
    ids = [
        [piece.id for piece in case.trace.source_pieces],
        [2, *(piece.id for piece in case.trace.target_pieces[:-1])],
    ][side]
    table = plain.weights.get("source_embedding", plain.table) if side == 0 else plain.table
    parts = {
        "token": table[ids[position]] * math.sqrt(config.d_model),
        "position": plain.positions[side][position],
        "biases": np.zeros(config.d_model),
    }
    names = ["self", "network"] if stack == "encoder" else ["self", "cross", "network"]
    for number in range(end):
        layer, name = number // len(names), names[number % len(names)]
        if name == "network":
            block: Any = plain.networks[stack, layer]
            new = {f"{stack} L{layer + 1} feed-forward": block.output[position]}
        else:
            kind = "cross" if name == "cross" else f"{stack}_self"
            block = plain.attention[kind, layer]
            label = {
                "encoder_self": "encoder",
                "decoder_self": "decoder",
                "cross": "cross-attention",
            }
            new = {
                f"{label[kind]} L{layer + 1} H{head + 1}": sum(
                    block.pattern[head, position, key] * (block.v[head, key] @ block.W_O[head])
                    for key in range(block.v.shape[1])
                )
                for head in range(config.h)
            }
            parts["biases"] = parts["biases"] + block.constant
        parts = {
            title: linearised(block, position, part) for title, part in {**parts, **new}.items()
        }
        parts["biases"] = parts["biases"] + block.bias
    return parts


def test_a_score_is_the_sum_over_pairs_of_writers_followed_one_by_one(case: Case) -> None:
    model, config = case.model, case.model.config
    for head in all_heads(config):
        attention = f"{'encoder' if head.kind == 'encoder_self' else 'decoder'}.layers."
        attention += f"{head.layer}.{'cross' if head.kind == 'cross' else 'self'}_attention"
        rows = slice(head.head * config.d_k, (head.head + 1) * config.d_k)
        W = {w: case.plain.weights[f"{attention}.W_{w}.weight"][rows] for w in "QK"}
        b = {
            w: case.plain.weights.get(f"{attention}.W_{w}.bias", np.zeros(999))[rows] for w in "QK"
        }
        reads = {
            "encoder_self": (("encoder", 2 * head.layer),) * 2,
            "decoder_self": (("decoder", 3 * head.layer),) * 2,
            "cross": (("decoder", 3 * head.layer + 1), ("encoder", 2 * config.N)),
        }[head.kind]
        queries, keys = case.trace.weights(head.kind).shape[2:]
        query, key = queries - 1, keys - 1
        split = split_scores(model, case.trace, head, query, [key, 0])
        (asking, asked) = (
            written(case, *reads[0], query), written(case, *reads[1], key)
        )  # fmt: skip
        assert [writer.title for writer in split.query_writers] == list(asking)
        assert [writer.title for writer in split.key_writers] == list(asked)
        expected = [
            [
                (W["Q"] @ x + (b["Q"] if first == "biases" else 0))
                @ (W["K"] @ y + (b["K"] if second == "biases" else 0))
                / math.sqrt(config.d_k)
                for second, y in asked.items()
            ]
            for first, x in asking.items()
        ]
        np.testing.assert_allclose(split.values[0], expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(split.values.sum((1, 2)), split.scores, rtol=1e-9, atol=1e-9)
        assert split.difference().sum() == pytest.approx(split.scores[0] - split.scores[1])
        # the softmax of the scores is what the head pays
        weights = case.trace.weights(head.kind)[head.layer, head.head, query]
        ratio = math.log(weights[key] / weights[0])
        assert split.scores[0] - split.scores[1] == pytest.approx(ratio, abs=1e-4)


@pytest.mark.parametrize("uneven_stacks", [False, True])
def test_parts_sum_to_the_scores_of_a_bundled_model_and_of_marian(tmp_path, uneven_stacks) -> None:
    folder: Any = "bundled"
    if uneven_stacks:
        folder = marian_folder.write(tmp_path, layers=3, decoder=(2, 4, 40), h=4)
    translator = Translator.load(folder)
    trace = translator.trace(SENTENCE, target=SENTENCE)
    for head in all_heads(translator.model.config)[::13]:
        queries, keys = trace.weights(head.kind).shape[2:]
        split = split_scores(translator.model, trace, head, queries - 1, range(keys))
        assert np.abs(split.values.sum((1, 2)) - split.scores).max() < 1e-4


@pytest.mark.parametrize(("query", "keys"), [(-1, [0]), (4, [0]), (0, [0, 5])])
def test_a_position_that_is_not_there_is_refused(uneven: Case, query: int, keys: list) -> None:
    with pytest.raises(InputError):
        split_scores(uneven.model, uneven.trace, Head("cross", 0, 0), query, keys)
