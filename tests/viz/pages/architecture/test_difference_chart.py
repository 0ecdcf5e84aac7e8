"""The differences that are drawn are those of the paper's rows and of ours."""

from viz.pages.architecture.difference_chart import difference_chart


def test_both_sides_of_each_change_are_drawn() -> None:
    changes = [("h = 1", "paper", -0.9, 1.075), ("h = 1", "here", -1.5, 1.1),
               ("N = 2", "paper", -2.1, 1.24), ("N = 2", "here", -0.4, 1.05)]  # fmt: skip
    wanted = [dict(zip(("row", "whose", "bleu", "perplexity"), c, strict=True)) for c in changes]
    for column, base in (("bleu", 0.0), ("perplexity", 1.0)):
        chart = difference_chart(changes, column).to_dict()
        assert wanted in chart["datasets"].values()
        rule, dots = chart["layer"]
        assert chart["datasets"][rule["data"]["name"]] == [{"base": base}]
        assert dots["encoding"]["x"]["field"] == column
        assert dots["encoding"]["y"]["sort"] == ["h = 1", "N = 2"]
