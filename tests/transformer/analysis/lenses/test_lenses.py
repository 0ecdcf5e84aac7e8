"""One entrance to all lenses: names, shapes, signs, refusals, and rows for drawing."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import SHAPES, Case, random_model
from tests.transformer.traces.from_huggingface.made_outputs import rows
from transformer import KINDS, AttentionTrace, CheckpointError, InputError
from transformer.analysis import lenses
from transformer.analysis.lenses import (
    HAS_HEADS,
    NAMES,
    NEEDS_NO_MODEL,
    VARIANTS,
    as_rows,
    lens,
    lens_trace,
    rollout,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*lenses.NAMES, *lenses.VARIANTS])
def test_each_name_gives_its_lens_in_the_shape_of_a_map(uneven: Case, name, kind) -> None:
    steps: list[tuple[int, int]] = []
    values = lenses.lens(
        name, uneven.translator, uneven.trace, kind, progress=lambda *step: steps.append(step)
    )
    shape = uneven.trace.weights(kind).shape
    assert values.shape == (shape if name in lenses.HAS_HEADS else (shape[0], *shape[2:]))
    assert values.dtype == np.float32
    assert (values < 0).any() == (name in lenses.SIGNED)
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    rows = lenses.as_rows(values)
    np.testing.assert_allclose(rows.sum(-1), 1, rtol=1e-5)
    assert (rows >= 0).all()
    if kind == "decoder_self":
        assert not np.triu(rows, 1).any()


def test_rows_keep_the_order_of_absolute_values_and_rows_of_zeros() -> None:
    values = np.array([[[1, -3, 0], [0, 0, 0], [1e-44, 3e-44, 0]]], dtype=np.float32)
    rows = lenses.as_rows(values)
    np.testing.assert_allclose(rows[0, :2], np.array([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]]))
    assert rows[0, 2].sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["norm", "gradient"])
def test_numbers_that_are_not_finite_are_refused(uneven: Case, name) -> None:
    model = random_model(SHAPES["uneven"][0])
    with torch.no_grad():
        model.get_parameter("encoder.layers.1.self_attention.W_V.weight").fill_(1e300)
    translator: Any = SimpleNamespace(model=model, folder="here")
    with pytest.raises(CheckpointError, match="not finite"):
        lenses.lens(name, translator, uneven.trace, "cross")


@pytest.mark.parametrize("name", [*NAMES, *VARIANTS])
def test_each_kind_holds_the_rows_of_its_own_lens(translator, trace, name) -> None:
    steps: list[tuple[int, int]] = []
    result = lens_trace(name, translator, trace, progress=lambda *done: steps.append(done))
    assert result.source_pieces == trace.source_pieces
    assert result.log_probs is trace.log_probs
    for kind in KINDS:
        expected = as_rows(lens(name, translator, trace, kind))
        if name not in HAS_HEADS:
            expected = expected[:, None]
        if name == "weights":
            expected = trace.weights(kind)
        # one pass for all kinds: which weights are watched decides in which kernel they are made
        np.testing.assert_allclose(result.weights(kind), expected, rtol=1e-4, atol=1e-6)
    # one step after another, and the last one is the end
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1))
    assert all(total == len(steps) for _, total in steps)
    assert bool(steps) == (name != "weights")


def anybodys() -> AttentionTrace:
    layers = [rows(1, heads, 3, 3, seed=heads)[0] for heads in (2, 4)]
    return AttentionTrace.from_arrays(encoder_self=layers, source_tokens=[*"abc"])


def test_weights_alone_are_enough_for_rollout() -> None:
    trace, steps = anybodys(), []
    result = lens_trace("rollout", None, trace, progress=lambda *done: steps.append(done))
    assert result.kinds == ("encoder_self",)
    assert result.head_count("encoder_self") == (1, 1)
    expected = np.stack([*rollout.rollout_of_weights(trace, "encoder_self")])
    np.testing.assert_allclose(result.encoder_self[:, 0], expected, rtol=1e-6)
    assert steps == [(1, 2), (2, 2)]
    assert lens_trace("weights", None, trace) is trace
    assert lens("weights", None, trace, "encoder_self") is trace.encoder_self


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(NEEDS_NO_MODEL))
def test_a_lens_that_needs_no_model_gives_the_same_without_it(uneven: Case, name, kind) -> None:
    with_model, without = (
        lens(name, translator, uneven.trace, kind) for translator in (uneven.translator, None)
    )
    np.testing.assert_allclose(without, with_model, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", sorted({*NAMES, *VARIANTS} - NEEDS_NO_MODEL))
def test_a_lens_that_needs_a_model_says_so(name) -> None:
    with pytest.raises(InputError, match=f"lens {name} needs the model that made"):
        lens_trace(name, None, anybodys())


def test_a_kind_that_is_not_there_has_no_lens(translator) -> None:
    with pytest.raises(InputError, match="has no cross: choose one of encoder_self"):
        lens("weights", None, anybodys(), "cross")
    with pytest.raises(InputError, match=r"not a piece of this model|has no pieces"):
        lens("norm", translator, anybodys(), "encoder_self")


def test_each_name_has_its_record() -> None:
    assert {*lenses.LENSES} == {*lenses.NAMES, *lenses.VARIANTS}
    titles = [record.title for record in lenses.LENSES.values()]
    assert len({*titles}) == len(titles)
    assert [lens.name for lens in lenses.LENSES.values() if lens.variant][1:] == [*lenses.VARIANTS]


def test_the_documentation_lists_each_lens() -> None:
    docs = Path(lenses.__file__).parents[3] / "docs"
    pages = ("reference/analysis.md", "app.md")
    reference, app = ((docs / page).read_text("utf-8") for page in pages)
    for name in NAMES:
        assert f'"{name}"' in reference
        assert lenses.LENSES[name].title in app
        assert f"- `{name}`" in str(lens.__doc__)
