"""A click on a chart of heads gives layer and head, and nothing else does."""

from __future__ import annotations

from viz.pages.roles.clicked_head import PICKED, clicked_head


def test_a_click_opens_a_head_and_nothing_else_does() -> None:
    def clicked(value: object) -> object:
        return clicked_head({"selection": {PICKED: value}}, (2, 4))

    assert clicked([{"layer": 1, "head": 3}]) == (1, 3)
    wrong: list[object] = ["x", None, [], [3], [{}]]
    wrong += [[{"layer": layer, "head": 0}] for layer in (2, -1, "1", True)]
    assert [clicked(item) for item in wrong] == [None] * len(wrong)
    assert clicked_head(None, (2, 4)) is None
