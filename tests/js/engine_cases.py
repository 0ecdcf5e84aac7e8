"""Cases for the engine in the page: what Python computes, and how far node is from it."""

import json
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from transformer import Translator
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.heads.removal_order import RemovalOrder, with_next_place
from transformer.errors import CheckpointError
from transformer.text.tokenizer import Piece, Tokenizer
from viz.draw import watched, wire

SCRIPT = Path(__file__).with_name("engine_reference.ts")
SOURCE_TOKENIZER = "source.model"  # beside `tokenizer.model`, which is then of the target


@dataclass(frozen=True)
class Case:
    """A request to the engine: a sentence, and what is changed in the model."""

    text: str
    removed: tuple[Head, ...] = ()
    rows: tuple[tuple[Head, int, tuple[float, ...]], ...] = ()  # a head, a row, its weights
    prefix: tuple[str, ...] = ()


def edited_cases(translator: Translator, text: str, seed: int) -> list[Case]:
    """Return cases of one sentence with heads removed, rows painted and a prefix forced."""
    draw, heads = random.Random(seed), all_heads(translator.model.config)
    trace = translator.trace(text)
    rows = []
    for place in draw.sample(heads, 3):
        queries, keys = trace.weights(place.kind).shape[2:]
        row = draw.randrange(queries)
        last = row + 1 if place.kind == "decoder_self" else keys
        even, key = draw.random() < 0.5, draw.randrange(last)
        rows.append((place, row, tuple(1 / last if even else n == key for n in range(last))))
    pieces = [piece.text for piece in trace.target_pieces]
    scored = translator.score(text, pieces, alternatives=8)
    step = draw.randrange(len(pieces) - 1)
    other = [c.piece for c in scored.alternatives[step] if c.piece != "</s>"][-1]
    prefix = (*pieces[:step], other)
    removals = tuple(draw.sample(heads, draw.randint(1, min(9, len(heads)))))
    # after the prefix the translation may end, and has no further rows
    left = [row for row in rows if row[0].kind == "encoder_self" or row[1] <= len(prefix)]
    return [
        Case(text, removals),
        Case(text, rows=tuple(rows)),
        Case(text, prefix=prefix),
        Case(text, removals, tuple(row for row in left if row[0] not in removals), prefix),
    ]


def reference(translator: Translator, case: Case, *, weights: bool = True) -> dict[str, Any]:
    """Run a case in Python, as a message in which `Trace` of `core/trace.ts` can be compared."""
    removals = [Removal(*place) for place in case.removed]
    maps: dict[Head, np.ndarray] = {}
    if case.rows:
        whole = translator.trace(case.text, prefix=case.prefix)
        maps = {place: whole.weights(place.kind)[place[1:]].copy() for place, *_ in case.rows}
        for place, row, values in case.rows:
            maps[place][row] = 0
            maps[place][row, : len(values)] = values
    with removed(translator, removals, maps=maps):
        translation = translator.translate(case.text, prefix=case.prefix, tree=True)
        trace = translator.trace_of(translation)
        pieces = [piece.text for piece in translation.best.pieces]
        steps = watched.search_steps(translator.score(case.text, pieces, alternatives=5))
    assert translation.tree is not None
    beginnings: list[list[str]] = [[] for _ in pieces]
    for index, node in enumerate(translation.tree.nodes):
        if node.state != "dropped" and node.step <= len(pieces):
            tokens = translation.tree.prefix(index)
            beginnings[node.step - 1].append(translator.target_tokenizer.decode(tokens))
    return {
        "request": {
            "text": case.text,
            "removed": case.removed,
            "rows": [
                {"place": place, "row": row, "weights": values} for place, row, values in case.rows
            ],
            "prefix": case.prefix,
        },
        "source": _side(case.text, trace.source_pieces),
        "target": _side(translation.text, translation.best.pieces),
        "score": translation.best.hypothesis.score,
        "logProbs": np.array(translation.best.hypothesis.log_probs),
        "options": [
            {
                "pieces": [text for text, _ in step.options],
                "p": [p for _, p in step.options],
                "taken": step.taken,
            }
            for step in steps
        ],
        "beginnings": beginnings,
        "weights": {kind: trace.weights(kind) for kind in trace.kinds} if weights else None,
    }


def order_reference(translator: Translator, text: str, length: int) -> dict[str, Any]:
    """Find the first heads that a sentence needs."""
    trace = translator.trace(text)
    order = RemovalOrder()
    for _ in range(length):
        order = with_next_place(translator.model, trace, order)
    heads = [Removal(*head) for head in order.removed]
    return {
        "text": text,
        "heads": order.removed,
        "logProbs": np.array(order.log_p) - float(trace.log_probs.sum()),
        "last": effect(translator, trace, heads).translation.text,
    }


def lines_reference(tokenizer: Tokenizer, lines: Iterable[str]) -> list[dict[str, Any]]:
    """Cut lines into pieces as the reader does, in which a line break is a space."""
    return [_side(line, tokenizer.pieces(" ".join(line.split()))) for line in lines]


def _side(text: str, pieces: Sequence[Piece]) -> dict[str, Any]:
    return {
        "text": text,
        "ids": [piece.id for piece in pieces],
        "pieces": [piece.text for piece in pieces],
        "words": [piece.word for piece in pieces],
    }


def compare(folder: Path, message: dict[str, Any]) -> dict[str, Any]:
    """Run the engine under node on the same, and return what differs and by how much."""
    node = shutil.which("node")
    if node is None:
        raise CheckpointError("There is no node on this machine: install it to run the engine.")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "reference"
        path.write_bytes(wire.encode({"folder": str(folder), **message}))
        hook = (SCRIPT.parent / "typescript.mjs").as_uri()
        command = [node, "--import", hook, str(SCRIPT), str(path)]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise CheckpointError(f"The engine failed under node: {result.stderr}")
    compared: dict[str, Any] = json.loads(result.stdout)
    return compared
