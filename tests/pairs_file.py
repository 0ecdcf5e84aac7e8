"""The file of measured pairs beside a model."""

import json

import numpy as np

from transformer import Translator
from transformer.analysis.stored import checksum_of_weights
from transformer.circuits import pairs_report
from transformer.circuits.pairs import MeasuredPairs
from transformer.files.documents import to_json


def pairs_file(translator: Translator, measured: MeasuredPairs) -> bytes:
    """Write measured pairs as the content of the file beside a model."""
    patched = measured.patched
    lost, control = (
        tuple(tuple(None if np.isnan(x) else x for x in row) for row in values.tolist())
        for values in (patched.lost, patched.control)
    )
    report = pairs_report.PairsReport(
        checksum_of_weights(translator.folder),
        len(measured.pairs),
        len(measured.left_out),
        measured.pairs,
        tuple(patched.whole.tolist()),
        lost,
        control,
    )
    content = {"format": report.FORMAT, **to_json(report)}
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()
