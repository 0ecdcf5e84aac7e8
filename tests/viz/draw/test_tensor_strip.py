"""What travels for a tensor: each value exactly, under its token."""

import numpy as np
import pytest

from tests.viz.draw.message import colors_of, decode
from viz.draw.architecture import encode_strip
from viz.draw.palette import END, difference_table

VALUES = np.random.default_rng(5).normal(0, 3, (4, 6)).astype(np.float32)


def test_a_tensor_travels_exactly() -> None:
    content = encode_strip(VALUES, ["▁The", "▁d", "og", "</s>"], title="Sum")
    meta, arrays = decode(content)
    assert (meta["component"], meta["title"]) == ("tensor_strip", "Sum")
    assert (meta["rows"], meta["columnNames"]) == (["The", "d", "·og", "</s>"], None)
    assert meta["end"] == pytest.approx(np.quantile(np.abs(VALUES), END))
    np.testing.assert_array_equal(arrays["values"], VALUES)
    tables = [difference_table("light"), difference_table("dark")]
    np.testing.assert_array_equal(colors_of(arrays), tables)


def test_named_columns_travel_along_and_a_missing_label_is_refused() -> None:
    columns = ["▁Der", "▁Hund", "e", "</s>", "▁a", "."]
    meta, _ = decode(encode_strip(VALUES, list("abcd"), title="Linear", columns=columns))
    assert meta["columnNames"] == ["Der", "Hund", "·e", "</s>", "a", "."]
    with pytest.raises(ValueError, match="3 rows"):
        encode_strip(VALUES, list("abc"), title="")
    with pytest.raises(ValueError, match="4 rows"):
        encode_strip(VALUES, list("abcd"), title="", columns=columns[1:])
    with pytest.raises(ValueError, match="not numbers"):
        encode_strip(VALUES * np.nan, list("abcd"), title="")
