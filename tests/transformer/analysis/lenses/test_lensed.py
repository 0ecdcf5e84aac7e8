"""A trace through a lens: the same sentence, each value as its share of its row."""

import numpy as np
import pytest

from tests.transformer.reference import is_one_sentence
from tests.transformer.traces.from_huggingface.made_outputs import rows
from transformer import KINDS, AttentionTrace, InputError
from transformer.analysis.lenses import (
    HAS_HEADS,
    NAMES,
    NEEDS_NO_MODEL,
    VARIANTS,
    as_rows,
    lens,
)
from transformer.analysis.lenses.lensed import lensed
from transformer.analysis.lenses.rollout import rollout_of_weights


@pytest.fixture(scope="module")
def trace(translator):
    return translator.trace("The dog sleeps in the garden.", "Der Hund schläft im Garten.")


@pytest.mark.parametrize("name", [*NAMES, *VARIANTS])
def test_each_kind_holds_the_rows_of_its_own_lens(translator, trace, name) -> None:
    told: list[tuple[int, int]] = []
    found = lensed(name, translator, trace, progress=lambda *done: told.append(done))
    assert found.source_pieces == trace.source_pieces
    assert found.log_probs is trace.log_probs
    for kind in KINDS:
        expected = as_rows(lens(name, translator, trace, kind))
        if name not in HAS_HEADS:
            expected = expected[:, None]
        if name == "weights":
            expected = trace.weights(kind)
        # one pass for all kinds: which weights are watched decides in which kernel they are made
        np.testing.assert_allclose(found.weights(kind), expected, rtol=1e-4, atol=1e-6)
    # one step after another, and the last one is the end
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert all(of == len(told) for _, of in told)
    assert bool(told) == (name != "weights")


def test_a_lens_that_is_not_there_is_said(translator, trace) -> None:
    with pytest.raises(InputError, match="no lens 'nonsense': choose one of weights, norm"):
        lensed("nonsense", translator, trace)  # type: ignore[arg-type]


def anybodys() -> AttentionTrace:
    layers = [rows(1, heads, 3, 3, seed=heads)[0] for heads in (2, 4)]
    return AttentionTrace.from_arrays(encoder_self=layers, source_tokens=[*"abc"])


def test_weights_alone_are_enough_for_rollout() -> None:
    trace, told = anybodys(), []
    found = lensed("rollout", None, trace, progress=lambda *done: told.append(done))
    assert found.kinds == ("encoder_self",)
    assert found.head_count("encoder_self") == (1, 1)
    expected = rollout_of_weights(trace, "encoder_self")[:, None]
    np.testing.assert_allclose(found.encoder_self, expected, rtol=1e-6)
    assert told == [(1, 2), (2, 2)]
    assert lensed("weights", None, trace) is trace
    assert lens("weights", None, trace, "encoder_self") is trace.encoder_self


@pytest.mark.parametrize("name", sorted({*NAMES, *VARIANTS} - NEEDS_NO_MODEL))
def test_a_lens_that_needs_a_model_says_so(name) -> None:
    with pytest.raises(InputError, match=f"lens {name} needs the model that made") as caught:
        lensed(name, None, anybodys())
    assert is_one_sentence(str(caught.value))


def test_a_kind_that_is_not_there_has_no_lens(translator) -> None:
    with pytest.raises(InputError, match="has no cross: choose one of encoder_self"):
        lens("weights", None, anybodys(), "cross")
    with pytest.raises(InputError, match=r"no piece of this model|has no pieces"):
        lens("norm", translator, anybodys(), "encoder_self")
