"""Forged result files of the Corpus page: each is refused in one sentence, or the views work."""

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.bounds import BYTES, PLACE, accepted_or_refused, examples
from transformer import InputError, Translator
from transformer.corpus import measured, measuring, result_file, search
from transformer.files import reading

TEXTS = ["Two dogs run.", "A man rides a horse.", "Snow."]
SECONDS = 3

ODD: list[Any] = [
    *(-1, 0, 1, 2, 7, 1.5, 10**12, -(10**400), float("nan")),
    *(True, None, "", "a", "\ud800", [], {}),
]
VALUES = st.recursive(st.sampled_from(ODD), lambda values: st.lists(values, max_size=4))
ARRAYS = st.builds(
    lambda shape, dtype, value: np.full(shape, value).astype(dtype),
    st.lists(st.sampled_from([0, 1, 2, 3, 12, 144]), max_size=3),
    st.sampled_from("int8 int32 int64 uint64 float16 float32 float64 bool".split()),
    st.sampled_from([0, 1, 3, 127, -1]),
)


@pytest.fixture(scope="module")
def lines(translator: Translator) -> measured.MeasuredLines:
    return measuring.measure_lines(translator, TEXTS, references=["", "Ein Mann.", ""])


Parts = tuple[dict[str, np.ndarray], dict[str, Any]]


def parts(lines: measured.MeasuredLines) -> Parts:
    content = result_file.to_bytes(lines)
    size = int.from_bytes(content[:8], "little")
    texts = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["headlight"])
    return safetensors.numpy.load(content), texts


def written(arrays: dict[str, np.ndarray], texts: object) -> bytes:
    metadata = {"headlight": json.dumps(texts)}
    return safetensors.numpy.save({n: a.copy() for n, a in arrays.items()}, metadata)


def forged(draw: Callable[[st.SearchStrategy[Any]], Any], lines: measured.MeasuredLines) -> bytes:
    """Draw a file with one or two fields that are not as they were."""
    arrays, texts = parts(lines)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from([*sorted(arrays), *["pairs", "left_out", "heads", "checksum"]]))
        if name not in arrays:
            field = texts[name]
            lists = (
                [i for i in field if i and isinstance(i, list)] if isinstance(field, list) else []
            )
            if not lists or draw(st.booleans()):
                texts[name] = draw(VALUES)
            else:
                item = draw(st.sampled_from(lists))
                item[draw(st.integers(0, len(item) - 1))] = draw(VALUES)
            continue
        match draw(st.sampled_from(["other", "values", "type", "deeper", "missing"])):
            case "other":
                arrays[name] = draw(ARRAYS)
            case "values":
                array = arrays[name] = arrays[name].copy()
                bad = (
                    [np.nan, np.inf, 0, -1, 1e38] if array.dtype.kind == "f" else [0, -1, 2**31 - 1]
                )
                part = slice(draw(st.sampled_from([None, 1])))
                # another field of the same name may be a single number, or of a small type
                array.reshape(-1)[part] = np.array(draw(st.sampled_from(bad))).astype(array.dtype)
            case "type":
                arrays[name] = arrays[name].astype(draw(st.sampled_from(["f8", "?", "i8", "f4"])))
            case "deeper":
                arrays[name] = arrays[name][..., None]
            case "missing":
                arrays.pop(name)
    content = bytearray(written(arrays, texts))
    if draw(st.integers(0, 4)) == 0:
        for place, byte in draw(BYTES):
            content[int(place * min(len(content), 4_000))] = byte
        content = content[: int(draw(st.just(1.0) | PLACE) * len(content))]
    return bytes(content)


def use(read: measured.MeasuredLines, own: measured.MeasuredLines) -> None:
    """Do what the views do with a file that was opened."""
    measured.heads_table(read, measured.head_means(read))
    measured.sentences_table(read)
    str([[*pair] for pair in read.pairs]).encode()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@examples(25, 6_000)
@given(data=st.data())
def test_a_forged_file_is_refused_or_works(
    translator: Translator, lines: measured.MeasuredLines, data: st.DataObject
) -> None:
    content = forged(data.draw, lines)
    began = time.process_time()
    with accepted_or_refused():
        use(result_file.read_unchecked(content), lines)
    with accepted_or_refused():
        own = result_file.from_bytes(content, translator)
        use(own, lines)
        search.matching_rows(translator, own, search.LineWords("a", "e", "s"))
    assert time.process_time() - began < SECONDS


def headed(header: str) -> bytes:
    return len(header).to_bytes(8, "little") + header.encode()


@pytest.mark.parametrize(
    "make",
    [
        lambda: (2**63).to_bytes(8, "little") + b"{}",
        lambda: headed('{"a":[' + "0," * (40 * reading.MIB) + "0]}"),
        lambda: headed('{"a":' + "[" * (8 * reading.MIB)),
        lambda: headed(json.dumps({"__metadata__": {"headlight": "[" + "{}," * 400_000 + "0]"}})),
    ],
    ids=["length", "numbers", "depth", "texts"],
)
def test_a_large_header_is_refused_before_it_is_parsed(make: Callable[[], bytes]) -> None:
    content = make()
    began = time.process_time()
    with pytest.raises(InputError):
        result_file.read_unchecked(content)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("source/ids", lambda a: a[:, None]),
        ("target/lengths", lambda a: a.astype(np.float32)),
        ("rows/cross", lambda a: a * 0),
        ("rows/decoder_self", lambda a: -a),
        ("head/rare word", lambda a: a * np.nan),
        ("pairs", lambda pairs: [[n, "\ud800", *rest] for n, _, *rest in pairs]),
        ("pairs", lambda pairs: [[1, *rest] for _, *rest in pairs]),
        ("heads", lambda heads: [[kind, layer + 0.5, head] for kind, layer, head in heads]),
    ],
)
def test_a_field_that_no_measurement_has_is_refused(
    lines: measured.MeasuredLines, name: str, change: Any
) -> None:
    arrays, texts = parts(lines)
    fields: dict[str, Any] = arrays if name in arrays else texts
    fields[name] = change(fields[name])
    with pytest.raises(InputError):
        result_file.read_unchecked(written(arrays, texts))
