"""The view “Remove heads”: its numbers are those of the analysis."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz import app_test
from tests.viz.app.view.programs import Programs, check
from tests.viz.pages.corpus.conftest import frame, press
from transformer import Translator
from transformer.analysis.heads import removal_text
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.corpus import comparison
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.removal import CHANGE, lines_without, summarise_removal
from viz.draw.formatting import format_number, format_p
from viz.pages.corpus.removal import JOB

pytestmark = pytest.mark.slow

TWO = (Head("decoder_self", 0, 1), Head("cross", 1, 0))
CODE = "L2 H1 cross,L1 H2 decoder"


def test_heads_are_removed_over_all_lines_with_the_numbers_of_the_analysis(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    monkeypatch: pytest.MonkeyPatch,
    listed: Programs,
) -> None:
    translator, lines = measured
    before = view("Remove heads", removed=CODE)
    (link,) = [link for link in before.get("page_link") if "sentence" in link.proto.label]
    heads = removal_text.format_removals([Removal(*head) for head in TWO])
    choices = {"roles_view": ["Remove heads"], "removed": [heads]}
    assert parse_qs(link.proto.query_string) == choices
    app = press(before, JOB)
    without = lines_without(translator, lines, TWO)
    summary = summarise_removal(lines, without)
    shown = frame(app, CHANGE, "before", "after")
    order = np.argsort(-np.abs(without.changes / lines.subwords), kind="stable")
    assert list(shown["line"]) == [lines.pairs[row].number for row in order]
    (first,) = [n for n, text in enumerate(app_test.texts(app)) if "per subword changes by" in text]
    line = " ".join(app_test.texts(app)[first : first + 3])  # each p has a sentence
    change = [format_number(float(part), 3, sign=True) for part in summary.change]
    assert all(number in line for number in change)
    costly = int((summary.control_changes <= summary.change.value).sum())
    assert f"{costly} of {len(summary.control_changes)}" in line
    assert [format_p(summary.p), format_p(summary.control_p)] == re.findall(
        r"p [<=] [\d.]+\d", line
    )
    (quality,) = [table.value for table in app.table if "test" in table.value]
    scores = comparison.quality_without(lines, without)
    assert [text.split()[0] for text in quality["after"]] == [
        f"{score.after.value:.1f}" for score in scores.values()
    ]
    monkeypatch.chdir(translator.folder.parent)  # the code below the view names the folder alone
    check(*listed[-1])
    totals = [sum(times for _, times in words) for words in (summary.lost, summary.won)]
    titles = [subheader.value for subheader in app.subheader]
    assert [f"Words dropped: {totals[0]}", f"Words added: {totals[1]}"] == titles[2:4]

    # in another order they are the same, and nothing is computed again
    app.text_input(key="removed").set_value("L1 H2 decoder,L2 H1 cross").run()
    assert list(frame(app, CHANGE, "before")["line"]) == list(shown["line"])


def test_heads_are_chosen_one_by_one(
    view: Callable[..., AppTest], measured: tuple[Translator, MeasuredLines]
) -> None:
    _, lines = measured
    app = view("Remove heads", kind="encoder", layer="1", head="2")
    assert not [button for button in app.button if button.key == f"{JOB}-start"]
    press(app, JOB, "removal-add")  # one press chooses the head and removes it
    assert app.session_state["removed"] == "L1 H2 encoder"
    assert len(frame(app, CHANGE, "before")) == len(lines)
    app.button(key="removal-add").click().run()
    assert app.session_state["removed"] == ""
