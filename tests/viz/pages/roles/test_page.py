"""The page “What heads do” opens with each of its views, whatever the URL asks for."""

import pytest

from tests.viz.pages.reading import SENTENCE
from viz.app.sentence.worth_seeing import QUESTIONS
from viz.pages.roles import VIEWS


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_by_its_link_under_its_question(serve, view: str) -> None:
    app = serve("roles", text=SENTENCE, roles_view=view)
    assert not app.exception
    assert app.button_group(key="roles_view").value == view
    shown = [item.value for item in app.markdown]
    asked = [q for q in QUESTIONS.values() if any(f"**{q}**" in text for text in shown)]
    assert asked == [QUESTIONS["roles", view]]
