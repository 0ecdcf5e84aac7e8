"""The app on models of other languages: nothing on a page says English or German.

A MarianMT folder from French to Finnish, and a run of training.train from French to Dutch.
"""

import random
import re
from pathlib import Path

import pytest

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import open_app
from training import train
from transformer import AttentionTrace, Translator
from transformer.text.languages import Languages
from viz.app.links import navigation
from viz.app.models import menu
from viz.pages import masks, positions

pytestmark = pytest.mark.slow

TEXT = "Le chat dort sous la table."
BY_HAND = "Le chat dort."  # in pieces that the folder has
WRONG = re.compile(".{,60}(?:English|German).{,60}")

# views of the pages that speak of languages
VIEWS: dict[str, list[dict[str, str]]] = {
    "translate": [{"edited": BY_HAND, "versus": "greedy search"}],
    "heads": [{"kind": "encoder", "view": "compare", "with": "another sentence"}],
    "inside": [{}],
    "roles": [{navigation.VIEW: name} for name in (navigation.REMOVE_HEADS, "Why this word")],
    "corpus": [{}],
    "masks": [{masks.VIEW: masks.WITHOUT_MASK}],
    "positions": [{positions.VIEW: "Remove positions"}],
    "architecture": [{"arch_box": "Cross-attention of the decoder"}],
}


RECIPE = """
[model]
preset = "demo"
vocab_size = 100
N = 2
d_model = 32
d_ff = 64
h = 2
[training]
steps = 2
batch_tokens = 300
warmup = 2
bf16 = false
save_every = 1
validate_every = 2
validate_sentences = 4
average = 2
"""
FRENCH = ["le chat", "un chien", "la table", "sous", "dort", "voit", "."]
DUTCH = ["de kat", "een hond", "de tafel", "onder", "slaapt", "ziet", "."]


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    return marian_folder.write(folder, separate=True, languages=("fra", "fin"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run from French to Dutch, on text that is made up."""
    folder = tmp_path_factory.mktemp("french")
    choose = random.Random(0)
    for name, count in (("train", 60), ("valid", 8)):
        drawn = [choose.choices(range(len(FRENCH)), k=4) for _ in range(count)]
        for code, words in (("fr", FRENCH), ("nl", DUTCH)):
            lines = [" ".join(words[word] for word in row) + "\n" for row in drawn]
            (folder / f"{name}.{code}").write_text("".join(lines), "utf-8")
    (folder / "recipe.toml").write_text(RECIPE, "utf-8")
    arguments = ["--config", folder / "recipe.toml", "--data", folder, "--out", folder / "runs/a"]
    languages = ["--source", "fr", "--target", "nl"]
    assert train.main([*map(str, arguments), *languages]) == 0
    return folder / "runs/a"


def open_page(page: str, **url: str) -> str:
    """Return all texts of a page, and the pictures, whose words travel as text."""
    app = open_app(page, **url)
    assert not app.error
    return "\n".join(str(getattr(node, "proto", "")) for node in (*app.main, *app.sidebar))


@pytest.mark.parametrize("page", VIEWS)
def test_no_view_of_a_page_says_english_or_german(page: str, marian: Path) -> None:
    # not the test's own patch, which `_remembers_no_other_code` looks for
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(menu.CHECKPOINT_VARIABLE, str(marian))
        for url in VIEWS[page]:
            sent = open_page(page, **{"text": TEXT, **url})
            assert WRONG.findall(sent) == []
            assert "French" in sent
            assert "Finnish" in sent


def test_the_languages_of_a_run_are_in_all_that_it_leaves(run, capsys) -> None:
    assert not menu.reads_same_language(Translator.load(), run / "averaged")
    for probe in (run / "probes").iterdir():
        assert AttentionTrace.load(probe).languages == Languages("French", "Dutch")
    arguments = ["--config", run.parents[1] / "recipe.toml", "--data", run.parents[1]]
    again = [*map(str, arguments), "--out", str(run), "--resume", "--steps", "5"]
    capsys.readouterr()
    assert train.main([*again, "--source", "en"]) == 2
    assert "is a run from fr to nl, and not from" in capsys.readouterr().err
