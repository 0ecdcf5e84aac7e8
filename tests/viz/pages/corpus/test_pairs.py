"""The view “Pairs”: its numbers are those of the analysis; bad files and pairs are named."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.pairs_file import pairs_file
from tests.viz import app_test
from tests.viz.app.view.programs import Programs, check
from tests.viz.pages.corpus.conftest import frame, press
from transformer import Translator
from transformer.circuits import pairs, pairs_report
from transformer.circuits.pairs import LOST, Site, effects_table, measure_pairs, read_pairs
from transformer.corpus.measured import MeasuredLines
from viz.draw.formatting import format_number
from viz.pages.corpus.pairs import FILE, JOB, pairs_needed

pytestmark = pytest.mark.slow

ROWS = [
    "The dog sleeps in the garden.\tHer horse sleeps in the garden.\tDer\tIhr\tall",
    "Her horse waits on the roof.\tThe dog waits on the roof.\tIhr\tDer\tall",
    "My brother eats.\tMy brother sings.\tschläft\tsingt\tverb",
    "The baker eats.\tThe baker sings.\tsingt\tsitzt\tverb",
    "My brother eats.\tMy brother sings.\tmalt\tsingt\tverb",
]
"""The last one asks for a word that is not in the translation."""
CONTENT = "\n".join(ROWS).encode()


def send(app: AppTest, content: bytes) -> AppTest:
    app.file_uploader(key=FILE).set_value(("mine.tsv", content, "")).run()
    assert not app.exception
    return app


def test_own_pairs_have_the_numbers_of_the_analysis_by_group(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    monkeypatch: pytest.MonkeyPatch,
    listed: Programs,
) -> None:
    translator, _ = measured
    app = send(view("Pairs", pairs="your pairs"), CONTENT)
    app = press(app, JOB)
    expected = measure_pairs(translator, read_pairs(CONTENT))
    assert [number for number, _ in expected.left_out] == [5]
    ((number, why),) = expected.left_out
    assert f"Pair {number}: {why}" in app_test.texts(app)
    # that of every pair has another name than any group
    assert app.selectbox(key="pairs_group").options == ["(all)", "all", "verb"]
    app.selectbox(key="pairs_group").set_value("verb").run()
    table = effects_table(expected.in_group("verb").patched)
    assert sorted(frame(app, "control", "head")[LOST]) == pytest.approx(sorted(table[LOST]))
    best = table.iloc[int(table[LOST].argmax())]
    (line,) = [text for text in app_test.texts(app) if "lose the most" in text]
    assert f"L{best['layer']} H{best['head']}" in line
    for number in (expected.patched.whole[2:4].mean(), *best[[LOST, "low", "high"]]):
        assert format_number(float(number), 2) in line
    monkeypatch.chdir(translator.folder.parent)  # the code names folder and file alone
    (translator.folder.parent / "mine.tsv").write_bytes(CONTENT)
    check(*listed[-1])


def test_bundled_pairs_without_their_words_are_named(view: Callable[..., AppTest]) -> None:
    app = press(view("Pairs"), JOB)
    bundled = read_pairs(pairs.BUNDLED_PAIRS["English"].read_bytes())
    (left_out,) = [text.splitlines() for text in app_test.texts(app) if text.startswith("Pair ")]
    assert len(frame(app, "first word")) + len(left_out) == len(bundled)
    assert len(left_out) > 0


def test_what_is_stored_beside_the_model_opens_without_a_click(
    view: Callable[..., AppTest], measured: tuple[Translator, MeasuredLines]
) -> None:
    translator, _ = measured
    path = translator.folder / pairs_report.FILE
    pairs_of_it = measure_pairs(translator, read_pairs(CONTENT)[:4])
    try:
        path.write_bytes(pairs_file(translator, pairs_of_it))
        app = send(view("Pairs", pairs="your pairs"), "\n".join(ROWS[:4]).encode())
        drawn = frame(app, "control", "head")
        table = effects_table(pairs_of_it.patched)
        assert sorted(drawn[LOST]) == pytest.approx(sorted(table[LOST]), rel=1e-4, abs=1e-6)
        stream = effects_table(pairs_of_it.patched, Site)
        last, half = stream[stream["positions"] == "last"], pairs_of_it.patched.whole.mean() / 2
        (line,) = [text for text in app_test.texts(app) if "half of the total" in text]
        assert line.endswith(f"layer {min(last['layer'][last[LOST] >= half])}.")
        send(app, "\n".join(ROWS[1:4]).encode())  # others than those that are stored
        assert app.button(key=f"{JOB}-start").label
        path.write_bytes(path.read_bytes()[:-10])
        app = send(view("Pairs", pairs="your pairs"), "\n".join(ROWS[1:4]).encode())
        assert [text for text in app_test.texts(app) if path.name in text]
        assert app.button(key=f"{JOB}-start").label
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "no pair"),
        (CONTENT + b"\nA.\tB.\n", "Line 6 "),
        (b"\xff\xfe\xff", "UTF-"),
        (CONTENT[:-1] + b"\0", "zero byte"),
        (b"A.\tB.\ta\tb\n" * 10_000, "10,000 lines"),
    ],
)
def test_a_bad_file_is_one_sentence_and_the_page_stays(
    view: Callable[..., AppTest], content: bytes, named: str
) -> None:
    app = send(view("Pairs", pairs="your pairs"), content)
    assert [text for text in app_test.texts(app) if named in text]
    assert not [button for button in app.button if button.key == f"{JOB}-start"]
    send(app, b"\n".join([CONTENT] * 2))
    assert [button for button in app.button if button.key == f"{JOB}-start"]


def test_pairs_that_are_all_in_another_language_end_in_a_sentence(
    view: Callable[..., AppTest],
) -> None:
    german = b"Der Hund.\tDie Hunde.\tDer\tDie\nDas Pferd.\tDie Pferde.\tPferd\tPferde\n"
    app = press(send(view("Pairs", pairs="your pairs"), german), JOB)
    assert [text for text in app_test.texts(app) if "of 2 pairs can be patched" in text]


def test_the_least_p_of_few_pairs_is_not_significant() -> None:
    assert pairs_needed(144) == 13  # 144 · 2 ^ -12 = 0.035
    assert 144 * 2.0**-11 > 0.05
