"""Links to views that became pages open these pages, with all else that they choose."""

import pytest

from tests.viz.app_test import texts
from viz.app.links import moved


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("arch_view=tables%202%20and%203", "tables?"),
        ("text=A+dog.&arch_view=tables+2+and+3", "tables?text=A+dog."),
        (
            "arch_view=computation+and+memory&arch_d=64&arch_quantity=memory",
            "self_attention?arch_d=64&arch_quantity=memory",
        ),
        ("arch_view=parameters", None),
        ("arch_layer=2", None),
    ],
)
def test_an_address_of_a_moved_view_opens_its_page(query: str, address: str | None) -> None:
    assert moved.address_of("architecture", query) == address
    assert moved.address_of("masks", query) is None


def test_a_link_inside_the_app_opens_the_page_too() -> None:
    assert moved.page_of("architecture", {"arch_view": ["drawing", "tables 2 and 3"]}) == "tables"
    assert (
        moved.page_of("architecture", {"arch_view": "computation and memory"}) == "self_attention"
    )
    assert moved.page_of("architecture", {}) == "architecture"


def test_a_link_to_a_view_that_is_gone_says_where_it_went(serve) -> None:
    app = serve("roles", text="A dog.", roles_view="Faithful?", faithful_test="uniform attention")
    (sentence,) = [text for text in texts(app) if "headlight evaluate faithfulness" in text]
    assert not app.exception
    assert len(sentence.splitlines()) == 1
    assert app.get("button_group")[0].value == "Roles"
    app.query_params["roles_view"] = "Roles"  # as the browser then has it
    assert sentence in texts(app.run())
    app.get("button_group")[0].set_value("Why this word").run()
    assert not any("headlight evaluate faithfulness" in text for text in texts(app))
