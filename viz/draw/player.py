"""Attention step by step of a search or of a training run: data for `viz/browser/player`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from transformer.analysis.heads.head import Head
from transformer.errors import InputError
from transformer.kinds import Kind
from transformer.trace import AttentionTrace
from viz.draw import head_grid
from viz.draw.changed_words import word_changes
from viz.draw.trace_message import drawn_weights, side, trace_fields
from viz.draw.wire import encode, encode_value, is_index
from viz.draw.word_links import word_texts

if TYPE_CHECKING:
    from transformer.paper.arithmetic import Arithmetic
    from transformer.text.tokenizer import Piece


class Linked(NamedTuple):
    """Origin of the links between words, as the player names it."""

    head: tuple[int, int] | None  # layer and head of the cross-attention; None for both directions
    about: str  # a sentence that names it, with its error


@dataclass(frozen=True)
class TrainingStep:
    """One saved step of a training run, from 1."""

    number: int
    trace: AttentionTrace
    written: str | None  # the model's own translation at this step, if the run saved it
    loss: str = ""


def encode_player(
    trace: str | Mapping[str, Any],
    about: Mapping[str, Any],
    *,
    kind: Kind = "cross",
    selected: Mapping[Kind, Head],
    links: Sequence[Mapping[str, Any]] = (),
    linked: Linked | None = None,
    breaks: bool = False,
    arrival: int = 0,
    training: Sequence[TrainingStep] = (),
    moment: int | None = None,
) -> bytes:
    """Encode the choices of a player of a trace, or of its name; see `viz.draw.trace_message`.

    `selected` is the head of each kind that is open first. The links, between words, are made by
    `linked`, or by the alignment of `about`. `breaks` says that the host can remove heads. The
    player reads the address anew where `arrival` changes, as a link or Back asks. Of a run, the
    trace has the weights of all saved steps, and `moment` is the index of the one that is open
    first.
    """
    return encode({
        "component": "player",
        "trace": trace,
        "about": about,
        "kind": kind,
        "selected": {name: head[1:] for name, head in selected.items()},
        "links": list(links),
        "linked": linked and linked._asdict(),
        "breaks": breaks,
        "arrival": arrival,
        "training": [
            {"number": saved.number, "written": saved.written, "loss": saved.loss}
            for saved in training
        ],
        "moment": moment,
    })  # fmt: skip


def encode_learning(
    steps: Sequence[TrainingStep],
    about: Mapping[str, Any],
    *,
    selected: Mapping[Kind, Head],
    kind: Kind = "cross",
    step: int | None = None,
    arrival: int = 0,
) -> bytes:
    """Encode every head's weights on one sentence at every saved step of a training run.

    `step` is the number of the step that is open first; None plays all once. The player restarts
    where `arrival` changes, as a link asks.
    """
    if not steps:
        raise InputError("The run has saved no attention of this sentence: there is no step.")
    traces = [step.trace for step in steps]
    fields = trace_fields(traces[0])
    for part in fields["kinds"]:
        weights = [trace.weights(part["kind"]) for trace in traces]
        if len({array.shape for array in weights}) > 1:
            raise InputError("The steps of the run belong to models of different shapes.")
        part |= drawn_weights(np.stack(weights))
    moment = None if step is None else [saved.number for saved in steps].index(step)
    choices: dict[str, Any] = {"kind": kind, "selected": selected, "arrival": arrival}
    return encode_player(fields, about, training=steps, moment=moment, **choices)


def learning_choice(sent: object, steps: Sequence[TrainingStep]) -> tuple[Head, int | None] | None:
    """Read a head and the number of a step, None for the last, from what the browser sends."""
    shapes = {kind: steps[0].trace.weights(kind).shape for kind in steps[0].trace.kinds}
    if not isinstance(sent, dict):
        return None
    head = head_grid.head_of([sent.get(name) for name in ("kind", "layer", "head")], shapes)
    moment = sent.get("moment")
    if head is None or not is_index(moment, len(steps)):
        return None
    return head, None if moment == len(steps) - 1 else steps[moment].number


def head_of(sent: object, trace: AttentionTrace) -> dict[str, Any] | None:
    """Check what the browser sends: a head with a row and a column of its map; else None."""
    if not isinstance(sent, dict) or sent.get("kind") not in [*trace.kinds]:
        return None
    shape = trace.weights(sent["kind"]).shape
    names = ("layer", "head", "query", "key")
    if not all(is_index(sent.get(name), size) for name, size in zip(names, shape, strict=True)):
        return None
    return {name: sent[name] for name in ("kind", *names)}


NUMBERS, BROKEN = "player-numbers", "player-broken"
"""Names of values that the player reads: the numbers of one row, and the heads that are removed."""


def encode_numbers(
    place: Mapping[str, Any], row: "Arithmetic", reader: str, keys: Sequence[str]
) -> bytes:
    """Encode how a head computes one row: q·k, the scores and the softmax of what it may see."""
    seen = np.flatnonzero(row.seen[: len(keys)]).tolist()
    numbers = {
        **place,
        "key": seen.index(place["key"]),
        "d_k": len(row.q),
        "reader": reader,
        "keys": [keys[n] for n in seen],
        "dots": row.dots[seen].tolist(),
        "scores": row.scaled[seen].tolist(),
        "weights": row.weights[seen].tolist(),
    }
    return encode_value(NUMBERS, numbers)


class ControlDraws(NamedTuple):
    """Log P of a translation without as many random heads, over several draws."""

    log_p: Sequence[float]
    same: bool  # whether the text of the first draw stays the same


@dataclass(frozen=True)
class RemovedHead:
    """One more head that is removed, and what the model writes then."""

    head: Head
    log_p: float  # of the original translation
    pieces: "Sequence[Piece]"  # of the new one
    text: str
    maps: Sequence[Mapping[str, Any]]  # where every head then looks; see `maps_of`
    control: ControlDraws | None = None


def encode_broken(
    trace: AttentionTrace,
    places: Sequence[RemovedHead],
    *,
    total: int,
    drawn: int = 0,
    note: str = "",
) -> bytes:
    """Encode the heads that are removed so far, of `total`; `note` says what is being done.

    The maps of the first `drawn` places are left out: the player has them, or shows none of them.
    """
    value = {
        "target": side(trace.target, trace.target_pieces),
        "total": total,
        "log_p": float(trace.log_probs.sum()),
        "places": [
            {
                "head": place.head._asdict(),
                "log_p": place.log_p,
                "target": side(place.text, place.pieces),
                "maps": place.maps if number >= drawn else None,
                "control": place.control and place.control._asdict(),
            }
            for number, place in enumerate(places)
        ],
        "note": note,
    }
    return encode_value(BROKEN, value)


PLAIN = 0.2
"""Share of the words from which a change is seen at once: newcomers overlook a single word."""


def changes_plainly(before: "Sequence[Piece]", after: "Sequence[Piece]") -> bool:
    """Return whether a reader sees at once that a translation is another one, punctuation aside."""
    old, new = (
        [word for word in word_texts(pieces) if any(map(str.isalnum, word))]
        for pieces in (before, after)
    )
    changes = Counter(change for change, _ in word_changes(old, new))
    return max(changes["lost"], changes["new"]) >= max(1, PLAIN * len(old))


def maps_of(trace: AttentionTrace) -> list[dict[str, Any]]:
    """Return every head's weights, `[layer, head, query, key]`, as the player draws them."""
    return [{"kind": kind, **drawn_weights(trace.weights(kind))} for kind in trace.kinds]
