"""The message of one sentence, from which `viz/browser` makes its pictures, and what stands beside.

`viz/browser/core/trace.ts` describes both. The engine in the page writes the same.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from transformer.analysis.alignment import WordPair
from transformer.analysis.alignment_settings import AlignmentSettings
from transformer.corpus.head_report import HeadReport
from transformer.decoding import SearchTree
from transformer.kinds import KINDS, Kind
from transformer.text.languages import Languages, Side, code_of_name
from transformer.text.tokenizer import Piece, Tokenizer
from transformer.trace import AttentionTrace
from viz.draw import wire
from viz.draw.caption import LENS_NAMES
from viz.draw.labels import role_name


@dataclass(frozen=True)
class SearchStep:
    """One step of a search, with its most probable next pieces."""

    options: tuple[tuple[str, float], ...]
    taken: int  # index of the piece in the translation


WINDOW = 48  # subwords of each side that the player draws; of a longer sentence they are its first

WHOLE_BYTES = 2**21  # of float32 weights, up to which a page carries all of them at once

LARGEST = 65_535  # a weight of 1 in 16 bits


def is_whole(trace: AttentionTrace) -> bool:
    """Return whether a page carries all weights of a trace at once."""
    return sum(trace.weights(kind).nbytes for kind in trace.kinds) <= WHOLE_BYTES


def trace_fields(
    trace: AttentionTrace,
    steps: Sequence[SearchStep] = (),
    *,
    whole: bool = True,
    beginnings: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return what a message says of a sentence.

    There is one step for each piece of the translation. The weights are `whole` in float32, or
    those that a player draws. The beginnings are those of `kept_beginnings`.
    """
    return {
        "source": side(trace.source, trace.source_pieces),
        "target": side(trace.target, trace.target_pieces),
        "kinds": [
            {
                "kind": kind,
                "layers": len(trace.weights(kind)),
                "heads": trace.weights(kind).shape[1],
                "causal": kind == "decoder_self" and trace.causal,
                **(
                    {"weights": trace.weights(kind)}
                    if whole
                    else drawn_weights(trace.weights(kind))
                ),
            }
            for kind in trace.kinds
        ],
        "logProbs": trace.log_probs.astype(np.float32, copy=False),
        "options": [
            {"pieces": [piece for piece, _ in step.options], "taken": step.taken} for step in steps
        ],
        # of all steps in a row
        "p": np.array([p for step in steps for _, p in step.options], np.float32),
        "beginnings": beginnings or [[] for _ in trace.target_pieces],
        "edited": {"removed": [], "rows": [], "prefix": 0},
    }


def drawn_weights(weights: npt.NDArray[np.float32]) -> dict[str, Any]:
    """Return what a player draws of weights, `[..., query, key]`, in 16 bits."""
    drawn = weights[..., :WINDOW, :WINDOW]
    levels = np.rint(np.clip(drawn, 0, 1) * LARGEST).astype(np.uint16)
    return {"weights": levels, "size": drawn.shape[-2:]}


def encode_for_players(trace: AttentionTrace, steps: Sequence[SearchStep]) -> tuple[str, bytes]:
    """Encode what players draw of a trace; return it after the checksum that names it."""
    fields = trace_fields(trace, steps, whole=False)
    key = hashlib.sha256(wire.encode(fields)).hexdigest()
    return key, wire.encode({"component": "trace", "key": key, "trace": fields})


def side(text: str, pieces: Sequence[Piece]) -> dict[str, Any]:
    """Return a sentence with its pieces and the number of the word of each."""
    return {
        "text": text,
        "pieces": [piece.text for piece in pieces],
        "words": [piece.word for piece in pieces],
    }


def word_links(every: Sequence[WordPair], mutual: Sequence[WordPair]) -> list[dict[str, Any]]:
    """Return links between words, of which those that are not mutual are dashed."""
    return [{**pair._asdict(), "mutual": pair in mutual} for pair in every]


def kept_beginnings(tree: SearchTree, tokenizer: Tokenizer) -> list[list[str]]:
    """Return the beginnings that a search kept or finished at each step of its translation."""
    steps: list[list[str]] = [[] for _ in tree.path(tree.best)]
    for number, node in enumerate(tree.nodes):
        if node.state != "dropped" and node.step <= len(steps):
            steps[node.step - 1].append(tokenizer.decode(tree.prefix(number)))
    return steps


def about(
    languages: Languages,
    made_by: str,
    alignment: AlignmentSettings | None = None,
    roles: HeadReport | None = None,
) -> dict[str, Any]:
    """Return what stands beside every sentence of one model."""
    names = [languages.name(side) for side in get_args(Side)]
    return {
        "languages": [{"code": code_of_name(name), "name": name} for name in names],
        "madeBy": made_by,
        "alignment": alignment
        and {
            "layer": alignment.layer,
            "head": alignment.head,
            "row": alignment.row,
            "lens": LENS_NAMES[alignment.lens],
            "error": alignment.gold and alignment.gold.aer / 100,
        },
        "roles": {} if roles is None else {kind: _roles(roles, kind) for kind in KINDS},
    }


def _roles(report: HeadReport, kind: Kind) -> list[list[str]]:
    """Name the roles of a kind's heads on the corpus, `[layer][head]`."""
    layers: dict[int, list[str]] = {}
    for figures in report.heads:
        if figures.place.kind == kind:
            layers.setdefault(figures.place.layer, []).append(role_name(figures.role, kind))
    return list(layers.values())
