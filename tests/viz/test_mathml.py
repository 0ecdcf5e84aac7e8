"""Equations are well-formed MathML, and say what they were told."""

from xml.etree import ElementTree as ET

from transformer import TransformerConfig
from transformer.trace import KINDS
from viz.inside_steps import steps
from viz.mathml import both, math, over, root, row, sub, sup, total

MATHML = "{http://www.w3.org/1998/Math/MathML}"


def test_names_numbers_and_signs_are_told_apart() -> None:
    equation = ET.fromstring(math("α", "=", "2.5", "softmax", "<mtext>so</mtext>"))
    tags = [(node.tag.removeprefix(MATHML), node.text) for node in equation[0]]
    assert tags == [
        ("mi", "α"), ("mo", "="), ("mn", "2.5"), ("mi", "softmax"), ("mtext", "so"),
    ]  # fmt: skip
    assert equation[0][3].get("mathvariant") == "normal"


def test_a_sign_cannot_become_markup() -> None:
    assert ET.fromstring(math("<", "&"))[0][0].text == "<"


def test_each_form_has_its_parts_in_order() -> None:
    forms = {
        sub("k", "j"): ("msub", "kj"),
        sup("W", "O"): ("msup", "WO"),
        both("W", "i", "O"): ("msubsup", "WiO"),
        over("a", row("b", "c")): ("mfrac", "abc"),
        root("d"): ("msqrt", "d"),
        total("j"): ("munder", "∑j"),
    }
    for text, (tag, letters) in forms.items():
        node = ET.fromstring(text)
        assert (node.tag, "".join(node.itertext())) == (tag, letters)


def test_every_equation_of_every_step_is_well_formed() -> None:
    for kind in KINDS:
        for scale in ("÷ √d_k", "none", "× √d_k"):
            for temperature in (1, 0.5):
                for step in steps(TransformerConfig.demo(), kind, 7, scale, temperature):
                    assert ET.fromstring(step.equation).tag == f"{MATHML}math"
