"""Pages state of a sentence what the model computes: some of the views, on two sentences.

`python -m benchmarks sentences` does it for ten sentences and for every view.
"""

import pytest

from benchmarks.sentences import SENTENCES, check
from benchmarks.sentences.facts import Marked
from benchmarks.sentences.report import agrees, compare
from benchmarks.sentences.views import View
from tests.viz.conftest import _no_package_is_scanned
from viz.app.cache.memory import forget_server_wide
from viz.app.models.menu import CHECKPOINT_VARIABLE

pytestmark = pytest.mark.slow

__all__ = ["_no_package_is_scanned"]  # a fixture of every test here


def wanted(view: View) -> bool:
    page, url, _ = view
    return "without_sinks" not in url and (
        page == "translate"
        or url.get("kind") == "cross-attention"
        or url.get("pe_view") == "Remove positions"
    )


def dear(view: View) -> bool:
    """Return whether a view takes so long that short sentences must do."""
    return bool({"Remove positions", "Why this word"} & set(view[1].values()))


@pytest.mark.parametrize(
    ("sentences", "is_dear", "least"),
    [((SENTENCES[0], SENTENCES[5]), False, 500), (SENTENCES[1:3], True, 50)],
)
def test_the_pages_say_what_the_model_computes(
    monkeypatch: pytest.MonkeyPatch, sentences: tuple[str, ...], is_dear: bool, least: int
) -> None:
    monkeypatch.delenv(CHECKPOINT_VARIABLE, raising=False)
    report = check(sentences, lambda view: wanted(view) and dear(view) == is_dear)
    assert (report.wrong, report.unchecked) == ([], [])
    assert report.checked > least
    forget_server_wide()  # the bundled model is not for the tests that follow


def test_one_sentence_cannot_tell_what_varies() -> None:
    with pytest.raises(ValueError, match="fewer than two"):
        check(SENTENCES[:1])


def test_a_number_that_is_off_is_found() -> None:
    assert agrees("log p −1.23 · 7 pieces", "log p −1.24 · 7 pieces")  # as a last digit rounds
    assert not agrees("log p −1.23 · 7 pieces", "log p −1.25 · 7 pieces")
    assert not agrees("log p −1.23 · 7 pieces", "log p −1.23 · 8 pieces")
    assert not agrees("log p −1.23", "log p 1.23")
    assert not agrees("falls from 1.2 to 1.1", "rises from 1.2 to 1.1")
    assert agrees("so the loss rises by 1.2: see", "…loss rises by 1.2…")
    assert agrees("Ein ⟦−alter⟧ ⟦+junger⟧ Mann", Marked("Ein junger Mann", "Ein alter Mann"))
    assert not agrees("Ein ⟦+junger⟧ Mann", Marked("Ein junger Mann", "Ein alter Mann"))


def test_what_is_missing_and_what_nobody_expects_is_told() -> None:
    wrong, rest = compare(["a 1", "b 2"], ["a 1", "c 3"])
    assert len(wrong) == 1
    assert "c 3" in wrong[0]
    assert rest == ["b 2"]
