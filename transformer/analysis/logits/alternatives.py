"""The most probable other pieces at each step of a translation."""

from __future__ import annotations

from transformer.analysis.teacher_forcing import forced_pair
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.trace import AttentionTrace
from transformer.translation.score import Choice, forced_log_probs, most_probable_others


def alternatives(
    model: Transformer, tokenizer: Tokenizer, trace: AttentionTrace, count: int
) -> list[tuple[Choice, ...]]:
    """List for each target position the piece that was written, then the most probable others.

    One teacher-forced pass gives what each step of the search saw; pieces that a search never
    writes, such as `<pad>`, are left out.

    Returns:
        `[target][1 + count]`, the others by falling probability.

    Raises:
        InputError: if the trace does not fit the model.
    """
    forced_pair(model, trace)
    written = [piece.id for piece in trace.target_pieces]
    log_p = forced_log_probs(model, [piece.id for piece in trace.source_pieces], written)
    own = log_p[range(len(written)), written].exp().tolist()
    others = most_probable_others(tokenizer, log_p, written, count)
    return [
        (Choice(piece.text, probability), *choices)
        for piece, probability, choices in zip(trace.target_pieces, own, others, strict=True)
    ]
