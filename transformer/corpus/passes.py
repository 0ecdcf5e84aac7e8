"""Passes of the model over many lines: batches of one length, their losses, and their search.

Each tells its progress after a step of less than a second, where the work can be ended.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import torch

from transformer import config, masks
from transformer.analysis.heads import importance
from transformer.analysis.teacher_forcing import ForcedPair, Progress
from transformer.arrays import Floats, Ints
from transformer.corpus.measured import LinePair
from transformer.decoding.settings import SearchSettings
from transformer.model import Transformer
from transformer.translation.batch import batches
from transformer.translator import Translator

Part: TypeAlias = Literal["translate", "measure", "costs"]
Step: TypeAlias = Callable[[Part, Sequence[int]], None]
"""Takes the part of the work and the pieces of each line that it has done, none within a line; of
`costs`, for one head."""

LOGITS = 2**22  # elements of the logits of one batch: 16 MiB in float32
SEARCHED = 4096  # rows of the beam × pieces of the longest source in one batch of the search
MICROSECONDS: dict[Part, tuple[int, int]] = {
    "translate": (0, 2_200),
    "measure": (57_000, 2_700),
    "costs": (0, 335),
}
"""Time of a line and of each of its pieces in a part, of costs for each head, on one core: measured
with the bundled model on lines of 6 to 52 pieces, so that progress is even in time."""
PIECES = 14  # pieces of a line whose length is not known yet


def seconds(lengths: Sequence[int], passes: Mapping[Part, int]) -> float:
    """Estimate the time of the passes of each part over lines of these lengths, in pieces."""
    lines, pieces = len(lengths), sum(lengths)
    times = {part: lines * line + pieces * piece for part, (line, piece) in MICROSECONDS.items()}
    return sum(times[part] * count for part, count in passes.items()) / 1e6


def steps(progress: Progress, lengths: Sequence[int], passes: Mapping[Part, int]) -> Step:
    """Return a function that counts the passes done; its arguments are those of `seconds`."""
    total, done = seconds(lengths, passes), 0.0

    def step(part: Part, lines: Sequence[int]) -> None:
        nonlocal done
        done = min(done + seconds(lines, {part: 1}), total)
        progress(round(1e3 * done), round(1e3 * total), part)

    return step


def batches_of(model: Transformer, pairs: Sequence[LinePair]) -> Iterator[tuple[Ints, ForcedPair]]:
    """Yield the rows of each batch, of pairs of about one length, with their padded token ids."""
    lengths = [max(len(pair.source_ids), len(pair.target_ids)) for pair in pairs]
    for rows in batches(lengths, max(1, LOGITS // model.config.vocab_size)):
        written = [pairs[row].target_ids for row in rows]
        batch = ForcedPair(
            masks.pad_sequences([pairs[row].source_ids for row in rows]),
            masks.pad_sequences([(config.BOS, *ids[:-1]) for ids in written]),
            masks.pad_sequences(written),
        )
        yield np.array(rows), ForcedPair(*(ids.to(model.device) for ids in batch))


@torch.inference_mode()
def losses_of(model: Transformer, batch: ForcedPair) -> Floats:
    """Compute -log P of each translation of a batch, `[sentence]`, in nats."""
    return importance.sentence_losses(model, *batch).double().cpu().numpy()


def translations(translator: Translator, pairs: Sequence[LinePair], step: Step) -> list[str]:
    """Translate the lines once more, with what is edited in the model now."""
    by_row = dict(best_translations(translator, [pair.source_ids for pair in pairs], step))
    return [translator.target_tokenizer.decode(list(by_row[row])) for row in range(len(pairs))]


def best_translations(
    translator: Translator, sources: Sequence[tuple[int, ...]], step: Step
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Search with the default settings; yield the row of each sentence and its token ids."""
    settings = SearchSettings(n_best=1)

    def count_step() -> bool:
        step("translate", ())  # whose error ends the search
        return False

    for rows in batches([len(ids) for ids in sources], SEARCHED // settings.beam_size):
        batch = [sources[row] for row in rows]
        for row, best in zip(rows, translator.search(batch, settings, count_step), strict=True):
            yield row, best[0].tokens
        step("translate", [len(ids) for ids in batch])
