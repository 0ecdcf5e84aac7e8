"""Logits that a head writes at a key, against loops in float64."""

from typing import Any

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.analysis.plain_model import linearised
from transformer import InputError
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.writing import copying_score, written_logits


def test_logits_are_those_of_the_value_followed_through_each_norm(case: Case) -> None:
    plain, config = case.plain, case.model.config
    for head in all_heads(config):
        queries, keys = case.trace.weights(head.kind).shape[2:]
        block = plain.attention[head.kind, head.layer]
        later: list[Any] = plain.norms[3 * head.layer + (head.kind == "cross") :]
        table = plain.table
        if head.kind == "encoder_self":
            table = plain.weights.get("source_embedding", table)
            later = [block, plain.networks["encoder", head.layer]]
            for layer in range(head.layer + 1, config.N):
                later += [plain.attention["encoder_self", layer], plain.networks["encoder", layer]]
        logits = written_logits(case.model, case.trace, head, queries - 1, [keys - 1, 0])
        for row, key in zip(logits, (keys - 1, 0), strict=True):
            vector = block.v[head.head, key] @ block.W_O[head.head]
            for norm in later:
                vector = linearised(norm, queries - 1, vector)
            expected = table @ vector
            np.testing.assert_allclose(row, expected - expected.mean(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("query", "keys"), [(-1, [0]), (4, [0]), (0, [0, 5]), (0, [-1])])
def test_a_position_that_is_not_there_is_refused(uneven: Case, query: int, keys: list) -> None:
    with pytest.raises(InputError, match=r"There is no (query|key)"):
        written_logits(uneven.model, uneven.trace, Head("cross", 0, 0), query, keys)


def test_a_head_between_two_languages_has_no_copying_score(uneven: Case) -> None:
    with pytest.raises(InputError, match="self-attention"):
        copying_score(uneven.model, Head("cross", 0, 0))
