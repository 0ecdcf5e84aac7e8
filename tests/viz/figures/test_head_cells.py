"""The heads of one kind as squares, where one is open and where none is."""

from typing import Any

import pandas as pd
import pytest

from viz.figures.head_cells import head_cells
from viz.figures.head_scatter import PICKED

HEADS = pd.DataFrame({"layer": [0, 0, 1], "head": [0, 1, 0]}).assign(color="red", opacity=0.5)
OPENED = HEADS.assign(opened=[False, True, False])
WORDS = OPENED.assign(text="a", size=12)


def layers(table: pd.DataFrame, **more: Any) -> list[dict[str, Any]]:
    spec = head_cells(table, 100, [], **more).to_dict()
    clicks = [param for param in spec.get("params", ()) if param["name"] == PICKED]
    assert [click["select"]["fields"] for click in clicks] == (
        [["layer", "head"]] if "opened" in table else []
    )
    return spec["layer"]


@pytest.mark.parametrize(("table", "marks"), [(HEADS, 1), (OPENED, 2), (WORDS, 3)])
def test_a_head_has_its_square_and_what_is_known_of_it(table: pd.DataFrame, marks: int) -> None:
    cells, *others = layers(table)
    assert len(others) == marks - 1
    assert cells["mark"].get("cursor") == ("pointer" if marks > 1 else None)
    assert cells["encoding"]["fillOpacity"]["scale"] is cells["encoding"]["color"]["scale"] is None
    for outline in others[:1]:
        assert outline["transform"] == [{"filter": "datum.opened"}]
        assert not outline["mark"]["filled"]


def test_layers_and_heads_are_counted_from_1_and_named_where_there_is_no_title() -> None:
    for named, titles, labels in (
        (False, ["head", "layer"], ["datum.value + 1"] * 2),
        (True, [None, None], ["'H' + (datum.value + 1)", "'L' + (datum.value + 1)"]),
    ):
        axes = [layers(HEADS, named=named)[0]["encoding"][name] for name in "xy"]
        assert [axis["title"] for axis in axes] == titles
        assert [axis["axis"]["labelExpr"] for axis in axes] == labels
