import json
import struct

import numpy as np
import pytest

from transformer.trace import Labels
from viz.draw.packet import map_packet, to_bytes
from viz.draw.palette import difference_table, table

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


def test_a_difference_comes_with_its_own_colors_and_its_own_note():
    header, colors, weights = unpack(
        map_packet(-WEIGHTS, LABELS, "cross", title="", signed=True, threshold=0.1)
    )
    assert weights.reshape(3, 2).tolist() == (-WEIGHTS).tolist()
    assert (colors == [difference_table("light"), difference_table("dark")]).all()
    assert header["note"] == "Each square is first minus second; rows sum to 0."
    assert (header["signed"], header["threshold"], header["scale"]) == (True, 0.1, "linear")


def test_a_note_of_ones_own_stands_in_for_the_usual_one():
    usual, _, _ = unpack(map_packet(WEIGHTS, LABELS, "cross", title="", scale="by row"))
    own, _, _ = unpack(map_packet(WEIGHTS, LABELS, "cross", title="", note="The mean."))
    assert usual["note"] == "Each row is one word that looks; its weights sum to 1."
    assert (own["note"], usual["scale"]) == ("The mean.", "by row")


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
