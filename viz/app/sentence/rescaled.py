"""A row and a translation at another scale of q · k: charts and texts that two pages share."""

import math
from collections.abc import Hashable, Mapping
from functools import cache
from typing import get_args

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translation, Translator, hooks
from transformer.analysis.heads.head import Head
from transformer.paper import scaling
from transformer.paper.arithmetic import SublayerValues
from transformer.paper.scaling import Scale
from viz.app.cache import cached_results, memory
from viz.app.chrome import charts, problems
from viz.app.sentence import sentence_bar, translation_line
from viz.draw.formatting import format_number
from viz.figures.scaling import DECADES, FACTORS, saturation_chart, variance_chart

WIDTHS = 2 ** np.arange(11)


def shown_scale(scale: Scale) -> str:
    """Format the scale with a subscript k."""
    return scale.replace("d_k", "dₖ")


def show_saturation(
    values: SublayerValues, place: Head, row: int, marks: Mapping[str, float]
) -> None:
    """Draw how the softmax of one row saturates, with the three scales and further marks."""
    st.subheader("Large scores: one token takes all", anchor=False)
    dots = (values.k[place.head] @ values.q[place.head, row]).astype(np.float64)
    dots = dots[values.seen[row]]
    scales = np.geomspace(10.0 ** DECADES[0], 10.0 ** DECADES[1], FACTORS)
    curves = scaling.saturation(dots, scales)
    maximum = math.log2(len(dots)) or 1.0  # one key alone has no entropy
    at = {shown_scale(name): scaling.factor(name, values.q.shape[-1]) for name in get_args(Scale)}
    drawn = curves.largest, curves.entropy / maximum, curves.gradient
    charts.altair_chart(
        saturation_chart(scales, drawn, {**at, **marks}),
        alt="Largest weight, entropy and gradient of this row over the scale of q · k.",
        title=place.title,
    )


def show_variance(
    trace: AttentionTrace, values: SublayerValues, place: Head, scale: Hashable
) -> None:
    """Draw the variance of q · k over the width, in a head whose model has some scale."""
    st.subheader("Wider q and k: larger scores", anchor=False)
    q, k = (x[place.head].astype(np.float64) for x in (values.q, values.k))
    key = ("dot variance", *place, scale)
    measured = memory.memo_per_trace(trace, key, lambda: scaling.dot_variance(q, k))
    charts.altair_chart(
        variance_chart(*measured, WIDTHS, _gaussian()),
        alt="Variance of q · k over the width of queries and keys.",
        title=place.title,
    )


@cache
def _gaussian() -> npt.NDArray[np.float64]:
    """Compute the variance of Gaussian vectors once; it takes 17 million random numbers."""
    return scaling.gaussian_dot_variance(WIDTHS)


def show_translation(
    translator: Translator, translation: Translation, edits: Mapping[str, hooks.Hook], name: str
) -> None:
    """Translate under edits, which `name` identifies; mark differences from the bar."""
    try:
        edited = cached_results.translate_edited(
            translator, translation.source, sentence_bar.settings(), edits, name
        )
    except HeadlightError as error:  # an edited translation can have untested settings
        problems.say(error)
        return
    verdict = "the same words"
    if edited.text != translation.text:
        verdict = "new words in bold, dropped ones struck through"
    translation_line.show_candidate(
        edited.text,
        translation.text,
        f"translated with {name}: {verdict} · log probability {format_number(edited.log_prob)}",
    )
    sentence_bar.show_notices_of(edited)
