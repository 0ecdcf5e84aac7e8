"""The attention of a few probe sentences, saved at some steps, for watching heads form."""

from __future__ import annotations

from pathlib import Path

from training.validation import evaluation_mode
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer, with_end
from transformer.trace import AttentionTrace
from transformer.traces.capture import capture

PROBES = (
    ("A man rides a brown horse.", "Ein Mann reitet auf einem braunen Pferd."),
    ("Two dogs are running through the snow.", "Zwei Hunde rennen durch den Schnee."),
    ("I do not know where she lives.", "Ich weiß nicht, wo sie wohnt."),
)


def is_probe_step(step: int) -> bool:
    """Return whether a step is a power of two: heads form in the first steps."""
    return step.bit_count() == 1


def save_probes(folder: Path, step: int, model: Transformer, tokenizer: Tokenizer) -> None:
    """Write `step-N-sentence-K.npz` for each probe; small arrays, not weights.

    A probe of more pieces than the model takes is left out. Each file is there whole or
    not at all: the Training page reads the folder during the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with evaluation_mode(model):
        for number, (source, target) in enumerate(PROBES, start=1):
            pieces = with_end(tokenizer.pieces(source)), with_end(tokenizer.pieces(target))
            if max(map(len, pieces)) > model.config.max_length:
                continue
            probe = AttentionTrace.from_fields(capture(model, source, target, *pieces))
            probe.save(folder / f"step-{step:08d}-sentence-{number}.npz")
