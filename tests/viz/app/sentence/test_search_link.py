"""A wrong request in a link gets one sentence, and the rest goes on."""

import pytest

from tests.viz.app_test import texts
from transformer import Translator

SENTENCE = "The dog sleeps in the garden."


def bar() -> None:
    from viz.app.sentence import sentence_bar

    sentence_bar.show("heads")


@pytest.mark.parametrize(
    ("linked", "says"),
    [
        (
            {"beam": "10000"},
            "There is no beam of “\u206810000\u2069”: it is 1, 2, 4 or 8, and here 4.",
        ),
        (
            {"alpha": "x"},
            "“\u2068x\u2069” is no α of the length penalty: it is a number from 0 to 2",
        ),
        ({"alpha": "nan"}, "“\u2068nan\u2069” is no α of the length penalty"),
    ],
)
def test_a_setting_that_is_none_in_a_link_gets_one_sentence_and_the_rest_goes_on(
    serve, translator: Translator, linked: dict[str, str], says: str
) -> None:
    app = serve(bar, text=SENTENCE, **linked)
    (message,) = [line for line in texts(app)[2:] if says in line]
    assert message.endswith(".")
    assert texts(app)[1] == translator.translate(SENTENCE).text
    # it stands until another request
    assert message in texts(app.run())
    app.text_area(key="text").set_value("The cat sings.").run()
    assert message not in texts(app)
