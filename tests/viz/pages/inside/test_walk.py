"""The steps of the walk: numbers, scale and line of code."""

from dataclasses import replace
from pathlib import Path

import pytest

from transformer import Kind, TransformerConfig, kinds
from transformer.paper.scaling import Scale
from viz.draw import inside_head
from viz.pages.inside.walk import walk_steps

ROOT = Path(__file__).parents[4]
CONFIG = TransformerConfig(vocab_size=99, N=2, d_model=24, d_ff=48, h=3, d_k=5, d_v=7)


def named_steps(kind: Kind = "cross", scale: Scale = "÷ √d_k"):
    return {step.name: step for step in walk_steps(CONFIG, kind, "the row", 11, scale)}


def letters(equation: "str | inside_head.Node") -> str:
    _, inside = inside_head.equation(equation) if isinstance(equation, str) else equation
    return inside if isinstance(inside, str) else "".join(letters(child) for child in inside)


def tags(equation: "str | inside_head.Node") -> set[str]:
    tag, inside = inside_head.equation(equation) if isinstance(equation, str) else equation
    return {tag} if isinstance(inside, str) else {tag}.union(*map(tags, inside))


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_each_line_of_code_is_one_of_the_model(kind: Kind) -> None:
    whole, *single = named_steps(kind).values()
    assert whole.code == "MultiHeadAttention.attend"  # not a line that is cut in the middle
    files = [ROOT / "transformer" / name for name in ("attention.py", "layers.py")]
    lines = [line.strip() for file in files for line in file.read_text("utf-8").splitlines()]
    for step in single:
        assert any(line.startswith(step.code) for line in lines)
        assert step.code.count("(") == step.code.count(")")


def test_the_code_of_a_kind_and_of_a_step_is_its_own() -> None:
    assert "self.self_attention(x, x, mask)" in named_steps("encoder_self")["x"].code
    assert "self.self_attention.attend" in named_steps("decoder_self")["x"].code
    assert "self.cross_attention.attend" in named_steps("cross")["x"].code
    does = {
        "q, k, v": "W_Q", "q · k": "k.transpose", "scale": "math.sqrt", "mask": "masked_fill",
        "softmax": "softmax", "Σ α v": "@ v", "Wᴼ": "W_O", "+ x": "x + self.dropout",
    }  # fmt: skip
    for name, fragment in does.items():
        assert fragment in named_steps()[name].code


@pytest.mark.parametrize(
    ("scale", "quotient", "whole_equation", "step_equation"),
    [
        ("÷ √d_k", True, "softmax(QKTdk)V", "sj=q·kjdk"),
        ("× √d_k", False, "softmax(QKT·dk)V", "sj=q·kj·dk"),
    ],
)
def test_the_equations_follow_the_scale(
    scale: Scale, quotient: bool, whole_equation: str, step_equation: str
) -> None:
    steps = named_steps(scale=scale)
    for name, expected in (("All", whole_equation), ("scale", step_equation)):
        assert letters(steps[name].equation) == expected
        assert ("mfrac" in tags(steps[name].equation)) == quotient


def test_cross_attention_takes_its_keys_from_the_encoder() -> None:
    assert "m" in letters(named_steps("cross")["q, k, v"].equation)
    assert "m" not in letters(named_steps("encoder_self")["q, k, v"].equation)
    assert "no later one" in named_steps("decoder_self")["mask"].says
    assert "padding" in named_steps("encoder_self")["mask"].says


def test_biases_stand_in_the_equations_of_a_model_that_has_them() -> None:
    config = replace(CONFIG, attention_bias=True)
    steps = walk_steps(config, "cross", "the row", 11, "none")
    biased = {step.name: step for step in steps}
    assert letters(biased["q, k, v"].equation).count("b") == 3
    assert letters(biased["+ x"].equation).endswith("+bO)")
    assert "with a bias each" in biased["q, k, v"].says
    assert "b" not in letters(named_steps()["q, k, v"].equation)
    assert "without bias" in named_steps()["q, k, v"].says
