"""Sentences in two arrays are those that went in, however they are asked for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.data.sentences import Sentences, stored_type

lists = st.lists(st.lists(st.integers(0, 40_000), max_size=9), max_size=9)


@given(lists)
def test_sentences_end_to_end_are_the_sentences_that_went_in(sentences: list[list[int]]) -> None:
    held = Sentences(sentences)
    assert [held[row] for row in range(len(held))] == sentences == held[:]
    assert held.lengths().tolist() == [len(ids) for ids in sentences]
    assert held[1:-1] == sentences[1:-1]
    if sentences:
        assert held[-1] == sentences[-1]


@given(lists, st.data())
def test_rows_are_taken_as_from_a_list(sentences: list[list[int]], data: st.DataObject) -> None:
    lengths = np.array([len(ids) for ids in sentences], np.int64)
    flat = np.array([i for ids in sentences for i in ids], np.uint16)
    held = Sentences.from_arrays(flat, lengths)
    assert held[:] == sentences
    row = st.integers(0, max(0, len(sentences) - 1))
    rows = data.draw(st.lists(row, max_size=9)) if sentences else []
    taken = held.take(np.array(rows, np.int64))
    assert taken[:] == [sentences[row] for row in rows]
    assert taken.stored.dtype == np.uint16
    part = slice(*sorted(data.draw(st.tuples(st.integers(0, 9), st.integers(0, 9)))))
    assert held.pieces(part).tolist() == [i for ids in sentences[part] for i in ids]
    assert held.lengths(part).tolist() == [len(ids) for ids in sentences[part]]


def test_two_bytes_hold_the_ids_of_65536_pieces() -> None:
    assert stored_type(2**16) is np.uint16
    assert stored_type(2**16 + 1) is np.int32
