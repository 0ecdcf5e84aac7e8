"""Fixture for tests of code that loads the bundled model again and again."""

from collections.abc import Iterator

import pytest

from transformer import Translator
from transformer.files.installed import BUNDLED


@pytest.fixture(scope="module")
def one_bundled_model() -> Iterator[None]:
    """Load the bundled model once for all that load it."""
    load, translator = Translator.load, Translator.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Translator,
            "load",
            lambda folder=BUNDLED: translator if folder == BUNDLED else load(folder),
        )
        yield
