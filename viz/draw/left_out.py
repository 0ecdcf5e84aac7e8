"""Share of the weight that a map without sinks leaves out, in words."""

import numpy as np

from transformer.analysis import sinks
from transformer.kinds import Kind
from transformer.trace import AttentionTrace
from viz.draw import caption, heads_view, open_head
from viz.draw.formatting import counted, listing, per_cent
from viz.draw.labels import SCREEN_NAMES, display_tokens, named_head, quoted

MAX_NAMED = 6  # largest number of named tokens; a text may have much punctuation


def left_out(trace: AttentionTrace, kind: Kind, options: heads_view.ExplorerOptions) -> str:
    """Describe which share of its weight a kind, and the open head, give to sinks; name these.

    The trace has its sinks, and is seen through the lens of the options, which name the open map.
    """
    tokens = [quoted(token) for token in display_tokens(sinks.sink_tokens(trace, kind))]
    if not tokens:
        return "Nothing is left out: there is neither a special token nor punctuation."
    if caption.tells_heads(options.lens):
        whole = counted(sum(trace.head_count(kind)), f"{SCREEN_NAMES[kind]} head")
    else:
        whole = f"{counted(len(trace.weights(kind)), 'layer')} of {SCREEN_NAMES[kind]}"
    quantity = "weight" if caption.amount(options.lens) == "weight" else "shares"
    every, *opened = shares_left_out(trace, kind, options)
    place = f", {per_cent(opened[0])} in {_place(kind, options)}" if opened else ""
    more = ["…"] if len(tokens) > MAX_NAMED else []
    return (
        f"Left out: {per_cent(every)} of the {quantity} of the {whole}{place}, on "
        f"{listing([*tokens[:MAX_NAMED], *more])}."
    )


def shares_left_out(
    trace: AttentionTrace, kind: Kind, options: heads_view.ExplorerOptions
) -> tuple[float, ...]:
    """Compute the share on sinks of all heads, and of the open map unless it is their mean."""
    shares = sinks.share_on_sinks(trace, kind)  # [layer, head]
    head = options.head if caption.tells_heads(options.lens) else None
    every = float(np.nanmean(shares))
    if options.layer is None and head is None:
        return (every,)
    return every, float(open_head.mean(shares, options.layer, head, trace.head_count(kind)))


def _place(kind: Kind, options: heads_view.ExplorerOptions) -> str:
    layer, head = options.layer, options.head if caption.tells_heads(options.lens) else None
    if layer is None:
        return f"head {(head or 0) + 1} of all layers"
    return f"layer {layer + 1}" if head is None else named_head(kind, layer, head)
