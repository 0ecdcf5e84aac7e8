"""Attention saved while training is found by sentence and step."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.viz.planted_trace import planted
from transformer import CheckpointError
from viz.pages.training import runs
from viz.pages.training.runs import find, load, nearest


def _keep(run: Path, step: int, sentence: int) -> Path:
    path = run / "probes" / f"step-{step:08d}-sentence-{sentence}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    planted().save(path)
    return path


def test_each_sentence_has_its_files_in_the_order_of_the_steps(tmp_path: Path) -> None:
    second = [_keep(tmp_path, step, 2) for step in (100_000_000, 16)]
    first = _keep(tmp_path, 20, 1)  # comes after a file of the second
    (tmp_path / "probes" / "step-1-sentence-x.npz").write_bytes(b"")
    assert find(tmp_path) == [{20: first}, {16: second[1], 100_000_000: second[0]}]
    assert list(find(tmp_path)[1]) == [16, 100_000_000]


def test_a_folder_without_any_has_no_sentences(tmp_path: Path) -> None:
    assert find(tmp_path) == find(tmp_path / "none") == []


def test_a_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    path = _keep(tmp_path, 1, 1)
    assert np.array_equal(load(path).cross, planted().cross)
    path.write_bytes(b"half")
    with pytest.raises(CheckpointError, match="is not a trace"):
        load(path)


def test_the_nearest_step_of_another_run() -> None:
    assert nearest([1, 16, 250], 100) == 16
    assert nearest([1, 16, 250], 200) == 250


def test_a_link_to_a_file_elsewhere_is_no_probe(tmp_path: Path) -> None:
    elsewhere, run = tmp_path / "elsewhere", tmp_path / "run"
    secret, own = _keep(elsewhere, 1, 1), _keep(run, 1, 1)
    (run / "probes" / "step-2-sentence-1.npz").symlink_to(secret)
    (run / "probes" / "step-3-sentence-1.npz").symlink_to(own)
    (run / "probes" / "step-4-sentence-1.npz").symlink_to(run / "gone")
    assert list(find(run)[0]) == [1, 3]
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "probes").symlink_to(elsewhere / "probes")
    assert find(linked) == []


@pytest.mark.parametrize(
    ("weights", "why"),
    [
        (-0.5, "holds no attention of a model"),
        (2.0, "holds no attention of a model"),
        (np.nan, "is not a trace that was saved here"),
    ],
)
def test_what_no_head_can_have_looked_at_is_refused(
    tmp_path: Path, weights: float, why: str
) -> None:
    path = _keep(tmp_path, 1, 1)
    trace = planted()
    replace(trace, cross=np.full_like(trace.cross, weights)).save(path)
    with pytest.raises(CheckpointError, match=why):
        load(path)


def test_what_is_larger_than_a_picture_needs_is_not_unpacked(tmp_path: Path) -> None:
    path = _keep(tmp_path, 1, 1)
    long = planted().source_pieces * 100
    trace = replace(
        planted(),
        source_pieces=tuple(replace(piece, word=n) for n, piece in enumerate(long)),
        encoder_self=np.zeros((2, 3, len(long), len(long)), np.float32),
        cross=np.zeros((2, 3, len(planted().target_pieces), len(long)), np.float32),
    )
    trace.save(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(CheckpointError, match=r"unpacks to [\d,]+ bytes, and up to 4,194,304"):
        load(path)


def test_a_pipe_is_no_probe_and_more_files_than_are_read_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _keep(tmp_path, 1, 1)
    os.mkfifo(first.with_name("step-00000002-sentence-1.npz"))
    first.with_name("step-00000000-sentence-1.npz").write_bytes(b"")
    assert find(tmp_path) == [{1: first}]
    with pytest.raises(CheckpointError, match="no regular file"):
        load(first.with_name("step-00000002-sentence-1.npz"))
    monkeypatch.setattr(runs, "MAX_FILES", 2)
    with pytest.raises(CheckpointError, match="holds 3 files, and up to 2 are read"):
        find(tmp_path)


def test_anybodys_trace_is_no_probe(tmp_path: Path) -> None:
    path = _keep(tmp_path, 1, 1)
    nothing = np.zeros((0, 0, *planted().cross.shape[2:]), np.float32)
    replace(planted(), cross=nothing).save(path)
    with pytest.raises(CheckpointError, match=r"is no probe of a run"):
        load(path)
