"""What is written some pairs at a time is mapped as the text that it was."""

from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from training.data.corpus import EncodedText
from training.data.encoded_files import NAMES, EncodedFiles, arrays, checksums, mapped_text
from training.data.sealed import record_files
from training.data.sentences import Sentences

pairs = st.tuples(*[st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=5)] * 2)


def _text(pairs: list[tuple[list[int], list[int]]], dtype: type, first: int = 0) -> EncodedText:
    sides = [[pair[side] for pair in pairs] for side in range(2)]
    source, target = (
        Sentences.from_arrays(
            np.array([i for ids in side for i in ids], dtype), np.array([len(ids) for ids in side])
        )
        for side in sides
    )
    return EncodedText(source, target, 3 * np.arange(first, first + len(pairs)))


@given(
    chunks=st.lists(st.lists(pairs, max_size=4), min_size=1, max_size=5).filter(any),
    dtype=st.sampled_from([np.uint16, np.int32]),
    data=st.data(),
)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_that_are_written_are_the_text_and_its_checksums_those_of_the_files(
    tmp_path: Path, chunks: list, dtype: type, data: st.DataObject
) -> None:
    whole = _text([pair for chunk in chunks for pair in chunk], dtype)
    with ExitStack() as stack:
        paths = {name: tmp_path / name for name in NAMES}
        files = {name: stack.enter_context(path.open("w+b")) for name, path in paths.items()}
        written, first = EncodedFiles(files, dtype), 0
        reopened = data.draw(st.integers(0, len(chunks)))
        for number, chunk in enumerate(chunks):
            if number == reopened:  # by a later process
                written.sync()
                written = EncodedFiles(files, dtype)
            written.append(_text(chunk, dtype, first))
            first += len(chunk)
        mapped, records = written.mapped(left_out=7), written.records()
    assert mapped.left_out == 7
    for name, array in arrays(mapped).items():
        assert array.tolist() == arrays(whole)[name].tolist()
        assert array.dtype == arrays(whole)[name].dtype
    assert records == record_files(tmp_path, NAMES)
    sha256 = {name: record["sha256"] for name, record in records.items()}
    assert checksums(whole) == checksums(mapped) == sha256


def test_a_mapped_text_is_read_only_and_half_a_number_is_refused(tmp_path: Path) -> None:
    with ExitStack() as stack:
        files = {name: stack.enter_context((tmp_path / name).open("w+b")) for name in NAMES}
        written = EncodedFiles(files, np.uint16)
        written.append(_text([([5], [6, 7])], np.uint16))
        mapped = written.mapped(0)
        with pytest.raises(ValueError, match="read-only"):
            mapped.source.stored[0] = 3
        files["lines"].truncate(7)
        with pytest.raises(ValueError, match="buffer size"):
            mapped_text(files, np.uint16, 0)
