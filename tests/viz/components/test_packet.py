import json
import struct

import numpy as np
import pytest

from transformer.trace import Labels
from viz.components.grid import grid_packet
from viz.components.packet import map_packet, to_bytes
from viz.components.palette import table

LABELS = Labels(("▁Zwei", "▁Hun", "de"), ("▁Two", "▁dogs"))
WEIGHTS = np.array([[0.1, 0.9], [0.913, 0.087], [1 / 3, 2 / 3]], dtype=np.float32)


def unpack(packet):
    """The format once more, written from its description."""
    (length,) = struct.unpack_from("<I", packet)
    header = json.loads(packet[4 : 4 + length])
    colors = np.frombuffer(packet, np.uint8, 1536, 4 + length).reshape(2, 256, 3)
    dtype = np.dtype({"uint8": "u1", "float32": "<f4"}[header["dtype"]])
    return header, colors, np.frombuffer(packet, dtype, offset=4 + length + 1536)


def test_bytes_are_the_nearest_of_256_and_the_ends_are_exact():
    weights = np.linspace(0, 1, 1001, dtype=np.float32)
    levels = to_bytes(weights)
    assert levels.dtype == np.uint8
    assert (levels[0], levels[-1]) == (0, 255)
    assert np.abs(levels / 255 - weights).max() <= 0.5 / 255 + 1e-6
    assert (np.diff(levels.astype(int)) >= 0).all()
    assert to_bytes(np.array([-1e-6, 1 + 1e-6])).tolist() == [0, 255]


def test_the_map_carries_the_exact_weights_in_reading_order():
    header, colors, weights = unpack(
        map_packet(WEIGHTS, LABELS, "cross", title="L1 H1", reads=("<s>", "▁Zwei", "▁Hun"))
    )
    assert weights.reshape(3, 2).tolist() == WEIGHTS.tolist()
    assert header["queries"] == ["Zwei", "Hun", "·de"]
    assert header["keys"] == ["Two", "dogs"]
    assert header["reads"] == ["<s>", "Zwei", "Hun"]
    assert (colors[0] == table("cross", "light")).all()
    assert (colors[1] == table("cross", "dark")).all()


def test_a_transposed_view_is_sent_as_it_reads_not_as_it_lies_in_memory():
    _, _, weights = unpack(
        map_packet(WEIGHTS.T, Labels(LABELS.keys, LABELS.queries), "cross", title="")
    )
    assert weights.reshape(2, 3).tolist() == WEIGHTS.T.tolist()


def test_the_grid_costs_one_byte_a_weight():
    weights = np.zeros((6, 8, 3, 2), dtype=np.float32)
    weights[4, 2, 1, 0] = 0.913
    packet = grid_packet(weights, LABELS, "encoder_self", selected=(4, 2))
    header, _, levels = unpack(packet)
    assert levels.size == weights.size
    assert len(packet) < weights.size + 1536 + 400
    assert levels.reshape(weights.shape)[4, 2, 1, 0] == round(0.913 * 255)
    assert (header["layers"], header["heads"], header["selected"]) == (6, 8, [4, 2])


def test_any_text_can_be_a_label():
    odd = ("▁<img src=x>", "▁שלום", "▁👩‍🚀")
    header, _, _ = unpack(map_packet(WEIGHTS, Labels(odd, ("\ud800", "b")), "cross", title='"'))
    assert header["queries"] == ["<img src=x>", "שלום", "👩‍🚀"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (WEIGHTS.T, "3 queries and 2 keys"),
        (WEIGHTS[:2], "3 queries and 2 keys"),
        (WEIGHTS[None], "shape"),
        (np.full((3, 2), np.nan, dtype=np.float32), "not numbers"),
    ],
)
def test_weights_that_do_not_belong_to_the_labels_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        map_packet(weights, LABELS, "cross", title="")


def test_an_empty_map_and_wrong_reads_are_refused():
    with pytest.raises(ValueError, match="nothing to draw"):
        map_packet(np.zeros((0, 0), dtype=np.float32), Labels((), ()), "cross", title="")
    with pytest.raises(ValueError, match="1 tokens read for 3 queries"):
        map_packet(WEIGHTS, LABELS, "cross", title="", reads=("<s>",))
