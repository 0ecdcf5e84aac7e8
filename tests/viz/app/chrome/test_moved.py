"""A link to a view that is gone says where it went."""

import pytest

from tests.viz.app_test import texts


@pytest.mark.parametrize(
    ("path", "menu", "gone", "views", "words"),
    [
        ("roles", "roles_view", "Faithful?", ("Roles", "Why this word"), "evaluate faithfulness"),
        ("corpus", "corpus_view", "Compare", ("Heads", "Pairs"), "evaluate lines"),
    ],
)
def test_a_link_to_a_view_that_is_gone_says_where_it_went(
    serve, path, menu, gone, views, words
) -> None:
    app = serve(path, text="A dog.", **{menu: gone})
    (sentence,) = [text for text in texts(app) if gone in text and f"headlight {words}" in text]
    assert not app.exception
    assert len(sentence.splitlines()) == 1
    assert app.button_group(key=menu).value == views[0]
    app.query_params[menu] = views[0]  # as the browser then has it
    assert sentence in texts(app.run())
    app.button_group(key=menu).set_value(views[1]).run()
    assert sentence not in texts(app)
