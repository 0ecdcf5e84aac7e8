"""Anybody's trace survives its file."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.transformer.traces.from_huggingface.made_outputs import rows
from transformer import AttentionTrace, CheckpointError, Languages
from transformer.traces.npz import TooLargeError, read_arrays

FIELDS = ("source", "target", "source_pieces", "target_pieces", "read_pieces", "languages",
          "head_counts", "special", "causal", "second_start", "notes")  # fmt: skip


def odd() -> AttentionTrace:
    """Encoder layers of different head counts, no decoder_self, rows that do not sum to one."""
    return AttentionTrace.from_arrays(
        encoder_self=[rows(1, heads, 3, 3, seed=heads)[0] for heads in (2, 3)],
        cross=rows(1, 2, 2, 3, seed=1) * 0.5,
        source_tokens=["[CLS]", "fris", "##bee"],
        target_tokens=["一", "二"],
        languages=Languages("French", "", ("deu", "fra")),
    )


def rewritten(path, change):
    with np.load(path) as file:
        arrays = dict(file)
    words = json.loads(str(arrays.pop("words")))
    for name, value in change.items():
        if name in arrays:
            arrays[name] = value
        elif value is None:
            del words[name]
        else:
            words[name] = value
    np.savez(path, **arrays, words=np.array(json.dumps(words)))


@pytest.mark.parametrize(
    "make",
    [
        odd,
        lambda: AttentionTrace.from_arrays(
            encoder_self=rows(1, 1, 2, 2, seed=1), source_tokens=["a", "b"], second_start=1
        ),
        lambda: AttentionTrace.from_arrays(
            decoder_self=rows(1, 1, 2, 2, seed=1), decoder_tokens=["a", "b"]
        ),
        lambda: AttentionTrace.from_arrays(
            cross=rows(1, 1, 2, 2, seed=1), decoder_tokens=["a", "b"], target_tokens=["b", "c"]
        ),
    ],
)
def test_what_is_saved_is_what_is_loaded(tmp_path, make) -> None:
    saved = make()
    saved.save(tmp_path / "any.npz")
    loaded = AttentionTrace.load(tmp_path / "any.npz")
    for name in FIELDS:
        assert getattr(loaded, name) == getattr(saved, name), name
    for name in ("encoder_self", "decoder_self", "cross", "log_probs"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(saved, name))
        assert getattr(loaded, name).shape == getattr(saved, name).shape
    assert loaded.kinds == saved.kinds


@pytest.mark.parametrize(
    "change",
    [
        {"head_counts": {"encoder_self": [2, 4]}},
        {"head_counts": {"encoder_self": [3, 3], "cross": [0]}},
        {"languages": ["French", "\ud800", []]},
        {"special": [["[CLS]", 5], []]},
        {"notes": [7]},
        {"second_start": 3},
        {"read_pieces": [[-1, "a", 1], [-1, "b", 0]]},
        {"causal": []},
        {"log_probs": np.zeros(1, np.float32)},
        {"decoder_self": np.zeros((1, 1, 3, 3), np.float32)},
        {"decoder_self": np.full((1, 1, 2, 2), 0.5, np.float32)},  # its rows have no tokens
        {"cross": np.zeros((1, 2, 2, 3))},
        {"cross": np.zeros((0, 0, 2, 3), np.float32), "encoder_self": np.zeros((0, 0, 3, 3), "f4")},
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path, change) -> None:
    path = tmp_path / "odd.npz"
    odd().save(path)
    rewritten(path, change)
    with pytest.raises(CheckpointError, match=r"odd\.npz is not a trace that was saved here"):
        AttentionTrace.load(path)


@pytest.mark.slow
def test_what_unpacks_to_more_than_it_may_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, a=np.zeros(2**24))  # 128 MiB in 130 kB
    tracemalloc.start()
    with pytest.raises(TooLargeError, match=r"unpacks to 134,217,856 bytes"):
        read_arrays(path, ("a",), max_bytes=2**20)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "-" * 9000 + "1",
    ],
)
def test_a_header_that_asks_for_other_than_what_follows_is_refused(tmp_path, header) -> None:
    content = io.BytesIO()
    content.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    content.write(bytes(8))
    path = tmp_path / "odd.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content.getvalue())
    with pytest.raises(ValueError, match=r"\w"):
        read_arrays(path, ("a",), max_bytes=2**20)
