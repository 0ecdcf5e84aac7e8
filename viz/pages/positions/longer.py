"""The view “Longer”: the loss over the position in a sentence longer than those of training."""

from functools import partial

import altair as alt
import streamlit as st

from transformer import InputError
from transformer.analysis.teacher_forcing import log_probs
from transformer.files import installed
from transformer.paper.positions import NO_EDIT, Edit, joined, mean_losses
from viz.app.cache import cached_results, memory
from viz.app.chrome import charts, explanations
from viz.app.sentence import python_code, sentence_bar
from viz.figures import axes, forms
from viz.pages.positions.tables import PICTURE

TRAINED = 128  # `max_pieces` of the configurations: subwords of the longest training sentence
PARTS, WINDOW = 20, 16  # example sentences that are joined; positions of one mean
POSITIONS = {
    "sinusoids": NO_EDIT,
    f"random rows from {TRAINED} on": Edit("random", ("encoder", "decoder"), TRAINED),
}
EXAMPLES = {"English": "examples.txt", "German": "examples-de.txt"}  # line by line translations


def longer() -> None:
    """Draw the loss with sinusoids, and with what a learned table holds beyond training."""
    if (bar := sentence_bar.traced()) is None:
        return
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
    lines = [(installed.ASSETS / str(file)).read_text("utf-8").splitlines() for file in files]
    tokenizers = translator.tokenizer, translator.target_tokenizer
    most = config.max_length - 1  # without </s>, or <s>

    for count in range(PARTS, 0, -1):
        source, target = (joined(side[:count]) for side in lines)
        pairs = zip(tokenizers, (source, target), strict=True)
        if all(len(tokenizer.pieces(text)) <= most for tokenizer, text in pairs):
            break
    trace = cached_results.trace_of_pair(translator, source, target)
    losses = {}
    for name, edit in POSITIONS.items():
        compute = partial(log_probs, translator.model, trace, edit.hooks())
        log_p = memory.memo_per_trace(trace, ("log_probs", edit), compute)
        losses[name] = mean_losses(log_p, WINDOW)
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
        "second curve has random rows there, as such a table before training. That of the small "
        "model trained here ends at 256, and “Learned” shows that only its first rows, as many as "
        "a caption has subwords, are more than chance." + explanations.sources("§3.5", mean_losses)
    )
    python_code.show_code(f"""
        names = {files}
        lines = [(ASSETS / name).read_text("utf-8").splitlines()[:{count}] for name in names]
        source, target = map(positions.joined, lines)
        trace = translator.trace(source, target=target)
        # Loss over the position
        result = {{}}
        for name, edit in {POSITIONS}.items():
            log_p = log_probs(translator.model, trace, edit.hooks())
            result[name] = positions.mean_losses(log_p, {WINDOW})
    """)
