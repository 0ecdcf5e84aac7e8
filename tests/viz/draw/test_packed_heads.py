"""A head comes out of its text as it went in, or rounded to steps that the page names."""

import base64
import gzip

import numpy as np
import pytest

from tests.transformer.reference import is_one_sentence
from transformer import InputError
from viz.draw import packed_heads
from viz.draw.packed_heads import Packing, packing_of


def unpacked(text, packing):
    """Read from the description of the form, not with the code that writes it."""
    planes = np.frombuffer(gzip.decompress(base64.b64decode(text)), np.uint8)
    dtype = np.dtype(packing.dtype).newbyteorder("<")
    numbers = planes.reshape(dtype.itemsize, -1).T.copy().view(dtype)[:, 0]
    return numbers.astype(np.float64) * packing.unit


def weights_of(*shape, least=0.0):
    random = np.random.default_rng(0)
    return random.uniform(least, 1, shape).astype(np.float32)


def test_few_weights_are_exact():
    weights = weights_of(5, 7)
    packing = packing_of([weights])
    assert packing.exact
    assert (unpacked(packing.text(weights), packing) == weights.ravel()).all()


@pytest.mark.parametrize(("least", "dtype"), [(0.0, "uint16"), (-1.0, "int16")])
def test_many_are_rounded_by_less_than_a_step_and_only_0_is_0(monkeypatch, least, dtype):
    monkeypatch.setattr(packed_heads, "EXACT_BYTES", 100)
    weights = weights_of(40, 30, least=least)
    weights[0, :4] = 0, 1e-9, 1, max(least, -1e-9)
    packing = packing_of([weights, weights_of(3, 3)])
    assert packing.dtype == dtype
    assert packing.unit < 4e-5
    for text in packing.texts([weights] * 3):
        found = unpacked(text, packing)
        np.testing.assert_allclose(found, weights.ravel(), atol=packing.unit)
        assert ((found == 0) == (weights.ravel() == 0)).all()
        assert (np.sign(found) == np.sign(weights.ravel())).all()


def test_weights_above_1_are_not_cut(monkeypatch):
    monkeypatch.setattr(packed_heads, "EXACT_BYTES", 1)
    weights = np.array([[0.25, 7.5]], np.float32)
    packing = packing_of([weights])
    np.testing.assert_allclose(unpacked(packing.text(weights), packing), [0.25, 7.5], atol=1e-4)


def test_more_than_a_browser_opens_is_refused(monkeypatch):
    monkeypatch.setattr(packed_heads, "EXACT_BYTES", 1)
    monkeypatch.setattr(packed_heads, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="60 weights, and the most is 50") as error:
        packing_of([np.zeros((6, 5), np.float32)] * 2)
    assert is_one_sentence(str(error.value))


def test_no_character_of_a_text_is_markup():
    text = Packing().text(weights_of(50, 50))
    assert not set(text) & set("<>&\"'")
