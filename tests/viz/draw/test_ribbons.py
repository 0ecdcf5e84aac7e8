"""What travels for the ribbons, and that Streamlit mounts it."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.draw.message import decode
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.draw.palette import head_colors
from viz.draw.ribbons import encode_ribbons

LABELS = Labels(("▁Zwei", "▁Hun", "de"), ("▁Two", "▁dogs"))
FIRST = np.array([[0.1, 0.9], [0.913, 0.087], [1 / 3, 2 / 3]], dtype=np.float32)


def unpack(content):
    meta, arrays = decode(content)
    return meta, arrays["weights"]


def test_the_exact_weights_of_each_head_travel_in_order():
    heads = [("L1 H1", FIRST), ("L1 H2", 1 - FIRST)]
    header, weights = unpack(
        encode_ribbons(heads, LABELS, "cross", reads=("<s>", "▁Zwei", "▁Hun"), languages=OURS)
    )
    assert weights.tolist() == [FIRST.tolist(), (1 - FIRST).tolist()]
    assert header["heads"] == ["L1 H1", "L1 H2"]
    assert header["colors"]["dark"] == list(head_colors("cross", "dark"))
    assert (header["rows"], header["columns"]) == (
        "German: what the row writes",
        "English: where it looks",
    )
    assert (header["queries"], header["keys"]) == (["Zwei", "Hun", "·de"], ["Two", "dogs"])
    assert header["rowNames"][1] == "reads “\u2068Zwei\u2069” and writes “\u2068Hun\u2069”"


@pytest.mark.parametrize(
    ("threshold", "drawn", "said"), [(0, 0.01, "0.01"), (0.005, 0.01, "0.01"), (0.25, 0.25, "0.25")]
)
def test_ribbons_are_drawn_from_what_the_note_says(threshold, drawn, said):
    header, _ = unpack(
        encode_ribbons([("a", FIRST)], LABELS, "cross", threshold=threshold, languages=OURS)
    )
    assert header["from"] == drawn
    assert header["note"] == f"Ribbons from {said} up; numbers are exact."


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([], "1 to 8 heads"),
        ([(str(n), FIRST) for n in range(9)], "1 to 8 heads"),
        ([("a", FIRST), ("a", FIRST)], "a name of its own"),
        ([("a", FIRST), ("b", FIRST.T)], "3 queries and 2 keys"),
        ([("a", FIRST * np.inf)], "not numbers"),
    ],
)
def test_heads_that_cannot_be_laid_over_each_other_are_refused(heads, message):
    with pytest.raises(ValueError, match=message):
        encode_ribbons(heads, LABELS, "cross", languages=OURS)


SCRIPT = """
import numpy as np
from tests.viz.draw.test_ribbons import FIRST, LABELS
from transformer.text.languages import OURS
from viz.app.chrome.mounts import mount
from viz.draw.ribbons import encode_ribbons

heads = [("L1 H1", FIRST), ("L1 H2", FIRST)]
mount("ribbons", encode_ribbons(heads, LABELS, "cross", languages=OURS, threshold=0.05))
"""


def test_streamlit_mounts_it():
    assert not AppTest.from_string(SCRIPT).run().exception
