"""The view “Search”: the order and the matches are those of the analysis."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz import app_test
from tests.viz.pages.corpus.conftest import frame
from transformer import Translator
from transformer.analysis.heads import head
from transformer.corpus.measured import (
    DIAGONAL,
    LEAST_CERTAIN,
    UNUSED,
    MeasuredLines,
)
from viz.app.links import address
from viz.pages.corpus import search


def shown(app: AppTest) -> list[int]:
    assert not app.exception
    return list(frame(app, "line", "source", "translation")["line"])


def test_lines_are_sorted_by_measures_of_sentences_and_of_a_head(
    view: Callable[..., AppTest], measured: tuple[Translator, MeasuredLines]
) -> None:
    _, lines = measured
    numbers = np.array([pair.number for pair in lines.pairs])
    app = view("Search")
    values = lines.sentence_values[LEAST_CERTAIN]
    assert shown(app) == list(numbers[np.argsort(values, kind="stable")])
    app = view("Search", search_by=UNUSED, search_order="largest first")
    assert shown(app) == list(numbers[np.argsort(-lines.sentence_values[UNUSED], kind="stable")])
    app = view("Search", search_by=f"this head: {DIAGONAL}", search_order="largest first",
               kind="encoder", layer="2", head="1")  # fmt: skip
    furthest = lines.values_of(head.Head("encoder_self", 1, 0), DIAGONAL)
    assert shown(app) == list(numbers[np.argsort(-furthest, kind="stable")])
    assert frame(app, "source").iloc[:, 1].to_numpy() == pytest.approx(-np.sort(-furthest))
    # self-attention of the decoder has no diagonal links
    app = view("Search", search_by="this head: one-to-one", kind="encoder")
    assert not app.dataframe


@pytest.mark.parametrize(
    ("url", "numbers"),
    [
        ({"match_source": "IN THE garden"}, {1, 6}),
        ({"match_source": "garden", "match_translation": "Hund "}, {1}),
        ({"match_source": "^The .*garden ("}, set()),  # it is text
        ({"match_subwords": "</s>"}, {1, 2, 4, 5, 6}),
        ({"match_source": "Infinity"}, set()),
    ],
)
def test_lines_have_every_text_of_a_link(
    view: Callable[..., AppTest], url: dict[str, str], numbers: set[int]
) -> None:
    query = {name: [pattern] for name, pattern in url.items()}
    assert address.clean(query) == query  # even a number that no field of a number can hold
    app = view("Search", **url)
    count = f"{len(numbers)} of 5 lines match" if len(numbers) < 5 else "5 lines"
    assert f"{count}, sorted by {LEAST_CERTAIN}, smallest first." in app_test.texts(app)
    assert {*shown(app)} == numbers if numbers else not app.dataframe


@pytest.mark.parametrize(
    ("state", "row"),
    [
        ({"selection": {"rows": [2]}}, 2),
        ({"selection": {"rows": [3]}}, None),
        ({"selection": {"rows": ["0"]}}, None),
        ({"selection": [0]}, None),
        (None, None),
    ],
)
def test_only_a_row_of_the_table_is_ticked(state: object, row: int | None) -> None:
    assert search.ticked_row(state, 3) == row
