"""The charts of the Masks page draw the given values."""

import json

import numpy as np

from viz.pages.masks import WITH, WITHOUT, loss_chart, share_chart, shift_chart

READS = [("<s>", "▁Ein", "▁Hu", "nd"), ("<s>", "▁Ja", "<pad>", "<pad>")]
WRITES = [("▁Ein", "▁Hu", "nd", "</s>"), ("▁Ja", "</s>", "<pad>", "<pad>")]


def datasets(chart) -> tuple[dict, list[list[dict]]]:
    spec = chart.to_dict()
    # what all layers share stands once, above them
    names = [(layer.get("data") or spec["data"])["name"] for layer in spec["layer"]]
    return spec, [spec["datasets"][name] for name in names]


def test_each_token_stands_in_its_column_and_at_its_position():
    spec, (tokens, same, _, heads) = datasets(shift_chart(READS, WRITES, ["first", "second"]))
    assert tokens is same  # one side is filtered out of each
    at = {(row["column"], row["position"]): row["token"] for row in tokens}
    for n, (reads, writes) in enumerate(zip(READS, WRITES, strict=True)):
        shown = [[at[3 * n + side, position] for position in range(len(reads))] for side in (0, 1)]
        plain = [[t.removeprefix("▁") for t in row] for row in (reads, writes)]
        assert shown == [[t if t != "nd" else "·nd" for t in row] for row in plain]
    sides = [layer["transform"][0]["filter"] for layer in spec["layer"][:2]]
    assert sides == ["(datum.side === 'reads')", "(datum.side === 'writes')"]
    assert {row["side"] for row in tokens if row["column"] % 3 == 0} == {"reads"}
    assert {row["side"] for row in tokens if row["column"] % 3 == 1} == {"writes"}
    assert [row["title"] for row in heads] == ["first", "second"]
    faded = {row["token"] for row in tokens if row["opacity"] < 1}
    assert faded == {"<pad>"}


def test_a_line_leads_from_what_is_written_to_where_it_is_read():
    _, (tokens, _, lines, _) = datasets(shift_chart(READS, WRITES, ["first", "second"]))
    at = {(row["column"], row["position"]): row["token"] for row in tokens}
    for line in lines:
        assert (line["written"], line["from"]) == (line["read"] + 1, line["to"] - 1)
        token = at[line["written"], line["from"]]
        assert token == at[line["read"], line["to"]] != "<pad>"
        assert line["text"] == (
            f"position {line['from'] + 1} writes “{token}”, position {line['to'] + 1} reads it"
        )
    # all but the last token of each sentence is read again, and no padding
    assert [(line["read"], line["to"]) for line in lines] == [(0, 1), (0, 2), (0, 3), (3, 1)]


def test_each_head_has_its_share_with_layers_down_and_heads_across():
    hidden = np.linspace(0, 1, 6).reshape(2, 3)
    spec, (squares, texts) = datasets(share_chart(hidden, hidden / 4))
    assert squares is texts
    for row in squares:
        layer, head = row["layer"] - 1, row["head"] - 1
        assert row["share"] == hidden[layer, head]
        assert row["padding"] == hidden[layer, head] / 4
    assert len(squares) == 6
    square = spec["layer"][0]["encoding"]
    assert (square["x"]["field"], square["y"]["field"]) == ("head", "layer")
    assert square["opacity"]["field"] == "share"
    assert square["opacity"]["scale"]["domain"] == [0, 1]  # the same for each batch


def test_each_token_has_its_two_losses_and_padding_has_none():
    masked = np.array([0.5, 0.25, np.nan])
    opened = np.array([0.125, 4.0, np.nan])
    spec, (rules, dots) = datasets(loss_chart(["▁Ja", "</s>", "<pad>"], masked, opened))
    drawn = {(row["position"], row["mask"]): row["nats"] for row in dots}
    assert drawn == {(0, WITH): 0.5, (0, WITHOUT): 0.125, (1, WITH): 0.25, (1, WITHOUT): 4.0}
    assert {row["position"]: row["change"] for row in dots} == {0: -0.375, 1: 3.75}
    assert [(row[WITH], row[WITHOUT]) for row in rules] == [(0.5, 0.125), (0.25, 4.0)]
    axis = spec["layer"][1]["encoding"]["y"]["axis"]["labelExpr"]
    assert json.loads(axis.removesuffix("[datum.value]")) == ["Ja", "</s>", "<pad>"]
    color = spec["layer"][1]["encoding"]["color"]
    shape = spec["layer"][1]["encoding"]["shape"]
    for encoding in (color, shape):  # told apart without colour, too
        assert encoding["scale"]["domain"] == [WITH, WITHOUT]
        assert len(set(encoding["scale"]["range"])) == 2
