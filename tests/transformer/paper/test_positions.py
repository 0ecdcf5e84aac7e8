"""The formula of §3.5 against NumPy and the paper's spot values; edits against the model itself."""

import math
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from transformer import AttentionTrace, CheckpointError, Transformer, Translator, config, embedding
from transformer.analysis.teacher_forcing import log_probs
from transformer.paper import positions
from transformer.paper.positions import TABLE, Edit, Stack, learned_positions

SENTENCE = "The old cat sleeps under the table."
BOTH: tuple[Stack, Stack] = ("encoder", "decoder")


def positions_of(model: Transformer, trace: AttentionTrace, edit: Edit) -> dict[str, np.ndarray]:
    """Return what each stack adds under an edit, `[position, d_model]`."""
    with model.hooks(edit.hooks()):
        parts = {stack: positions.embedding_parts(model, trace, stack) for stack in BOTH}
    return {stack: foot.sum - foot.tokens for stack, foot in parts.items()}


def test_the_wavelengths_run_from_2_pi_towards_10000_times_2_pi() -> None:
    waves = positions.wavelengths(512)
    assert len(waves) == 256
    assert waves[0] == pytest.approx(2 * math.pi, rel=1e-15)
    assert waves[128] == pytest.approx(100 * 2 * math.pi)  # 10000^(256/512)
    assert waves[-1] == pytest.approx(2 * math.pi * 10_000 ** (510 / 512))
    assert waves[-1] < 10_000 * 2 * math.pi
    np.testing.assert_allclose(waves[1:] / waves[:-1], 10_000 ** (2 / 512))  # geometric
    np.testing.assert_allclose(positions.frequencies(512) * waves, 2 * math.pi)


def test_the_exact_encoding_is_the_formula_and_the_models_table_is_its_float32() -> None:
    at = np.array([0, 1, 7, 0.5, 123_456])
    table = positions.exact_encoding(at, 6)
    for row, pos in enumerate(at):
        for i in range(3):
            angle = pos / 10_000 ** (2 * i / 6)
            assert table[row, 2 * i] == pytest.approx(math.sin(angle), abs=1e-10)
            assert table[row, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-10)
    np.testing.assert_allclose(
        embedding.sinusoidal_positions(300, 64).numpy(),
        positions.exact_encoding(np.arange(300), 64),
        atol=1e-7,
    )


@pytest.mark.parametrize("d_model", [2, 512])
def test_the_similarity_is_the_product_whatever_the_position(d_model: int) -> None:
    table = embedding.sinusoidal_positions(50, d_model).double().numpy()
    for p in (0, 13, 49):
        distances = np.arange(50) - p
        np.testing.assert_allclose(
            positions.similarity(distances, d_model), table @ table[p], atol=1e-4
        )
    assert positions.similarity(np.array([0]), d_model)[0] == d_model / 2


def test_cosines_are_products_of_rows_of_length_one() -> None:
    table = np.array([[3, 4], [-8, 6], [0.5, 0]], np.float32)
    expected = [[1, 0, 0.6], [0, 1, -0.8], [0.6, -0.8, 1]]
    np.testing.assert_allclose(positions.cosines(table), expected, atol=1e-7)
    assert table[0, 0] == 3  # what was given is as it was


@pytest.mark.parametrize("k", [1, 1000, -3])
@pytest.mark.parametrize("d_model", [2, 32])
def test_the_rotation_leads_from_each_position_to_the_one_k_further(k: int, d_model: int) -> None:
    at = np.arange(10, 40)
    matrix = positions.rotation(k, d_model)
    before, after = (positions.exact_encoding(places, d_model) for places in (at, at + k))
    np.testing.assert_allclose(before @ matrix.T, after, atol=1e-12)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(d_model), atol=1e-12)
    pair = np.arange(d_model) // 2
    assert not matrix[pair[:, None] != pair].any()  # block-diagonal


def test_shuffled_positions_are_the_same_ones_in_an_order_of_their_own(model, trace) -> None:
    added = positions_of(model, trace, Edit("shuffled", ("encoder",), 4))
    length = len(trace.source_pieces)
    order = positions.shuffled_order(length, 4)
    assert sorted(order) == list(range(length))
    assert list(order) != list(range(length))
    assert list(order) != list(positions.shuffled_order(length, 5))
    table = embedding.sinusoidal_positions(length, 32).numpy()
    np.testing.assert_allclose(added["encoder"], table[order], atol=2e-6)


def test_without_an_edit_the_log_probabilities_are_those_of_the_trace(model, trace) -> None:
    unedited = log_probs(model, trace, Edit("removed", ()).hooks())
    np.testing.assert_allclose(unedited, trace.log_probs, atol=1e-5)
    edited = log_probs(model, trace, Edit("removed", BOTH).hooks())
    assert np.abs(edited - unedited).max() > 0.01


@pytest.mark.parametrize(
    "edit",
    [Edit("removed", BOTH), Edit("shuffled", ("encoder",), 1)],
    ids=str,
)
def test_a_search_sees_the_edit_as_one_pass_does(translator: Translator, edit: Edit) -> None:
    """The search gives the decoder's positions one by one, the pass all at once."""
    with translator.model.hooks(edit.hooks()):
        translation = translator.translate(SENTENCE, beam_size=2)
    trace = translator.trace_of(translation)
    np.testing.assert_allclose(
        log_probs(translator.model, trace, edit.hooks()),
        translation.best.hypothesis.log_probs,
        atol=1e-4,
    )
    assert translation.log_prob != pytest.approx(translator.translate(SENTENCE).log_prob, abs=1e-3)


@pytest.mark.parametrize("stack", BOTH)
def test_the_foot_of_a_stack_is_embedding_plus_position(model, trace, stack) -> None:
    foot = positions.embedding_parts(model, trace, stack)
    written = [piece.id for piece in trace.target_pieces]
    ids = {
        "encoder": [piece.id for piece in trace.source_pieces],
        "decoder": [config.BOS, *written[:-1]],
    }[stack]
    embedded = model.shared_embedding.detach().double().numpy()[ids] * math.sqrt(32)
    place = positions.exact_encoding(np.arange(len(ids)), 32)
    np.testing.assert_allclose(foot.tokens, embedded, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(foot.positions, place, atol=1e-6)
    np.testing.assert_allclose(foot.sum, embedded + place, rtol=1e-5, atol=1e-5)


def save(folder: Path, **tables: torch.Tensor) -> Path:
    safetensors.torch.save_file(tables, folder / TABLE)
    return folder


def test_learned_tables_are_read(tmp_path: Path) -> None:
    tables = {"encoder": torch.randn(7, 4), "decoder": torch.randn(7, 4)}
    learned = learned_positions(save(tmp_path, **tables))
    np.testing.assert_array_equal(learned.encoder, tables["encoder"].numpy())
    np.testing.assert_array_equal(learned.decoder, tables["decoder"].numpy())


NO_NUMBER = torch.tensor([[1.0, math.nan]])


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ({"encoder": torch.ones(7, 4)}, "lacks the table 'decoder'"),
        ({"encoder": torch.ones(7), "decoder": torch.ones(7)}, r"shape \[7\]"),
        ({"encoder": torch.ones(7, 4), "decoder": torch.ones(8, 4)}, r"and \[8, 4\]"),
        ({"encoder": NO_NUMBER, "decoder": torch.ones(1, 2)}, "of finite float32"),
    ],
)
def test_a_table_that_is_none_gets_one_sentence(tmp_path: Path, tables: dict, says: str) -> None:
    with pytest.raises(CheckpointError, match=rf"{TABLE}.*{says}.*\.$"):
        learned_positions(save(tmp_path, **tables))


def test_a_missing_and_a_damaged_file_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="There are no learned positions"):
        learned_positions(tmp_path / "nowhere")
    header = b'{"encoder": {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}}'
    for content in (b"nonsense", len(header).to_bytes(8, "little") + header + b"\0\0"):
        (tmp_path / TABLE).write_bytes(content)
        with pytest.raises(CheckpointError, match="is not a safetensors file"):
            learned_positions(tmp_path)
