import numpy as np
import pytest

from tests.viz.draw.message import decode
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.draw.attention_map import Look, MapAxes, encode_map, encode_ribbons

LABELS = Labels(("▁Zwei", "▁Hun", "de"), ("▁Two", "▁dogs"))
AXES = MapAxes("cross", LABELS, OURS, reads=("<s>", "▁Zwei", "▁Hun"))
WEIGHTS = np.array([[0.1, 0.9], [0.913, 0.087], [1 / 3, 2 / 3]], dtype=np.float32)


def plain(text):
    """Without the marks that keep a token apart from the direction of the text around it."""
    return text.replace("\u2068", "").replace("\u2069", "")


def unpack(content):
    meta, arrays = decode(content)
    return meta, arrays["weights"]


def test_the_map_carries_the_exact_weights_in_reading_order():
    header, weights = unpack(encode_map(WEIGHTS, AXES, title="L1 H1"))
    assert header["note"] == "The weights of each row sum to 1."
    assert weights.tolist() == WEIGHTS.tolist()
    assert header["queries"] == ["Zwei", "Hun", "·de"]
    assert header["keys"] == ["Two", "dogs"]
    assert [plain(name) for name in header["rowNames"]] == [
        "reads “start” and predicts “Zwei”",
        "reads “Zwei” and predicts “Hun”",
        "reads “Hun” and predicts “·de”",
    ]


def test_a_look_travels_with_its_map():
    look = Look(signed=True, threshold=0.1)
    header, weights = unpack(encode_map(-WEIGHTS, AXES, title="", look=look))
    assert weights.tolist() == (-WEIGHTS).tolist()
    assert (header["signed"], header["threshold"], header["scale"]) == (True, 0.1, "linear")


def test_an_empty_map_and_one_without_numbers_are_refused():
    with pytest.raises(ValueError, match="nothing to draw"):
        encode_map(np.zeros((0, 0), np.float32), MapAxes("cross", Labels((), ()), OURS), title="")
    with pytest.raises(ValueError, match="not numbers"):
        encode_map(WEIGHTS * np.nan, AXES, title="")


def test_the_exact_weights_of_each_head_travel_in_order():
    heads = [("L1 H1", WEIGHTS), ("L1 H2", 1 - WEIGHTS)]
    header, arrays = decode(encode_ribbons(heads, AXES, title=""))
    assert arrays["weights"].tolist() == [WEIGHTS.tolist(), (1 - WEIGHTS).tolist()]
    assert header["heads"] == ["L1 H1", "L1 H2"]
    assert (header["rows"], header["columns"]) == (
        "German: next word predicted",
        "English: where it looks",
    )
    assert (header["queries"], header["keys"]) == (["Zwei", "Hun", "·de"], ["Two", "dogs"])
    assert header["rowNames"][1] == "reads “\u2068Zwei\u2069” and predicts “\u2068Hun\u2069”"
