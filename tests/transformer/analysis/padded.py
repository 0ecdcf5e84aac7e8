"""Three sentences of different lengths, as the tests of padded batches need them."""

from __future__ import annotations

import pytest

from transformer import AttentionTrace, Translator

# the longest on neither side is the first, so that no test leans on the order
TEXTS = {
    "A green frog eats.": "Ein grüner Frosch frisst.",
    "The tired teacher sleeps under the table.": "Die müde Lehrerin schläft unter dem Tisch.",
    "Her horse waits on the roof.": "Ihr Pferd wartet.",
}


@pytest.fixture(scope="session")
def traces(translator: Translator) -> list[AttentionTrace]:
    return [translator.trace(english, german) for english, german in TEXTS.items()]
