"""The app on a MarianMT folder from French to Finnish: nothing on a page says English or German."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.transformer.checkpoints.marian import marian_folder
from viz.app.links.navigation import ROLES, TITLES, VIEW
from viz.app.models.menu import CHECKPOINT_VARIABLE
from viz.pages.architecture import PARAMETERS
from viz.pages.architecture.drawing import NORMS
from viz.pages.architecture.drawing import VIEW as ARCHITECTURE
from viz.pages.masks import VIEW as MASKS
from viz.pages.masks import WITHOUT_MASK
from viz.pages.positions import VIEW as POSITIONS
from viz.pages.roles import VIEWS

pytestmark = pytest.mark.slow

APP = Path(__file__).parents[3] / "app.py"
TEXT = "Le chat dort sous la table."
BY_HAND = "Le chat dort."  # in pieces that the folder has
WRONG = re.compile(".{,60}(?:English|German).{,60}")

# views of the pages that speak of languages; a training run of the repository is English and German
MORE: dict[str, list[dict[str, str]]] = {
    "translate": [{"edited": BY_HAND, "versus": "greedy search"}],
    "heads": [
        {"kind": "encoder", "view": "compare", "with": "another sentence"},
        {"kind": "decoder"},
    ],
    "inside": [{"kind": "encoder"}],
    "roles": [{VIEW: name} for name in VIEWS if name != ROLES],
    "masks": [{"kind": "encoder"}, {"kind": "cross"}, {MASKS: WITHOUT_MASK}],
    "positions": [{POSITIONS: "Without"}],
    "architecture": [
        *({ARCHITECTURE: view} for view in (PARAMETERS, NORMS, "tables 2 and 3")),
        {"arch_box": "Embedding of the decoder"},
        {"arch_box": "Cross-attention of the decoder"},
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    return marian_folder.write(folder, separate=True, languages=("fra", "fin"))


@pytest.mark.parametrize("page", [path for path in TITLES if path != "training"])
def test_no_view_of_a_page_says_english_or_german(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    for url in ({}, *MORE.get(page, [])):
        app = AppTest.from_file(str(APP), default_timeout=60)
        app._page_hash = calc_hash("" if page == "translate" else page)
        for name, value in {"text": TEXT, **url}.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        assert not app.error
        # pictures too, whose words travel as text
        sent = "\n".join(str(getattr(node, "proto", "")) for node in (*app.main, *app.sidebar))
        assert WRONG.findall(sent) == []
        assert "French" in sent
        assert "Finnish" in sent
