"""Made-up reports beside a checkpoint, and the charts of a page as a browser gets them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.viz.pages import reading
from transformer import Translator
from transformer.analysis.heads import head, importance
from transformer.analysis.stored import Figure, checksum_of_weights
from transformer.corpus import corpus_roles, head_report
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


def folder_with(source: Path, target: Path, *reports: HeadReport) -> Path:
    """A copy of a checkpoint, with a report beside it."""
    shutil.copytree(source, target)
    for report in reports:
        (target / head_report.FILE).write_text(head_report.to_json(report), encoding="utf-8")
    return target


def chart_tables(app: AppTest, text: str, column: str) -> list[pd.DataFrame]:
    """The table with a column of each chart whose specification says something, in their order."""
    return [
        next(frame for frame in reading.frames(app, number) if column in frame)
        for number, element in enumerate(app.get("vega_lite_chart"))
        if text in str(json.loads(element.proto.spec))
    ]
