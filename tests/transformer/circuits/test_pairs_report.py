"""Stored pairs are those that were measured; what is not a file of this model is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.circuits import pairs_file
from transformer import HeadlightError, Translator
from transformer.circuits import pairs_report
from transformer.circuits.pairs import MeasuredPairs, MinimalPair, measure_pairs


@pytest.fixture(scope="module")
def own(checkpoint_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    folder = shutil.copytree(checkpoint_folder, tmp_path_factory.mktemp("stored") / "model")
    return Translator.load(folder)


@pytest.fixture(scope="module")
def measured(own: Translator) -> MeasuredPairs:
    sentences = ("The dog sleeps.", "The old dogs sleep."), ("My dog eats.", "My cat eats.")
    pairs = []
    for texts in sentences:
        word = own.translate(texts[0]).text.split()[0]
        pairs.append(MinimalPair(texts, (word, "Hund"), "number"))
    return measure_pairs(own, pairs)


def stored(own: Translator, content: dict[str, Any] | bytes) -> MeasuredPairs | None:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (own.folder / pairs_report.FILE).write_bytes(data)
    return pairs_report.read(own)


def test_stored_pairs_are_those_that_were_measured(own, measured) -> None:
    assert np.isnan(measured.patched.lost).any()
    assert pairs_report.read(own) is None
    read = stored(own, pairs_file(own, measured))
    assert read is not None
    assert (read.pairs, read.left_out) == (measured.pairs, ())
    assert read.patched.sites == measured.patched.sites
    for name in ("lost", "control", "whole"):
        values, expected = (getattr(result.patched, name) for result in (read, measured))
        np.testing.assert_allclose(values, expected, rtol=1e-5)


def change(*path: Any, to: Any) -> Any:
    def edit(content: dict[str, Any]) -> None:
        part: Any = content
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = to

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        change("weights", to="0" * 64),
        change("format", to=2),
        change("lost", 0, 0, to=None),  # of a head
        change("lost", 0, -1, to=None),
        change("lost", 0, 0, to=1e300),
        change("control", 1, 2, to=float("nan")),
        change("control", 1, 2, to="a"),
        change("lost", 0, to=[]),
        change("lost", to=[]),
        change("control", to=[[0.0]]),
        change("whole", to=[1.0]),
        change("whole", 0, to=None),
        change("pairs", to=[]),
        change("pairs", 0, to=["a", "b"]),
        lambda content: [content[name][0].__setitem__(0, None) for name in ("lost", "control")],
        lambda content: content.pop("control"),
        lambda content: [content[name].pop() for name in ("pairs", "whole", "lost", "control")],
    ],
)
def test_a_file_that_is_none_of_this_model_is_refused(own, measured, edit) -> None:
    content = json.loads(pairs_file(own, measured))
    edit(content)
    with pytest.raises(HeadlightError, match=r"pairs\.json"):
        stored(own, content)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 10_000, b"\x80\x04K\x01.", b"null"])
def test_bytes_that_are_no_document_are_refused(own, content: bytes) -> None:
    with pytest.raises(HeadlightError, match=r"pairs\.json"):
        stored(own, content)
