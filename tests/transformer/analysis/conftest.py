"""A sentence that the tiny model has looked at."""

from __future__ import annotations

import pytest

from transformer import AttentionTrace, Translator


@pytest.fixture(scope="session")
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace("The old cat sleeps under the table.", target="Die alte Katze schläft.")
