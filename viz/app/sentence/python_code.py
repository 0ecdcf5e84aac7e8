"""Python that computes the numbers of a view again, in blocks to copy.

A block is text, built from the choices on the screen. User input stands in it as its `repr`, on one
line, so that it ends no string and begins no line.
"""

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.config import EOS
from transformer.files.installed import BUNDLED_BY_NAME
from viz.app.chrome import explanations

TITLE = "Python for these numbers"


def show_program(source: str) -> None:
    """Draw a closed expander with the code of all numbers of a view."""
    with st.expander(TITLE):
        st.code(source, language="python", wrap_lines=True)
        if lines := explanations.named_lines():
            listed = (f"`{line}` {name}" for name, line in lines.items())
            st.caption(f"Where to read on: {' · '.join(listed)}")


def load_call(model: str) -> str:
    """Return the call that loads a model, named as in the menu of models."""
    is_default = model == next(iter(BUNDLED_BY_NAME))
    return f"Translator.load({'' if is_default else repr(model)})"


def trace_call(trace: AttentionTrace, translator: Translator | None = None) -> str:
    """Return the call that traces a sentence and its translation."""
    return f"translator.trace({trace.source!r}, target={trace_target(trace, translator)!r})"


def trace_target(trace: AttentionTrace, translator: Translator | None) -> str | list[str]:
    """Return the translation of a trace, as text if it has its pieces."""
    if translator and trace.target:
        read = translator.target_tokenizer.pieces(" ".join(trace.target.split()))
        if [*(piece.id for piece in read), EOS] == [piece.id for piece in trace.target_pieces]:
            return trace.target
    return [piece.text for piece in trace.target_pieces]
