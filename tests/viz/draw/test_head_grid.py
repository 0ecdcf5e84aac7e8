"""Messages for the grid of heads, and what it takes for a head, without a browser."""

import numpy as np
import pytest

from tests.viz.draw.message import decode
from tests.viz.planted_trace import heads_of
from transformer.analysis.heads.head import Head
from transformer.kinds import Kind
from transformer.trace import Labels
from viz.draw.head_grid import click_of, encode_grid, head_of
from viz.draw.wire import to_bytes

GERMAN, ENGLISH = ("▁Zwei", "▁Hun", "de"), ("▁Two", "▁dogs")
CROSS, SELF = Labels(GERMAN, ENGLISH), Labels(ENGLISH, ENGLISH)


def unpack(content):
    meta, _ = decode(content)
    parts = {part["kind"]: part for part in meta["parts"]}
    return meta, {kind: part["weights"] for kind, part in parts.items()}


def part_of(kind="cross", labels=CROSS, layers=2, heads=3, **options):
    shape = (layers, heads, len(labels.queries), len(labels.keys))
    weights = np.linspace(0, 1, np.prod(shape), dtype=np.float32).reshape(shape)
    return heads_of(kind, weights, labels, **options)


def long_part(queries, keys, at, kind="cross"):
    """One head that looks at one cell of many."""
    labels = Labels(tuple(f"▁q{n}" for n in range(queries)), tuple(f"▁k{n}" for n in range(keys)))
    weights = np.zeros((1, 1, queries, keys), dtype=np.float32)
    weights[(0, 0, *at)] = 0.913
    return heads_of(kind, weights, labels)


def test_each_part_has_one_byte_a_weight():
    parts = [part_of("encoder_self", SELF), part_of()]
    packet = encode_grid(parts, selected=Head("cross", 1, 2))
    header, levels = unpack(packet)
    for part, entry in zip(parts, header["parts"], strict=True):
        kind, weights = part.kind, part.axes.weights
        assert (levels[kind] == np.rint(weights * 255)).all()
        assert (entry["kind"], entry["layers"], entry["heads"]) == (kind, 2, 3)
    second = header["parts"][1]
    assert second["queries"] == list(GERMAN)
    assert (header["selected"], header["order"]) == (["cross", 1, 2], None)


@pytest.mark.parametrize(("queries", "keys"), [(300, 200), (128, 385)])
def test_a_long_map_keeps_its_hot_cell_in_a_small_one(queries, keys):
    for at in [(0, 0), (queries - 1, keys - 1), (queries // 2, keys // 3)]:
        header, levels = unpack(encode_grid([long_part(queries, keys, at)]))
        (entry,) = header["parts"]
        down, across = entry["block"]  # of a short map, each cell is itself
        assert (entry["rows"], entry["columns"]) == (-(-queries // down), -(-keys // across))
        assert max(entry["rows"], entry["columns"]) <= 128
        small = levels["cross"][0, 0]
        assert np.argwhere(small).tolist() == [[at[0] // down, at[1] // across]]
        assert small.max() == round(0.913 * 255)
        assert entry["strongest"][0][0] == [*at, 0.91]  # said of the token, not of its block


def test_roles_and_values_travel_as_they_are_read():
    values = np.array([[0.5, -3.456, 12.34], [np.nan, np.inf, 0]])
    roles = [["", "one-to-one", ""], ["", "", "<b>"]]
    part = part_of(roles=roles, values=values)
    order = [Head("cross", 1, 2), Head("cross", 0, 1)]
    header, _ = unpack(encode_grid([part], order=order, crossed=order[:1]))
    assert header["parts"][0]["roles"] == roles
    np.testing.assert_array_equal(header["parts"][0]["values"], values.astype(np.float32))
    assert header["order"] == [list(head) for head in order]
    assert header["crossed"] == [["cross", 1, 2]]


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ([part_of()], {"order": [Head("encoder_self", 0, 0)]}, "no head"),
        ([part_of()], {"crossed": [Head("cross", 0, 3)]}, "no head"),
        ([heads_of("cross", np.ones((1, 1, 2, 3), np.float32), CROSS)], {}, "2 keys"),
        ([heads_of("cross", np.full((1, 1, 3, 2), np.nan), CROSS)], {}, "not numbers"),
    ],
)
def test_what_does_not_belong_together_is_refused(parts, options, message):
    with pytest.raises(ValueError, match=message):
        encode_grid(parts, selected=Head("cross", 0, 0), **options)


def test_what_a_browser_sends_is_a_head_or_nothing():
    shapes: dict[Kind, tuple[int, ...]] = {"cross": (2, 3)}
    assert head_of(["cross", 1, 2], shapes) == ("cross", 1, 2)
    heads = (["cross", 0], ["cross", 0, 3], ["cross", -1, 0], ["cross", True, 1], ["x", 0, 0])
    for sent in (None, *heads, [["cross"], 0, 0], [{}, 0, 0], {"0": 1}, "c01"):
        assert head_of(sent, shapes) is None
        assert click_of(sent, shapes) is None
    assert click_of(["cross", 1, 2], shapes) == (("cross", 1, 2), 0)
    assert click_of(["cross", 1, 2, 7], shapes) == (("cross", 1, 2), 7)
    for number in (-1, 2**53, True, "7"):
        assert click_of(["cross", 1, 2, number], shapes) is None


def test_bytes_are_the_nearest_of_256_and_the_ends_are_exact():
    weights = np.linspace(0, 1, 1001, dtype=np.float32)
    levels = to_bytes(weights)
    assert levels.dtype == np.uint8
    assert (levels[0], levels[-1]) == (0, 255)
    assert np.abs(levels / 255 - weights).max() <= 0.5 / 255 + 1e-6
    assert (np.diff(levels.astype(int)) >= 0).all()
    assert to_bytes(np.array([-1e-6, 1 + 1e-6])).tolist() == [0, 255]
