"""Learned tables are read as they are, and what is none gets one sentence."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from transformer import CheckpointError
from transformer.analysis.paper.learned_positions import TABLE, learned_positions


def save(folder: Path, **tables: torch.Tensor) -> Path:
    safetensors.torch.save_file(tables, folder / TABLE)
    return folder


def test_learned_tables_are_read(tmp_path: Path) -> None:
    tables = {"encoder": torch.randn(7, 4), "decoder": torch.randn(7, 4)}
    found = learned_positions(save(tmp_path, **tables))
    np.testing.assert_array_equal(found.encoder, tables["encoder"].numpy())
    np.testing.assert_array_equal(found.decoder, tables["decoder"].numpy())


NO_NUMBER = torch.tensor([[1.0, math.nan]])


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ({"encoder": torch.ones(7, 4)}, "lacks the table 'decoder'"),
        ({"encoder": torch.ones(7), "decoder": torch.ones(7, 4)}, r"'encoder' has shape \[7\]"),
        ({"encoder": torch.ones(7, 4), "decoder": torch.ones(0, 4)}, r"shape \[0, 4\]"),
        ({"encoder": torch.ones(7, 4), "decoder": torch.ones(7, 3)}, r"shape \[7, 3\]"),
        ({"encoder": torch.ones(7, 4), "decoder": torch.ones(8, 4)}, "differ in shape"),
        *(
            ({"encoder": torch.ones(7, 4).to(dtype), "decoder": torch.ones(7, 4)}, "of float32")
            for dtype in (torch.float64, torch.float8_e4m3fn, torch.complex64)
        ),
        ({"encoder": NO_NUMBER, "decoder": torch.ones(1, 2)}, "has values that are not finite"),
    ],
)
def test_a_table_that_is_none_gets_one_sentence(tmp_path: Path, tables: dict, says: str) -> None:
    with pytest.raises(CheckpointError, match=says) as error:
        learned_positions(save(tmp_path, **tables))
    assert str(error.value).endswith(".")
    assert TABLE in str(error.value)


def test_a_missing_and_a_damaged_file_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"There are no learned positions: .* is missing"):
        learned_positions(tmp_path / "nowhere")
    (tmp_path / TABLE).write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match="is not a safetensors file"):
        learned_positions(tmp_path)
    header = b'{"encoder": {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}}'
    (tmp_path / TABLE).write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0")
    with pytest.raises(CheckpointError, match="is not a safetensors file"):
        learned_positions(tmp_path)
    (tmp_path / "folder" / TABLE).mkdir(parents=True)
    with pytest.raises(CheckpointError, match="cannot be read"):
        learned_positions(tmp_path / "folder")
