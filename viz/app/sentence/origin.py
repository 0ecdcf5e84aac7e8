"""Origin of the pictures of this run's sentence."""

from __future__ import annotations

from collections.abc import Sequence

from transformer import AttentionTrace
from viz.app.sentence import sentence_bar
from viz.draw.caption import Origin


def origin_of(trace: AttentionTrace) -> Origin:
    """Return the origin of a trace that the sentence bar's model made."""
    return Origin.from_translator(sentence_bar.drawn_from().translator, trace.source, trace.target)


def batch_caption(traces: Sequence[AttentionTrace], *part: str) -> list[str]:
    """Sentences to stand under a picture of several sentences at once."""
    origins = [origin_of(trace) for trace in traces]
    return [*(origin.pair for origin in origins), *part, f"{origins[0].made_by}."]
