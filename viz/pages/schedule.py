"""The page “Schedule”: the learning rate of §5.3 for any width, warmup and number of steps."""

import re

import streamlit as st

from training import schedule
from transformer.files import installed
from viz.app.chrome import charts, explanations, fields
from viz.app.sentence import worth_seeing
from viz.app.view import Page, compute, figure, findings_row, view
from viz.draw.labels import quoted
from viz.figures.schedule import learning_rates, schedule_chart, visible_peaks
from viz.findings import training

PAIRS = ("512 · 4000", "512 · 8000", "256 · 4000", "1024 · 4000")
"""d_model and warmup, as in the URL."""
MAX_STEPS, MAX_WIDTH = 1_000_000, 65_536
BUNDLED_RUN = "the bundled model's last run"
_PAIR = re.compile(r"\s*(\d{1,7})\s*(?:·|[^\d\s]|\s)\s*(\d{1,7})\s*")


@view()
def learning_rate() -> None:
    """Draw the learning rate over the steps, for each width and warmup."""
    with st.container(key="schedule-controls", horizontal=True, gap="small"):
        texts = st.multiselect(
            "d_model · warmup",
            PAIRS,
            default=PAIRS[:1],
            key="pairs",
            bind="query-params",
            accept_new_options=True,
            max_selections=3,
            placeholder="Choose or type a pair, such as 768 · 2000",
            width=420,
        )
        steps = fields.whole_number("Steps", "steps", 100, MAX_STEPS, 40_000, step=1_000, width=210)
        axes = fields.choose_one("Axes", ["linear", "logarithmic"], "axes")
        bundled = st.toggle("The bundled model's last run", key="used", bind="query-params")
    pairs = _pairs(texts)
    worth_seeing.link("schedule", findings_row(), [training.peak(*pair) for pair in pairs.values()])
    if not pairs:
        st.text("There is no curve yet: choose a width and a warmup.")
        return
    logs = {BUNDLED_RUN: installed.BUNDLED / "run.jsonl"} if bundled else {}
    curves = compute("curves", learning_rates, pairs, steps, logs)
    peaks = compute("peaks", visible_peaks, pairs, steps)
    picture, explanation = st.columns([2, 1], gap="large")
    with picture, st.container(key="schedule-picture"):
        charts.altair_chart(
            figure("chart", schedule_chart, curves, peaks, log=axes == "logarithmic"),
            alt="The learning rate over the steps of each curve.",
        )
    with explanation:
        st.latex(
            r"\begin{aligned} lrate = d_\text{model}^{-0.5} \cdot \min(&step^{-0.5}, \\ "
            r"&step \cdot warmup^{-1.5}) \end{aligned}"
        )
        explanations.explain(
            "The learning rate rises linearly for *warmup* steps to "
            r"$(d_\text{model} \cdot warmup)^{-0.5}$, then falls as 1/√step; both parts are "
            "straight on logarithmic axes. Optimiser: Adam, β₁ = 0.9, β₂ = 0.98, ε = 10⁻⁹."
            + explanations.sources("§5.3, equation 3", schedule.learning_rate)
        )


def _pairs(texts: list[str]) -> dict[str, tuple[int, int]]:
    """Parse widths and warmups, by the name of their curve; name the invalid ones on the page."""
    pairs = {}
    for text in texts:
        match = _PAIR.fullmatch(text)
        d_model, warmup = (int(match[1]), int(match[2])) if match else (0, 0)
        if 1 <= d_model <= MAX_WIDTH and 1 <= warmup <= MAX_STEPS:
            pairs[f"d_model {d_model}, warmup {warmup:,}"] = (d_model, warmup)
        else:
            st.text(
                f"{quoted(text)} is not a pair of a width up to {MAX_WIDTH:,} and a warmup up to "
                f"{MAX_STEPS:,} steps: write 512 · 4000."
            )
    return pairs


PAGE = Page(
    "schedule", "How does the learning rate change during training?", ("loss",), (learning_rate,)
)
