"""Equations are trees of the elements that MathML has, and say what they were told."""

from __future__ import annotations

from transformer import TransformerConfig
from transformer.kinds import KINDS
from viz.draw.inside_head import Node, fraction, root, row, sub, sub_sup, sum_over, sup, text_in
from viz.pages.inside.walk import walk_steps

CHILDREN = {"msub": 2, "msup": 2, "msubsup": 3, "mfrac": 2, "msqrt": 1, "munder": 2}


def test_names_numbers_and_signs_are_told_apart() -> None:
    told = ("mi", "α"), ("mo", "="), ("mn", "2.5"), ("mi", "softmax"), ("mtext", " so")
    assert row("α", "=", "2.5", "softmax", text_in(" so")) == ("mrow", told)
    assert row("<", "<m>") == ("mrow", (("mo", "<"), ("mo", "<m>")))


def test_each_form_has_its_parts_in_order() -> None:
    i, j, k = ("mi", "i"), ("mi", "j"), ("mi", "k")
    assert sub("i", "j", "k") == ("msub", (i, ("mrow", (j, k))))
    assert sup("i", "j") == ("msup", (i, ("mrow", (j,))))
    assert sub_sup("i", "j", "k") == ("msubsup", (i, j, k))
    assert fraction("i", row("j", "k")) == ("mfrac", (i, ("mrow", (j, k))))
    assert root("i") == ("msqrt", (i,))
    assert sum_over("j") == ("munder", (("mo", "∑"), j))


def test_every_equation_of_every_step_is_well_formed() -> None:
    for kind in KINDS:
        for scale in ("÷ √d_k", "none", "× √d_k"):
            for temperature in (1, 0.5):
                for step in walk_steps(
                    TransformerConfig.demo(), kind, "the row", 7, scale, temperature
                ):
                    well_formed(step.equation)


def well_formed(node: Node) -> None:
    tag, inside = node
    if isinstance(inside, str):
        assert tag in ("mi", "mn", "mo", "mtext")
        assert inside
    else:
        assert len(inside) == CHILDREN.get(tag, len(inside))
        assert tag in (*CHILDREN, "mrow")
        for one in inside:
            well_formed(one)
