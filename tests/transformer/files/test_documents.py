"""Documents are read back as they were written; what does not fit its type is named."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest

from transformer import CheckpointError
from transformer.files.documents import Count, Name, read_document, to_json


class Pair(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class Inner:
    share: Annotated[float, 0, 1]
    number: int = field(metadata={"key": "n"})


@dataclass(frozen=True)
class Document:
    name: Name
    count: Count | None
    side: Literal["left", "right"]
    pairs: tuple[Pair, ...]
    inner: Mapping[str, Inner]
    is_open: bool
    text: str = ""


WHOLE = Document("a name", None, "left", (Pair(1, 2.5),), {"x": Inner(0.5, -3)}, True)


def changed(**values: Any) -> dict[str, Any]:
    return to_json(WHOLE) | values


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "document.json"
    path.write_text(json.dumps(to_json(WHOLE) | {"unknown": 1}))
    assert read_document(path, Document, 1_000) == WHOLE
    assert to_json(WHOLE)["inner"] == {"x": {"share": 0.5, "n": -3}}
    with pytest.raises(CheckpointError, match="at most 20 can be meant"):
        read_document(path, Document, 20)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], r"document\.json is \[\]: copy"),
        (changed(count=-1), "count = -1, which must be from 0"),
        (changed(count=True), "count = True"),
        (changed(name=" "), "name = ' '"),
        (changed(name="x" * 201), "name = "),
        (changed(text="\ud800"), "text = "),
        (changed(side="up"), "side = 'up', which must be one of left, right"),
        (changed(pairs=[[1, float("nan")]]), "high = nan"),
        (changed(pairs=[[10**400, 1]]), "low = 1000"),
        (
            changed(inner={"x": {"share": 1.5, "n": 1}}),
            r"x share = 1\.5, which must be from 0 to 1",
        ),
        (changed(inner={"x": {"share": 0}}), "does not say x n"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, values: object, sentence: str) -> None:
    path = tmp_path / "document.json"
    path.write_text(json.dumps(values))
    with pytest.raises(CheckpointError, match=sentence):
        read_document(path, Document, 1_000)
