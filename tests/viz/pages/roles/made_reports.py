"""Made-up reports beside a checkpoint, and the charts of a page as a browser gets them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.viz.pages import reading
from transformer import KINDS, Translator
from transformer.analysis.heads import head, importance
from transformer.analysis.lenses import NAMES
from transformer.analysis.stored import Figure, checksum_of_weights
from transformer.corpus import corpus_roles, faithfulness_report, head_report
from transformer.corpus.faithfulness import FRACTIONS
from transformer.corpus.faithfulness_report import Curves, FaithfulnessReport, LensFigures
from transformer.corpus.head_report import (
    Curve,
    CurvePoint,
    Example,
    HeadFigures,
    HeadReport,
)

EXAMPLE = "My *brother* eats."


def charts(app: AppTest) -> list[list[dict]]:
    """The rows of the first data set of each chart, in the order of the page."""
    return [reading.records(app, number)[0] for number in range(len(app.get("vega_lite_chart")))]


def near(value: float, apart: float = 0.02) -> Figure:
    return Figure(value, value - apart, value + apart)


def made_figures(place: head.Head, **values: float) -> HeadFigures:
    """A head that does nothing much but what is given."""
    own = {
        name: near(0.1 if name != "offset" else -1.0)
        for name in (*corpus_roles.measures_of(place.kind), *importance.IMPORTANCE)
    }
    own |= {name.replace("_", " "): near(value) for name, value in values.items()}
    offset = int(own["offset"].value)
    plain = {name: figure.value for name, figure in own.items()}
    role = corpus_roles.corpus_role(plain, place.kind, offset)
    return HeadFigures(place, role, offset, own, (Example(EXAMPLE, "Mein Bruder frisst.", 0.5),))


def head_report_of(translator: Translator, seed: int = 0) -> HeadReport:
    """All heads of a model, each with other figures."""
    draw = np.random.default_rng(seed)
    heads = tuple(
        made_figures(place, **{name: draw.random() for name in ("same word", "sink", "gradient")},
                     **{"loss without": draw.normal(), "positional": draw.random()})
        for place in head.all_heads(translator.model.config)
    )  # fmt: skip
    points = (CurvePoint(0, near(30.0)), CurvePoint(len(heads), near(0.0)))
    curve = Curve(tuple(figure.place for figure in heads), points)
    weights = checksum_of_weights(translator.folder)
    return HeadReport(weights, 60, 2, 20, near(1.5), near(30.0), heads, {"gradient": curve})


def faithfulness_of(translator: Translator, **falls: float) -> FaithfulnessReport:
    """All lenses with the same fall at every share: 1 unless given, and random words 0.5."""
    lenses: dict[str, LensFigures] = {
        name: LensFigures(
            **vars(_curves(falls.get(name, 1.0))), kendall=near(0.3), spearman=near(0.4)
        )
        for name in NAMES
    }
    attention: dict[str, dict[str, Figure]] = {
        kind: {"uniform": near(-1.0 - n), "permuted": near(0.015 * n)}
        for n, kind in enumerate(KINDS)
    }
    weights = checksum_of_weights(translator.folder)
    random = _curves(falls.get("random", 0.5))
    return FaithfulnessReport(weights, 50, 1, False, FRACTIONS, lenses, random, attention)


def folder_with(source: Path, target: Path, *reports: HeadReport | FaithfulnessReport) -> Path:
    """A copy of a checkpoint with reports beside it."""
    shutil.copytree(source, target)
    for report in reports:
        module = head_report if isinstance(report, HeadReport) else faithfulness_report
        (target / module.FILE).write_text(module.to_json(report), encoding="utf-8")
    return target


def _curves(fall: float) -> Curves:
    return Curves((near(fall),) * len(FRACTIONS), (near(2 - fall),) * len(FRACTIONS))


def chart_tables(app: AppTest, text: str, column: str) -> list[pd.DataFrame]:
    """The table with a column of each chart whose specification says something, in their order."""
    return [
        next(frame for frame in reading.frames(app, number) if column in frame)
        for number, element in enumerate(app.get("vega_lite_chart"))
        if text in str(json.loads(element.proto.spec))
    ]
