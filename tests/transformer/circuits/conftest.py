"""A sentence that the tiny model has looked at, several of them, and models in float64."""

import pytest

from tests.transformer.analysis.lens_cases import case, uneven
from transformer import AttentionTrace, Translator

__all__ = ["case", "uneven"]  # fixtures: used by their names

# three of different lengths; the longest on neither side is the first, so no test leans on it
TEXTS = {
    "A green frog eats.": "Ein grüner Frosch frisst.",
    "The tired teacher sleeps under the table.": "Die müde Lehrerin schläft unter dem Tisch.",
    "Her horse waits on the roof.": "Ihr Pferd wartet.",
}


@pytest.fixture(scope="session")
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace("The old cat sleeps under the table.", target="Die alte Katze schläft.")


@pytest.fixture(scope="session")
def traces(translator: Translator) -> list[AttentionTrace]:
    return [translator.trace(english, german) for english, german in TEXTS.items()]
