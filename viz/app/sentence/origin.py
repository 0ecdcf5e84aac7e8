"""What the pictures of this run's sentence were made from."""

from __future__ import annotations

from collections.abc import Sequence

from transformer import AttentionTrace
from viz.app.sentence import sentence_bar
from viz.draw.caption import Origin


def origin_of(trace: AttentionTrace) -> Origin:
    """The origin of a trace that the sentence bar's model made."""
    return Origin.from_translator(sentence_bar.drawn_from().translator, trace.source, trace.target)


def batch_caption(traces: Sequence[AttentionTrace], *what: str) -> list[str]:
    """Sentences to stand under a picture of several sentences at once."""
    origins = [origin_of(trace) for trace in traces]
    return [*(one.pair for one in origins), *what, f"{origins[0].made_by}."]
