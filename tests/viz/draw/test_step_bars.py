"""What travels for the bars of each step, and what comes back."""

import pytest

from tests.viz.draw.message import decode
from viz.draw.alternatives import choice_of, encode_bars

STEPS = (
    (("▁Zwei", 0.75), ("▁Ein", 0.125), ("▁Drei", 0.0625)),
    (("▁Hun", 0.25), ("▁Hund", 0.5)),
    (("de", 1.0),),
)


def test_steps_travel_one_behind_the_other_with_their_counts() -> None:
    meta, arrays = decode(encode_bars(STEPS, caption=["a"]))
    assert arrays["counts"].tolist() == [3, 2, 1]
    assert arrays["probabilities"].tolist() == [0.75, 0.125, 0.0625, 0.25, 0.5, 1.0]
    assert meta["labels"] == ["Zwei", "Ein", "Drei", "Hun", "Hund", "·de"]
    assert (meta["pieces"][3], meta["caption"]) == ("▁Hun", ["a"])


@pytest.mark.parametrize("steps", [[], [[]], [[("a", float("nan"))]], [[("a", 1.5)]]])
def test_what_cannot_be_drawn_is_refused(steps) -> None:
    with pytest.raises(ValueError, match=r"cannot be drawn|outside"):
        encode_bars(steps)


def test_only_a_choice_among_these_steps_is_taken() -> None:
    chosen = {"step": 0, "alternative": 1, "prefix": "▁Drei"}
    assert choice_of(chosen, STEPS) == (0, 1)
    assert choice_of({"step": 1, "alternative": 0, "prefix": "▁Zwei▁Hund"}, STEPS) == (1, 0)
    refused: list[object] = [
        None,
        [0, 1],
        {"step": 0, "alternative": 1},
        {**chosen, "step": 3},
        {**chosen, "step": -3},
        {**chosen, "alternative": 2},
        {**chosen, "alternative": True},
        {**chosen, "prefix": "▁Ein"},
        {"step": 2, "alternative": 0, "prefix": "▁Zwei▁Hunde"},
    ]
    for value in refused:
        assert choice_of(value, STEPS) is None, value
