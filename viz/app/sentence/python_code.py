"""Python that computes the numbers of a view again, in blocks to copy.

A block is text, built from the choices on the screen. User input stands in it as its `repr`, on one
line, so that it ends no string and begins no line.
"""

import ast
import re
from inspect import cleandoc
from typing import Any

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.heads.head import Head
from transformer.config import EOS
from transformer.decoding.settings import SearchSettings
from transformer.files.installed import BUNDLED_BY_NAME
from viz.app.chrome import explanations
from viz.app.sentence import sentence_bar

TITLE = "Python for these numbers"

_MODULES = {
    "dataclasses": "replace",
    "headlight": "KINDS AttentionTrace Translator align_both explore lenses",
    "pathlib": "Path",
    "transformer.analysis": "attention_mass source_share",
    "transformer.analysis.alignment": "aligned_shares strongest",
    "transformer.analysis.alignment_settings": "read_alignment",
    "transformer.analysis.axes": "by_pieces by_words first_pieces",
    "transformer.circuits.edges": "Circuit patch_strongest strongest_edges",
    "transformer.circuits.key_norms": "key_norms",
    "transformer.corpus": "head_report result_file",
    "transformer.corpus.measuring": "trace_of",
    "transformer.corpus.similar_heads": "nearest_by_attention nearest_by_measures",
    "transformer.analysis.heads.effect": "effect",
    "transformer.analysis.heads.head": "Head",
    "transformer.analysis.heads.measures": "head_distances in_shares measure summarise "
    "total_variation",
    "transformer.analysis.heads.removal_text": "parse_removals",
    "transformer.analysis.heads.roles": "head_roles role_scores",
    "transformer.analysis.lenses.alti": "whole_model",
    "transformer.analysis.logits.contrast": "contrast erase",
    "transformer.analysis.logits.decoder_lens": "decoder_lens",
    "transformer.analysis.logits.direct_logits": "direct_logits",
    "transformer.analysis.logits.logit_lens": "layer_predictions",
    "transformer.analysis.sinks": "are_sinks without_sinks",
    "transformer.kinds": "attention_name",
    "viz.draw.palette": "COLOR",
    "viz.figures.heads": "head_map",
}
"""Names that blocks use, by the module that has them."""


def show_code(*parts: str) -> None:
    """Draw a closed expander with one block of code for each table and plot of a view.

    A comment in a part is the title of a block, whose lines end in `result` or `figure`. All blocks
    share the assignments above the first comment, and `translator` and `trace` of the bar.
    """
    code = "\n".join(map(cleandoc, parts))
    code = f"{_bar_code(traced='trace' in code)}\n{code}"
    shared, *blocks = re.split(r"^# ", code, flags=re.MULTILINE)
    if not blocks:  # nothing is drawn yet
        return
    with st.expander(TITLE):
        for block in blocks:
            title, _, body = block.partition("\n")
            with st.container(gap="xsmall"):
                st.text(title)
                st.code(code_block(shared, body.strip()), language="python", wrap_lines=True)
        _show_named_lines()


def show_program(source: str) -> None:
    """Draw a closed expander with the code of all numbers of a view."""
    with st.expander(TITLE):
        st.code(source, language="python", wrap_lines=True)
        _show_named_lines()


def _show_named_lines() -> None:
    if lines := explanations.named_lines():
        listed = (f"`{line}` {name}" for name, line in lines.items())
        st.caption(f"Where to read on: {' · '.join(listed)}")


def code_block(shared: str, body: str) -> str:
    """Put the imports and the shared assignments that some lines need before them."""
    lines, needed = shared.split("\n"), [body]
    names = undefined = _names(ast.parse(body))
    for statement in reversed(ast.parse(shared).body):
        if isinstance(statement, ast.Assign) and undefined & _names(*statement.targets):
            needed.insert(0, "\n".join(lines[statement.lineno - 1 : statement.end_lineno]))
            undefined = undefined - _names(*statement.targets) | _names(statement.value)
            names = names | undefined
    imports = ["import numpy as np"] if "np" in names else []
    imports += ["import torch"] if "torch" in names else []
    for module, provided in _MODULES.items():
        if imported := [name for name in provided.split() if name in names]:
            imports.append(f"from {module} import {', '.join(imported)}")
    return "\n".join([*imports, "", *needed])


def _names(*trees: ast.AST) -> set[str]:
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _bar_code(*, traced: bool) -> str:
    """Return the lines that load the model of the bar and trace the sentence there, if any."""
    if (bar := sentence_bar.current()) is None:
        return ""
    load = f"translator = {load_call(bar.requested.model)}"
    if not traced:
        return load
    trace = bar.trace
    return f"{load}\ntrace = {trace_call(trace, bar.translator)}"


def head_code(head: Head) -> str:
    """Return the expression of a head."""
    return f"Head{tuple(head)}"


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


def search_arguments(settings: SearchSettings) -> dict[str, Any]:
    """Return the unusual arguments of a search."""
    names = ("beam_size", "alpha", "prefix", "forbidden")
    values = ((name, getattr(settings, name), getattr(SearchSettings(), name)) for name in names)
    return {name: x for name, x, usual in values if x not in ((), usual)}


def search_code(settings: SearchSettings | None = None) -> str:
    """Return the unusual arguments of a search, that of the bar unless given, after a comma."""
    given = search_arguments(settings or sentence_bar.settings())
    return "".join(f", {name}={x!r}" for name, x in given.items())


def mean_code(weights: str, layer: int | None, head: int | None) -> str:
    """Return the expression for one head of `[layer, head, …]`; None is the mean."""
    heads = f"{weights}.mean(0)" if layer is None else f"{weights}[{layer}]"
    return f"{heads}.mean(0)" if head is None else f"{heads}[{head}]"
