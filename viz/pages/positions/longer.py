"""The view “Longer”: the loss over the position in a sentence longer than those of training."""

import altair as alt
import streamlit as st

from transformer import InputError
from transformer.analysis.teacher_forcing import log_probs
from transformer.files import installed
from transformer.paper.positions import NO_EDIT, Edit, edit_hooks, long_pair, mean_losses
from viz.app.chrome import charts, explanations
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import compute, view
from viz.figures import axes, forms
from viz.pages.positions.tables import PICTURE

TRAINED = 128  # `max_pieces` of the configurations: subwords of the longest training sentence
PARTS, WINDOW = 20, 16  # example sentences that are joined; positions of one mean
POSITIONS = {
    "sinusoids": ("sinusoids", NO_EDIT),
    f"random rows from {TRAINED} on": (
        "random_rows",
        Edit("random", ("encoder", "decoder"), TRAINED),
    ),
}
EXAMPLES = {"English": "examples.txt", "German": "examples-de.txt"}  # line by line translations


@view("Longer", needs="trace")
def longer(bar: BarTranslation) -> None:
    """Draw the loss with sinusoids, and with what a learned table holds beyond training."""
    translator, languages = bar.translator, bar.trace.languages
    config = translator.model.config
    if config.positions != "sinusoidal":
        raise InputError(
            f"This model has a learned table of {config.max_length} positions and nothing beyond: "
            f"choose a model with sinusoidal positions."
        )
    files = [EXAMPLES.get(language or "") for language in (languages.source, languages.target)]
    if None in files:
        raise InputError("There are long examples in English and German alone.")
    source, target = (installed.ASSETS / str(file) for file in files)
    count, trace = compute("pair", long_pair, translator, source, target, PARTS)
    losses = {}
    for title, (name, edit) in POSITIONS.items():
        hooks = compute(f"edit_{name}", edit_hooks, edit)
        log_p = compute(f"log_p_{name}", log_probs, translator.model, trace, hooks)
        losses[title] = compute(name, mean_losses, log_p, WINDOW)
    with st.container(key=PICTURE):
        starts = [WINDOW * n for n in range(len(losses["sinusoids"]))]
        lines_drawn = forms.curves(
            forms.long_form("positions", "loss", losses, position=starts),
            alt.X("position:Q", title="position in the translation", axis=alt.Axis(grid=False)),
            alt.Y("loss:Q", title="loss, nats", scale=alt.Scale(zero=True)),
            axes.curve_color("positions", list(losses)),
            dots=40,
            height=400,
            tooltip=forms.tips("positions", position=("from", ""), loss=("", ".2f")),
        )
        charts.altair_chart(
            forms.rule("position", TRAINED, strokeDash=[4, 3]) + lines_drawn,
            key="pe_longer",
            alt="Loss over the position in a long sentence, with two sorts of positions.",
        )
    explanations.explain(
        f"{count} example sentences, joined with commas into one of {len(trace.source_pieces)} "
        f"subwords, and their translation. The bundled models read none above {TRAINED} in "
        "training (dashed). The paper chose sinusoids because they “may allow the model to "
        "extrapolate to sequence lengths longer than the ones encountered during training”: they "
        "are defined everywhere, and the first curve shows whether this model can use them. A "
        f"learned table has no trained row beyond {TRAINED}, and no row at all beyond its end: the "
        "second curve has random rows there, as such a table before training. The table "
        "of the small model trained here ends at 256, and “Learned” shows that the rows beyond "
        "the length of a caption are still random." + explanations.sources("§3.5", mean_losses)
    )
