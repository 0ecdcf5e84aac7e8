"""Python for the numbers of the page Heads."""

import streamlit as st

from viz.app.sentence.python_code import load_call, mean_code, trace_call
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.pages.heads.open_maps import OTHER_MODEL


def code_parts(view: HeadsView, options: ExplorerOptions, second: HeadsView | None) -> list[str]:
    """Return the code of the grid with its ribbons, of the open map and of a second one.

    The options name the ribbons that were drawn.
    """
    kind = view.kind
    parts = [_map_code(view)]
    blocks = f"""
        # All heads, the open map and its ribbons
        selected = {(kind, options.layer, options.head)}
        figure = explore(trace, selected=selected{_explore_arguments(options)})
        # {view.opened.title}
        figure = head_map(weights, *labels, kind={kind!r}, languages=trace.languages)
    """
    if second is None:
        sinks = "" if options.sinks else ", sinks=are_sinks(labels[1], axes.special)"
        numbers = f"""
            # Entropy, largest weight, offset
            result = summarise(weights, causal={view.cropped[kind].axes.is_causal(kind)}{sinks})
        """
        roles = f"# Words under the maps\nresult = head_roles(in_shares(axes), {kind!r})"
        return [*parts, blocks, numbers, "" if options.step is not None else roles]
    parts += [_second_trace(second), _map_code(second, "second_"), blocks]
    parts.append(f"""
        # {second.opened.title}, beside it
        figure = head_map(second_weights, *second_labels, kind={kind!r})
    """)
    if view.opened.labels == second.opened.labels:
        parts.append("# First minus second\nresult = weights - second_weights")
        if view.options.lens != second.options.lens:
            parts.append(f"""
                # Where the two lenses disagree most
                result = head_distances(axes, second_axes, {kind!r})
            """)
    return parts


def _explore_arguments(options: ExplorerOptions) -> str:
    names = ("over", "kinds", "layers", "words", "sort", "lens", "sinks", "rows")
    values = {name: (getattr(options, name), getattr(ExplorerOptions(), name)) for name in names}
    changed = "".join(f", {name}={x!r}" for name, (x, usual) in values.items() if x != usual)
    return changed if options.lens == "weights" else f"{changed}, translator=translator"


def _map_code(view: HeadsView, prefix: str = "") -> str:
    """Return the lines that make `axes`, and `weights` and `labels` of the open map."""
    options, kind, shown = view.options, view.kind, f"{prefix}trace"
    if options.lens != "weights":
        shown = f"lenses.lens_trace({options.lens!r}, {prefix}translator, {shown})"
    if not options.sinks:
        shown = f"without_sinks({shown}, {kind!r})"
    weights = mean_code(f"{prefix}axes.weights", options.layer, options.head)
    labels = f"{prefix}axes.labels"
    if options.step is not None and kind != "encoder_self":
        rows = f":{options.step + 1}"
        columns = rows if kind == "decoder_self" else ":"
        weights += f"[{rows}, {columns}]"
        labels = f"axes.labels.queries[{rows}], axes.labels.keys[{columns}]"
    axes = f"{'by_words' if options.words else 'by_pieces'}({shown}, {kind!r})"
    return f"""
        {prefix}axes = {axes}
        {prefix}weights = {weights}
        {prefix}labels = {labels}
    """


def _second_trace(second: HeadsView) -> str:
    """Return the lines that make the second trace, and load its model."""
    subject, model, trace = st.session_state["with"], "translator", "trace"
    if subject == "another model":
        model = load_call(st.session_state[OTHER_MODEL])
    if subject in ("another model", "another sentence"):
        trace = trace_call(second.trace).replace("translator", "second_translator", 1)
    return f"second_translator = {model}\nsecond_trace = {trace}"
