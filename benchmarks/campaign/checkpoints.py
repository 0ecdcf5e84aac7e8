"""Damaged checkpoints: each is refused in one sentence, or gives a model that translates."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.campaign import judged
from benchmarks.campaign.damages import made_damages
from benchmarks.campaign.judged import Judged
from benchmarks.campaign.outcome import Outcome
from benchmarks.campaign.small_model import SENTENCE, save_small_model
from benchmarks.campaign.worker import Worker
from transformer import HeadlightError, Translator

ENTRANCE = "checkpoints"


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Damage copies of two small models, and load each with bounds on time and memory."""
    chosen = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, Worker(_load) as worker:
        whole = [Path(folder) / name for name in ("sinusoidal", "learned")]
        for path in whole:
            save_small_model(path, positions=path.name)
        undamaged = [worker.call(str(path)).value for path in whole]
        damages = made_damages(chosen)
        for number in range(count):
            damage = next(damages)
            copy = Path(shutil.copytree(whole[number % 2], Path(folder) / "copy"))
            damage.do(copy)
            reply = worker.call(str(copy / damage.at))
            found = judged.of(reply)
            if found[0] == "accepted" and (
                damage.accepted == "no"
                or (damage.accepted == "same" and found != undamaged[number % 2])
            ):
                found = "bad", f"accepted, and it translates as {found[1]!a:.80}"
            yield judged.outcome(ENTRANCE, damage.name, reply, found)
            shutil.rmtree(copy)


def _load(folder: str) -> Judged:
    """The translation of a loaded model, or the sentence with which it is refused."""
    try:
        translator = Translator.load(folder)
        translation = translator.translate(SENTENCE, beam_size=2)
        translator.trace_of(translation)
    except HeadlightError as error:
        return judged.refused(str(error))
    return "accepted", translation.text
