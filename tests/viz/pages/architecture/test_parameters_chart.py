"""The bars are the counts, in the order of the model, with the total at their ends."""

import pytest

from transformer import TransformerConfig
from transformer.analysis.paper.counting import (
    PARTS,
    meta_model,
    parameters_by_formula,
    parameters_of_model,
)
from viz.draw.palette import COLOR
from viz.pages.architecture.parameters_chart import COLORS, millions, parts_chart

CONFIGS = {
    "base": TransformerConfig.base(),
    "small": TransformerConfig(vocab_size=50, d_model=12, h=3, positions="learned", max_length=9),
}


def test_every_part_of_every_model_is_drawn() -> None:
    chart = parts_chart(
        {name: parameters_by_formula(config) for name, config in CONFIGS.items()}
    ).to_dict()
    bars, words = chart["datasets"].values()
    for name, config in CONFIGS.items():
        real = parameters_of_model(meta_model(config))
        total = sum(real.values())
        own = {row["part"]: row for row in bars if row["model"] == name}
        assert {part: row["count"] for part, row in own.items()} == {
            part: count for part, count in real.items() if count
        }
        assert [part for part in PARTS if part in own] == sorted(
            own, key=lambda part: own[part]["order"]
        )
        for part, row in own.items():
            assert row["share"] == pytest.approx(real[part] / total)
    assert [(row["model"], row["count"]) for row in words] == [
        (name, sum(parameters_by_formula(config).values())) for name, config in CONFIGS.items()
    ]
    assert words[0]["label"] == "63.05 M"
    assert chart["layer"][0]["encoding"]["y"]["sort"] == list(CONFIGS)
    # the words at the end of the longest bar have room
    domain = chart["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert domain[1] > max(row["count"] for row in words)
    assert chart["layer"][1]["encoding"]["x"]["scale"]["domain"] == domain


def test_the_kinds_of_attention_have_their_colours_and_nothing_else_has() -> None:
    assert set(COLORS) == set(PARTS)
    assert COLORS["encoder self-attention"] == COLOR["encoder_self"]
    assert COLORS["decoder self-attention"] == COLOR["decoder_self"]
    assert COLORS["cross-attention"] == COLOR["cross"]
    assert len(set(COLORS.values())) == len(COLORS)


@pytest.mark.parametrize(
    ("count", "said"), [(214_171_648, "214.17 M"), (123_456, "0.12 M"), (512, "512"), (0, "0")]
)
def test_counts_are_said_in_millions(count: int, said: str) -> None:
    assert millions(count) == said
