"""A link to a view that is gone says where it went."""

from tests.viz.app_test import texts


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
