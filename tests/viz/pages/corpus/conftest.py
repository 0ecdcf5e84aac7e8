"""The measured lines beside the bundled model."""

import pytest

from transformer import Translator
from transformer.analysis.corpus import result_file
from transformer.analysis.corpus.measured import MeasuredLines
from transformer.files.installed import BUNDLED


@pytest.fixture(scope="package")
def lines() -> MeasuredLines:
    content = (BUNDLED / result_file.FILE).read_bytes()
    return result_file.from_bytes(content, Translator.load(BUNDLED))
