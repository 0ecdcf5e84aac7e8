"""The measured lines beside the bundled model."""

import pytest

from transformer import Translator
from transformer.corpus import measured, result_file
from transformer.files import installed


@pytest.fixture(scope="package")
def lines() -> measured.MeasuredLines:
    content = (installed.BUNDLED / result_file.FILE).read_bytes()
    return result_file.from_bytes(content, Translator.load(installed.BUNDLED))
